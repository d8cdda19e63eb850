import Foundation
import JSON
import Model

/// What a simulated APNs remembers of one connection between requests.
///
/// Apple counts renewals of the provider token, and binds the team, for each connection (docs/protocols.md §1.5): so
/// one ledger a connection, not one for all. It also saves work: a provider token is read and its signature checked
/// once, and a body that is the same as the one before is parsed once.
struct APNsLedger: Sendable {
  /// A token that may be renewed more than once in this time, in seconds, is renewed too often.
  static let renewalPause = 20.0 * 60
  /// Distinct provider tokens that are kept; then those that are not in use are forgotten.
  static let tokenLimit = 64

  /// A provider token as it came, and what came of it.
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

  /// Whose tokens the connection takes: those of the first one accepted.
  private(set) var scope: ProviderToken.Scope?

  /// Nothing seen yet.
  init() {}

  // MARK: Provider tokens

  /// The token of an `authorization` field that was accepted last, if it is the same field: the common case.
  func accepted(_ authorization: String) -> ProviderToken? {
    guard let latest, latest.authorization == authorization else { return nil }
    return latest.token
  }

  /// What a provider token says, nil if it is invalid. The first answer stands, as Apple asks to open a new connection
  /// after a key was revoked.
  mutating func token(_ authorization: String, read: () -> ProviderToken?) -> ProviderToken? {
    if let entry = entries[authorization] { return entry.token }
    if entries.count >= Self.tokenLimit { entries = entries.filter(\.value.isAccepted) }
    let entry = Entry(token: read())
    entries[authorization] = entry
    return entry.token
  }

  /// Notes that a token is used, and whether it may: the first one may, and then a new one if 20 minutes have passed
  /// since the last that was new ("no more than once every 20 minutes"). Going back to an older one is no renewal,
  /// because requests overtake each other.
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

  // MARK: What repeats from request to request

  /// A topic taken apart.
  mutating func topic(_ name: String) -> APNsTopic? {
    if let topic, topic.name == name { return topic }
    guard let new = APNsTopic(name) else { return nil }
    topic = new
    return new
  }

  /// The JSON of a body, nil if it is none.
  mutating func json(_ bytes: [UInt8]) -> JSONValue? {
    if let payload, payload.bytes == bytes { return payload.json }
    // Apple has no word for what is wrong with a payload, so the error is of no use here.
    guard let json = try? JSONValue(parsing: Data(bytes)) else { return nil }
    payload = (bytes, json)
    return json
  }
}
