import Foundation
import JSON
import Model

/// The state of one connection between requests.
///
/// One ledger per connection, because Apple counts renewals of the provider token and binds the team per connection
/// (docs/protocols.md §1.5). It also saves work: a provider token is read and verified once, and equal consecutive
/// bodies are parsed once.
struct APNsLedger: Sendable {
  /// The shortest time between two renewals of the token, in seconds.
  static let renewalPause = 20.0 * 60
  /// How many provider tokens are kept; beyond it, unused ones are dropped.
  static let tokenLimit = 64

  /// A provider token as received, and its verification.
  private struct Entry: Sendable {
    /// Nil: invalid.
    let token: ProviderToken?
    var isAccepted = false
  }

  private var entries: [String: Entry] = [:]
  private var latest: (authorization: String, token: ProviderToken)?
  private var lastRenewal: Date?
  private var topic: APNsTopic?
  private var payload: (bytes: [UInt8], json: JSONValue)?

  /// The scope of the first accepted token, to which the connection is bound.
  private(set) var scope: ProviderToken.Scope?

  /// The token of the last accepted `authorization` field, if it is the same: the common case.
  func accepted(_ authorization: String) -> ProviderToken? {
    guard let latest, latest.authorization == authorization else { return nil }
    return latest.token
  }

  /// A provider token's content, nil if it is invalid. The first result is kept, because Apple asks for a new
  /// connection after a key was revoked.
  mutating func token(_ authorization: String, read: () -> ProviderToken?) -> ProviderToken? {
    if let entry = entries[authorization] { return entry.token }
    if entries.count >= Self.tokenLimit { entries = entries.filter(\.value.isAccepted) }
    let entry = Entry(token: read())
    entries[authorization] = entry
    return entry.token
  }

  /// Notes the use of a token, and returns whether it is allowed: the first token, and a new one 20 minutes after the
  /// last new one ("no more than once every 20 minutes"). An older token is no renewal, because requests overtake each
  /// other.
  mutating func use(_ token: ProviderToken, _ authorization: String, now: Date) -> Bool {
    if entries[authorization]?.isAccepted != true {
      if scope != nil {
        if let lastRenewal, now.timeIntervalSince(lastRenewal) < Self.renewalPause { return false }
        lastRenewal = now
      }
      entries[authorization, default: Entry(token: token)].isAccepted = true
    }
    scope = scope ?? token.scope
    latest = (authorization, token)
    return true
  }

  mutating func topic(_ name: String) -> APNsTopic? {
    if let topic, topic.name == name { return topic }
    guard let new = APNsTopic(name) else { return nil }
    topic = new
    return new
  }

  /// The JSON of a body, nil if it is invalid.
  mutating func json(_ bytes: [UInt8]) -> JSONValue? {
    if let payload, payload.bytes == bytes { return payload.json }
    // APNs has no reason for invalid JSON, so the error is not needed.
    guard let json = try? JSONValue(parsing: Data(bytes)) else { return nil }
    payload = (bytes, json)
    return json
  }
}
