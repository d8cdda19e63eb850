/// A change of a phone, for an open page.
package enum PhoneChange: Sendable, Hashable {
  case added(SimulatedPhone)
  case removed(Int64)
  /// App, power, token or names changed.
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

  package var description: String {
    switch self {
    case .noSuchPhone(let id): "Phone \(id) not found. It may have been deleted."
    case .noSuchNotification(let id): "The phone has no notification \(id). Newer ones may have displaced it."
    case .tokenTaken(let phone): "The phone “\(phone)” already has this token. Leave the token out to get a new one."
    case .appNotInstalled(let phone): "The app is not installed on the phone “\(phone)”. Install it first."
    case .notAndroid(let phone): "The phone “\(phone)” is not an Android phone."
    case .phoneIsOff(let phone): "The phone “\(phone)” is switched off. Switch it on first."
    }
  }
}
