internal import OpenSSL

/// Random texts that let somebody in. They are shown once; what is kept is their hash, so that who reads the file
/// cannot become anybody.
public enum Secret {
  /// A new token for the API, as `sbx_…`: scanners for leaked secrets can look for the beginning.
  public static func apiToken() -> String { "sbx_" + Random.token(bytes: 32) }

  /// A new text for a cookie or a link.
  public static func text() -> String { Random.token(bytes: 32) }

  /// What is kept. Plain SHA-256 will do: these texts are random, and cannot be guessed like passwords.
  public static func hash(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}
