package import Model

/// A change of a phone, for an open page.
package enum PhoneChange: Sendable, Hashable {
  case added(SimulatedPhone)
  case removed(Int64)
  /// App, power, notifications, token or names changed.
  case changed(SimulatedPhone)
  /// A push arrived.
  case received(phone: Int64, ReceivedNotification)
  /// A push waits until the phone is switched on.
  case waits(phone: Int64, ReceivedNotification)
  /// A notification was tapped, or arrived again.
  case updated(phone: Int64, ReceivedNotification)
  /// Its notifications were deleted.
  case cleared(Int64)

  package var phoneID: Int64 {
    switch self {
    case .added(let phone), .changed(let phone): phone.id
    case .removed(let id), .cleared(let id): id
    case .received(let id, _), .waits(let id, _), .updated(let id, _): id
    }
  }
}

package enum PhoneBookError: Error, Sendable, Hashable, CustomStringConvertible {
  case noSuchPhone(Int64)
  /// The phone has not received it, or no longer has it.
  case noSuchNotification(Int64)
  /// A token belongs to one phone only.
  case tokenTaken(phone: String)
  /// A removed app cannot run.
  case appNotInstalled(phone: String)
  /// Nothing runs on a phone that is off.
  case phoneIsOff(phone: String)
  /// iPhones have neither doze nor channels, and Apple does not replace tokens.
  case notAndroid(phone: String)

  package var problem: Problem {
    switch self {
    case .noSuchPhone(let id):
      Problem("", code: "phone.missing", "Phone {id} not found. It may have been deleted.", ["id": "\(id)"])
    case .noSuchNotification(let id):
      Problem(
        "", code: "phone.no_notification", "The phone has no notification {id}. Newer ones may have displaced it.",
        ["id": "\(id)"])
    case .tokenTaken(let phone):
      Problem(
        "", code: "phone.token_taken",
        "The phone “{name}” already has this token. Leave the token out to get a new one.", ["name": phone])
    case .appNotInstalled(let phone):
      Problem(
        "", code: "phone.no_app", "The app is not installed on the phone “{name}”. Install it first.", ["name": phone])
    case .notAndroid(let phone):
      Problem("", code: "phone.not_android", "The phone “{name}” is not an Android phone.", ["name": phone])
    case .phoneIsOff(let phone):
      Problem("", code: "phone.off", "The phone “{name}” is switched off. Switch it on first.", ["name": phone])
    }
  }

  package var description: String { problem.text }
}
