internal import OpenSSL

/// Random texts that let somebody in. They are shown once; what is kept is their hash, so that who reads the file
/// cannot become anybody.
package enum Secret {
  /// A new token for the API, as `sbx_…`: scanners for leaked secrets can look for the beginning.
  package static func apiToken() -> String { "sbx_" + Random.token(bytes: 32) }

  /// A new text for a cookie or a link.
  package static func text() -> String { Random.token(bytes: 32) }

  /// What is kept. Plain SHA-256 will do: these texts are random, and cannot be guessed like passwords.
  package static func hash(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}
