import Foundation
import OpenSSL

/// The JSON Web Token that authenticates us to APNs, kept as long as Apple wants.
///
/// Apple, "Establishing a token-based connection to APNs": refresh no more than once every 20 minutes, and no less than
/// once every 60. The first token is no refresh, so one that APNs refuses at once can still be replaced.
final class ProviderToken: RequestAuthorization {
  private let key: PrivateKey
  private let keyID: String
  private let teamID: String
  /// As in the field `authorization`.
  private var text = ""
  private var signedAt: Date?
  /// When a token last replaced another.
  private var refreshedAt: Date?

  /// The age at which it is replaced.
  static let maximumAge: TimeInterval = 45 * 60
  /// Seconds between two refreshes. Earlier ones get 429 TooManyProviderTokenUpdates.
  static let refreshPause: TimeInterval = 20 * 60

  init(key: PrivateKey, keyID: String, teamID: String) { (self.key, self.keyID, self.teamID) = (key, keyID, teamID) }

  /// Unused: a token is signed at once.
  var changed: () -> Void = {}

  /// A new token if there is none, or the old one is 45 minutes old.
  func current(at now: Date) -> AuthorizationState {
    do {
      // After the clock was set back, APNs may refuse a token from the future.
      if let age = age(at: now), age < Self.maximumAge, age > -Self.refreshPause { return .value(text) }
      try sign(at: now)
      return .value(text)
    } catch {
      return .refused(reason: "The key cannot sign: \(error)")
    }
  }

  /// A new token, unless the last refresh was less than 20 minutes ago: then a clock is wrong, ours or theirs.
  func renew(at now: Date) -> Bool {
    if let refreshedAt, abs(now.timeIntervalSince(refreshedAt)) < Self.refreshPause { return false }
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
    if !text.isEmpty { refreshedAt = now }
    text = "bearer \(token)"
    signedAt = now
  }
}
