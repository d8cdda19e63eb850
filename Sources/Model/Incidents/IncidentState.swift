package import Foundation

/// The life of an incident. Stored as text.
package enum IncidentState: String, Sendable, CaseIterable {
  case open
  /// Out of the way until a time; then open again.
  case snoozed
  /// By a person, or by itself because the cause is gone.
  case closed
}

/// What happens to an incident.
package enum IncidentEvent: Sendable, Hashable {
  /// The cause made a device miss a push, or holds up a push.
  case seen
  /// The cause is gone, see ``IncidentKind``.
  case healed
  case snooze(until: Date)
  case close
  case reopen
}

extension IncidentState {
  /// The state after an event, and the action for the activity log; nil if nothing changes.
  package func after(_ event: IncidentEvent) -> (state: IncidentState, action: String)? {
    switch (self, event) {
    case (.closed, .seen): (.open, "incident.return")
    case (.open, .healed), (.snoozed, .healed): (.closed, "incident.heal")
    case (.open, .snooze), (.snoozed, .snooze): (.snoozed, "incident.snooze")
    case (.open, .close), (.snoozed, .close): (.closed, "incident.close")
    case (.snoozed, .reopen), (.closed, .reopen): (.open, "incident.reopen")
    case (.open, .seen), (.snoozed, .seen), (.closed, .healed), (.closed, .snooze), (.closed, .close),
      (.open, .reopen):
      nil
    }
  }
}

package enum IncidentMessage: String, MessageSet {
  case remark = "incident.remark"
  case until = "incident.until"
  case closed = "incident.closed"
  case nobody = "incident.nobody"

  package var english: String {
    switch self {
    case .remark: "Enter why you are closing it."
    case .until: "Choose a time in the future, at most {days} days from now."
    case .closed: "A closed incident cannot be snoozed. Reopen it first."
    case .nobody: "There is no person “{name}” who can sign in."
    }
  }
}
