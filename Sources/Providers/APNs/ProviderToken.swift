import Foundation
import OpenSSL

/// The JSON Web Token that authenticates us to APNs, kept as long as Apple wants.
///
/// Apple, "Establishing a token-based connection to APNs": refresh no more than once every 20 minutes, and no less than
/// once every 60.
struct ProviderToken: Sendable {
  private let key: PrivateKey
  private let keyID: String
  private let teamID: String
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

  /// The token for the present requests; a new one if there is none, or the old one is 45 minutes old.
  ///
  /// - Throws: `OpenSSLError` if the key cannot sign.
  mutating func current(at now: Date) throws -> (text: String, isNew: Bool) {
    if let signedAt {
      let age = now.timeIntervalSince(signedAt)
      // After the clock was set back, APNs may refuse a token from the future.
      if age < Self.maximumAge, age > -Self.minimumAge { return (text, false) }
    }
    try sign(at: now)
    return (text, true)
  }

  /// Called when APNs says that the token is too old: makes a new one, unless the last is younger than 20 minutes.
  ///
  /// - Returns: nil if none may be made: then a clock is wrong, ours or theirs.
  mutating func renewed(at now: Date) throws -> String? {
    if let signedAt, abs(now.timeIntervalSince(signedAt)) < Self.minimumAge { return nil }
    try sign(at: now)
    return text
  }

  private mutating func sign(at now: Date) throws {
    let seconds = Int64(now.timeIntervalSince1970.rounded(.down))
    text = try JSONWebToken.sign(
      .es256, key: key, header: [("kid", .string(keyID))],
      claims: [("iss", .string(teamID)), ("iat", .integer(seconds))])
    signedAt = now
  }
}
