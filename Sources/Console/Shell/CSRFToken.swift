import OpenSSL

/// The token of forms, as pages show it: masked anew in each answer. Pages are compressed, and their length would
/// otherwise tell, guess by guess, what stands in them each time (BREACH).
enum CSRFToken {
  /// Random bytes, and the token's bytes combined with them.
  static func masked(_ token: String) -> String {
    let bytes = Array(token.utf8)
    let mask = Random.bytes(bytes.count)
    return Base64URL.encode(mask + zip(mask, bytes).map { $0 ^ $1 })
  }

  /// Whether a form sent the token, masked or, as programs that hold it may, plain.
  static func matches(_ sent: String, _ token: String) -> Bool {
    let expected = Array(token.utf8)
    if constantTimeEqual(Array(sent.utf8), expected) { return true }
    guard let bytes = Base64URL.decode(sent), bytes.count == 2 * expected.count else { return false }
    let (mask, rest) = (bytes.prefix(expected.count), bytes.suffix(expected.count))
    return constantTimeEqual(zip(mask, rest).map { $0 ^ $1 }, expected)
  }
}
