import Foundation
import JSON
import Model
import OpenSSL
import Store

/// A sign-in on its way to the provider and back. It is kept in a cookie of the browser alone; `state` binds it to this
/// process and to ten minutes, so that strangers cannot fill anything.
struct OIDCFlow: Sendable, Hashable {
  /// Seconds until the answer must be back: time for a second step at the provider.
  static let lifetime: TimeInterval = 600
  private static let longestPath = 1000

  /// Random; the nonce and the verifier of PKCE are made of it.
  private let secret: String
  let startedAt: Date
  /// The path to open afterwards.
  let returnTo: String
  /// The session whose person confirms who is there; nil: a sign-in.
  let session: String?

  init(returnTo: String, session: String? = nil, now: Date) {
    secret = Random.token(bytes: 32)
    startedAt = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
    self.returnTo = returnTo.utf8.count <= Self.longestPath ? returnTo : "/"
    self.session = session
  }

  /// Reads the cookie; nil for anything else.
  init?(cookie: String) {
    guard let bytes = Base64URL.decode(cookie),
      let json = try? JSONValue(parsing: bytes),  // a cookie that cannot be read is none
      let secret = json["secret"]?.string, let started = json["at"]?.integer, let path = json["return"]?.string
    else { return nil }
    self.secret = secret
    startedAt = Date(timeIntervalSince1970: TimeInterval(started))
    returnTo = SessionPages.ownPath(path)
    session = json["session"]?.string
  }

  var cookie: String {
    let json: JSONValue = [
      "secret": .string(secret), "at": .integer(Int64(startedAt.timeIntervalSince1970)), "return": .string(returnTo),
      "session": .optional(session),
    ]
    return Base64URL.encode(json.bytes)
  }

  /// The purpose of the ticket that is sent as `state`: for this cookie only.
  static func purpose(_ cookie: String) -> String { "oidc \(cookie)" }

  var nonce: String { derived("nonce") }
  /// RFC 7636 §4.1: 43 characters.
  var verifier: String { derived("verifier") }
  /// RFC 7636 §4.2, S256.
  var challenge: String { Base64URL.encode(Digest.sha256(Array(verifier.utf8))) }

  private func derived(_ use: String) -> String {
    Base64URL.encode(HMAC.sha256(key: Array(secret.utf8), Array(use.utf8)))
  }

  /// Where the browser is sent.
  func address(_ metadata: OIDCMetadata, _ settings: OIDCSettings, redirect: String, state: String) -> String {
    var fields = [
      ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", redirect),
      ("scope", settings.scopes.joined(separator: " ")), ("state", state), ("nonce", nonce),
      ("code_challenge", challenge), ("code_challenge_method", "S256"),
    ]
    // Asks the person again, and for when that was (OpenID Connect Core 1.0 §3.1.2.1).
    if session != nil { fields += [("prompt", "login"), ("max_age", "0")] }
    let url = metadata.authorization
    return url + (url.contains("?") ? "&" : "?") + Self.query(fields)
  }

  static func query(_ fields: [(String, String)]) -> String {
    fields.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: "&")
  }

  static func escaped(_ text: String) -> String {
    // A string of Swift can always be escaped.
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// RFC 3986 §2.3, ASCII only.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// A provider's error on one line, without control characters; nil if there is none.
  static func words(_ error: String?, _ description: String?) -> String? {
    let parts = [error, description].compactMap { $0 }.filter { !$0.isEmpty }
    guard !parts.isEmpty else { return nil }
    let plain = String.UnicodeScalarView(
      parts.joined(separator: ": ").unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
    return String(String(plain).prefix(200))
  }
}
