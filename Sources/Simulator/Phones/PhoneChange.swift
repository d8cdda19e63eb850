/// What happened to a phone, for a page that is open.
package enum PhoneChange: Sendable, Hashable {
  /// A new phone.
  case added(SimulatedPhone)
  /// It is gone, with what it received.
  case removed(Int64)
  /// App, power, token or names are different now.
  case changed(SimulatedPhone)
  /// A push came.
  case received(phone: Int64, ReceivedNotification)
  /// A push waits until the phone is switched on.
  case waits(phone: Int64, ReceivedNotification)
  /// A notification is different now: it was tapped, or came once more.
  case updated(phone: Int64, ReceivedNotification)
  /// What it had received was forgotten.
  case cleared(Int64)

  /// The phone.
  package var phoneID: Int64 {
    switch self {
    case .added(let phone), .changed(let phone): phone.id
    case .removed(let id), .cleared(let id): id
    case .received(let id, _), .waits(let id, _), .updated(let id, _): id
    }
  }
}

/// Why a phone cannot do what was asked.
package enum PhoneBookError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No phone has this id.
  case noSuchPhone(Int64)
  /// The phone has not, or no longer, received this.
  case noSuchNotification(Int64)
  /// A token belongs to one phone only.
  case tokenTaken(phone: String)
  /// An app that was removed cannot run.
  case appNotInstalled(phone: String)
  /// On a phone that is switched off nothing runs.
  case phoneIsOff(phone: String)

  /// What happened, and what to do.
  package var description: String {
    switch self {
    case .noSuchPhone(let id): "Phone \(id) not found. It may have been deleted."
    case .noSuchNotification(let id): "The phone has no notification \(id). Newer ones may have displaced it."
    case .tokenTaken(let phone): "The phone “\(phone)” already has this token. Leave the token out to get a new one."
    case .appNotInstalled(let phone): "The app is not installed on the phone “\(phone)”. Install it first."
    case .phoneIsOff(let phone): "The phone “\(phone)” is switched off. Switch it on first."
    }
  }
}
