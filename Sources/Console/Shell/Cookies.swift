import HTTPServer
import OpenSSL

enum Cookies {
  static let session = "signalbox_session"
  static let device = "signalbox_device"
  static let form = "signalbox_form"
  static let flash = "signalbox_flash"
  static let language = "signalbox_language"
  static let oidc = "signalbox_oidc"

  /// Over https, the `__Host-` prefix limits a cookie to this exact host (RFC 6265bis).
  private static func sent(_ name: String, _ request: Request) -> String {
    request.isSecure ? "__Host-" + name : name
  }

  static func value(_ name: String, of request: Request) -> String? { request.cookie(sent(name, request)) }

  static func set(_ name: String, _ value: String, age: Int?, on response: inout Response, _ request: Request) {
    let cookie = Cookie(name: sent(name, request), value: value, maximumAge: age, isSecure: request.isSecure)
    if let cookie { response.setCookie(cookie) }
  }
}

/// The token of forms, masked differently in each answer: pages are compressed, and the length of a constant text could
/// be guessed step by step (BREACH).
enum CSRFToken {
  /// Base64url of random bytes, followed by the token's bytes XORed with them.
  static func masked(_ token: String) -> String {
    let bytes = Array(token.utf8)
    let mask = Random.bytes(bytes.count)
    return Base64URL.encode(mask + zip(mask, bytes).map { $0 ^ $1 })
  }

  /// Whether the sent token matches. Programs may send it unmasked.
  static func matches(_ sent: String, _ token: String) -> Bool {
    let expected = Array(token.utf8)
    if constantTimeEqual(Array(sent.utf8), expected) { return true }
    guard let bytes = Base64URL.decode(sent), bytes.count == 2 * expected.count else { return false }
    let (mask, rest) = (bytes.prefix(expected.count), bytes.suffix(expected.count))
    return constantTimeEqual(zip(mask, rest).map { $0 ^ $1 }, expected)
  }
}
