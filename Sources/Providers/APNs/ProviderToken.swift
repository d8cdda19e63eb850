import Foundation
import OpenSSL

/// The JSON Web Token that authenticates us to APNs, kept as long as Apple wants.
///
/// Apple, "Establishing a token-based connection to APNs": refresh no more than once every 20 minutes, and no less than
/// once every 60.
final class ProviderToken: RequestAuthorization {
  private let key: PrivateKey
  private let keyID: String
  private let teamID: String
  /// As in the field `authorization`.
  private var text = ""
  private var signedAt: Date?

  /// The age at which it is replaced.
  static let maximumAge: TimeInterval = 45 * 60
  /// Earlier renewals get 429 TooManyProviderTokenUpdates.
  static let minimumAge: TimeInterval = 20 * 60

  init(key: PrivateKey, keyID: String, teamID: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
  }

  /// Unused: a token is signed at once.
  var changed: () -> Void = {}

  /// A new token if there is none, or the old one is 45 minutes old.
  func current(at now: Date) -> AuthorizationState {
    do {
      // After the clock was set back, APNs may refuse a token from the future.
      if let age = age(at: now), age < Self.maximumAge, age > -Self.minimumAge { return .value(text) }
      try sign(at: now)
      return .value(text)
    } catch {
      return .refused(reason: "The key cannot sign: \(error)")
    }
  }

  /// A new token, unless the last is younger than 20 minutes: then a clock is wrong, ours or theirs.
  func renew(at now: Date) -> Bool {
    if let age = age(at: now), abs(age) < Self.minimumAge { return false }
    signedAt = nil
    return true
  }

  func stop() {}

  private func age(at now: Date) -> TimeInterval? { signedAt.map { now.timeIntervalSince($0) } }

  private func sign(at now: Date) throws {
    let seconds = Int64(now.timeIntervalSince1970.rounded(.down))
    let token = try JSONWebToken.sign(
      .es256, key: key, header: [("kid", .string(keyID))],
      claims: [("iss", .string(teamID)), ("iat", .integer(seconds))])
    text = "bearer \(token)"
    signedAt = now
  }
}
