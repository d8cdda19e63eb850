import COpenSSL
import Foundation

/// The hash of a password by scrypt (RFC 7914), to be kept in a database instead of the password.
///
/// With the normal parameters ``make(password:parameters:)`` and ``verifies(_:)`` take about 0.3 s of a processor
/// and 128 MB of memory: call them on a pool of threads that may block, with as many threads as there is memory for.
package struct PasswordHash: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// How much work a guess is.
  package struct Parameters: Sendable, Hashable {
    /// N as a power of two: 17 stands for 131,072.
    package let logN: Int
    /// Block size; memory is 128 × N × r bytes.
    package let r: Int
    /// Repetitions.
    package let p: Int

    /// Creates parameters. Anything above 1 GB of memory or below what scrypt allows gives nil.
    package init?(logN: Int, r: Int, p: Int) {
      guard (1...20).contains(logN), (1...32).contains(r), (1...16).contains(p), 128 * r << logN <= 1 << 30 else {
        return nil
      }
      self.init(checked: logN, r, p)
    }

    private init(checked logN: Int, _ r: Int, _ p: Int) {
      self.logN = logN
      self.r = r
      self.p = p
    }

    /// N = 2^17, r = 8, p = 1 (OWASP ASVS 5.0, appendix on cryptography).
    package static let normal = Parameters(checked: 17, 8, 1)
    /// So little work that tests are quick. Never for real passwords.
    package static let quickForTests = Parameters(checked: 4, 8, 1)
  }

  /// With what it was made.
  package let parameters: Parameters
  let salt: [UInt8]
  let hash: [UInt8]

  private init(_ parameters: Parameters, salt: [UInt8], hash: [UInt8]) {
    self.parameters = parameters
    self.salt = salt
    self.hash = hash
  }

  /// Hashes a password with a new random salt.
  package static func make(
    password: String, parameters: Parameters = .normal
  ) throws(OpenSSLError) -> PasswordHash {
    let salt = Random.bytes(16)
    let hash = try derive(password, salt: salt, parameters: parameters, count: 32)
    return PasswordHash(parameters, salt: salt, hash: hash)
  }

  /// A hash that no password fits. Verifying against it takes as long as against a real one, so that the time
  /// of an answer does not tell whether a name is known.
  package static func decoy(parameters: Parameters = .normal) -> PasswordHash {
    PasswordHash(parameters, salt: Random.bytes(16), hash: Random.bytes(32))
  }

  /// Reads the text form, nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt",
      let match = parts[2].wholeMatch(of: /ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})/),
      let logN = Int(match.1), let r = Int(match.2), let p = Int(match.3),
      let parameters = Parameters(logN: logN, r: r, p: p),
      let salt = Self.decode(parts[3]), (8...64).contains(salt.count),
      let hash = Self.decode(parts[4]), (16...64).contains(hash.count)
    else { return nil }
    self.init(parameters, salt: salt, hash: hash)
  }

  /// The form to keep, as `$scrypt$ln=17,r=8,p=1$<salt>$<hash>` (the PHC string format).
  package var text: String {
    "$scrypt$ln=\(parameters.logN),r=\(parameters.r),p=\(parameters.p)$\(Self.encode(salt))$\(Self.encode(hash))"
  }

  /// Whether `password` is the one that was hashed. Says no if memory is short.
  package func verifies(_ password: String) -> Bool {
    // The only error is that of memory; a person then has to try again.
    let other = try? Self.derive(password, salt: salt, parameters: parameters, count: hash.count)
    return other.map { constantTimeEqual($0, hash) } ?? false
  }

  /// Whether a new hash should be made at the next sign-in, because today's parameters are others.
  package func needsRehash(for parameters: Parameters = .normal) -> Bool { self.parameters != parameters }

  /// Names the algorithm only.
  package var description: String { "scrypt password hash" }
  /// Names the algorithm only.
  package var debugDescription: String { description }

  private static func derive(
    _ password: String, salt: [UInt8], parameters: Parameters, count: Int
  ) throws(OpenSSLError) -> [UInt8] {
    // Keyboards differ in how they type an accent; the password stays the same (NFC).
    let password = Array(password.precomposedStringWithCanonicalMapping.utf8)
    var hash = [UInt8](repeating: 0, count: count)
    let n = UInt64(1) << UInt64(parameters.logN)
    let memory = UInt64(128 * parameters.r) * (n + UInt64(parameters.p) + 2) + 1 << 20
    OpenSSLError.clear()
    let done = password.withUnsafeBytes { bytes in
      EVP_PBE_scrypt(
        bytes.assumingMemoryBound(to: CChar.self).baseAddress ?? nil, bytes.count, salt, salt.count, n,
        UInt64(parameters.r), UInt64(parameters.p), memory, &hash, count)
    }
    guard done == 1 else { throw OpenSSLError("hashing a password") }
    return hash
  }

  private static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("=", with: "")
  }

  private static func decode(_ text: Substring) -> [UInt8]? {
    guard !text.contains("=") else { return nil }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text + padding).map(Array.init)
  }
}
