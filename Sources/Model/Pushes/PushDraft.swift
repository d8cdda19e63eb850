package import Calendar
package import Foundation
package import JSON

/// A push as somebody asks for it: what the send form and `POST /api/v1/pushes` are read into.
package struct PushDraft: Sendable, Hashable {
  /// Bundle id of the app.
  package var app: String
  /// Never preselected: the sender says it.
  package var environment: Environment
  /// At least one.
  package var platforms: Set<Platform>
  /// Whom for.
  package var audience: Audience
  /// What it says.
  package var notification: Notification
  /// Overrides for iOS.
  package var apns = APNsOverrides()
  /// How to send.
  package var options = Options()
  /// Nil: at once. Of what repeats: nothing happens before.
  package var sendAt: Date?
  /// By whose clocks ``sendAt`` was given, for those who read it; it moves nothing. Nil: nobody said.
  package var timeZone: NamedZone?
  /// Nil: once.
  package var recurrence: RepeatRule?

  /// Raw headers and payload that replace what would be made from the notification.
  package struct APNsOverrides: Sendable, Hashable {
    /// As `apns-priority`; names in lower case.
    package var headers: [String: String] = [:]
    /// The whole payload; nil: made from the notification.
    package var payload: JSONValue?

    /// No overrides.
    package init() {}
  }

  /// How a push is sent.
  package struct Options: Sendable, Hashable {
    /// Seconds for which a provider keeps it for a device that is off; 0: one attempt. Nil: the provider's default.
    package var timeToLive: Int?
    /// Nil: high, or normal for a background push.
    package var priority: Priority?
    /// At most 64 bytes.
    package var collapseID: String?
    /// Nil: `alert`, or `background` if there is nothing to show.
    package var pushType: PushType?
    /// At most so many devices a second; nil: as fast as it goes.
    package var rate: Int?
    /// Spreads it evenly over so many minutes; not together with ``rate``.
    package var spreadMinutes: Int?
    /// Seconds for which it is held back, so that it can be taken back whole.
    package var undoSeconds = 0
    /// Never sends again what was sent and not answered: its outcome stays unknown. Off: it is sent again under the same
    /// id, at the risk that it arrives twice.
    package var atMostOnce = false
    /// Accepts an audience that has no active device now; otherwise such a push is refused.
    package var allowEmptyAudience = false
    /// Resolves the audience and checks the payload, sends nothing.
    package var dryRun = false

    /// Defaults.
    package init() {}
  }

  /// How urgent; APNs 10, 5 and 1.
  package enum Priority: String, Sendable, Codable, CaseIterable {
    /// At once (10).
    case high
    /// When it suits the device's battery (5).
    case normal
    /// Never wakes the device (1).
    case low
  }
  package init(
    app: String, environment: Environment, platforms: Set<Platform>, audience: Audience, notification: Notification
  ) {
    self.app = app
    self.environment = environment
    self.platforms = platforms
    self.audience = audience
    self.notification = notification
  }
}

/// `apns-push-type` (Apple, Sending notification requests to APNs).
package enum PushType: String, Sendable, Codable, CaseIterable {
  case alert, background, voip, complication, fileprovider, mdm, location, liveactivity, pushtotalk, controls, widgets
}
