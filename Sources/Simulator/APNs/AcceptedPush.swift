import Foundation
import JSON
import Model

/// A request in which the simulated APNs found nothing wrong; whether the token exists is for the phone book to say.
struct AcceptedPush: Sendable, Hashable {
  /// Whom for.
  var token: DeviceToken
  /// As given, letter for letter, or made, in upper case as APNs makes them.
  var apnsID: String
  /// As given, or the only one of the certificate.
  var topic: String
  /// As given, or what topic and payload suggest.
  var pushType: PushType
  /// 10, 5 or 1.
  var priority: Int
  /// Until when APNs tries; 1970-01-01: once only, not stored. Nil: APNs' own policy, at most 30 days.
  var expiration: Date?
  /// Later pushes of one id replace earlier ones.
  var collapseID: String?
  /// An object.
  var payload: JSONValue
  /// The same as it came.
  var rawPayload: [UInt8]
  /// The push's id from the console (``APNsPayload/idKey``), if the payload has it.
  var uniqueID: String?
  /// Whether a signed token authorised it; otherwise a certificate did.
  var usedProviderToken: Bool

  /// Whether APNs tries once only and stores nothing.
  var isOnceOnly: Bool { expiration?.timeIntervalSince1970 == 0 }
}
