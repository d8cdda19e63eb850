import COpenSSL
import Foundation

/// A scrypt hash (RFC 7914) stored in place of a password.
///
/// With the normal parameters ``make(_:parameters:)`` and ``verifies(_:)`` take about 0.3 s of a processor and 128 MB
/// of memory: call them on a pool of threads sized by the available memory.
package struct PasswordHash: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The cost of one guess.
  package struct Parameters: Sendable, Hashable {
    /// Base-2 logarithm of N: 17 stands for 131,072.
    package let logN: Int
    /// Block size; memory is 128 × N × r bytes.
    package let r: Int
    /// Parallelization.
    package let p: Int

    /// Nil above 1 GB of memory or outside of scrypt's limits.
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
    /// Cheap, for tests only.
    package static let quickForTests = Parameters(checked: 4, 8, 1)
  }

  package let parameters: Parameters
  let salt: [UInt8]
  let hash: [UInt8]

  private init(_ parameters: Parameters, salt: [UInt8], hash: [UInt8]) {
    self.parameters = parameters
    self.salt = salt
    self.hash = hash
  }

  package static func make(
    password: String, parameters: Parameters = .normal
  ) throws(OpenSSLError) -> PasswordHash {
    let salt = Random.bytes(16)
    let hash = try derive(password, salt: salt, parameters: parameters, count: 32)
    return PasswordHash(parameters, salt: salt, hash: hash)
  }

  /// A hash that matches no password. Verifying against it takes as long as against a real one, so that the response
  /// time does not reveal whether a name exists.
  package static func decoy(parameters: Parameters = .normal) -> PasswordHash {
    PasswordHash(parameters, salt: Random.bytes(16), hash: Random.bytes(32))
  }

  /// Reads ``text``, nil for anything else.
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

  /// The stored form, such as `$scrypt$ln=17,r=8,p=1$<salt>$<hash>` (the PHC string format).
  package var text: String {
    "$scrypt$ln=\(parameters.logN),r=\(parameters.r),p=\(parameters.p)$\(Self.encode(salt))$\(Self.encode(hash))"
  }

  /// Whether `password` matches. False if memory is short.
  package func verifies(_ password: String) -> Bool {
    // The only error is a lack of memory; the person then tries again.
    let other = try? Self.derive(password, salt: salt, parameters: parameters, count: hash.count)
    return other.map { constantTimeEqual($0, hash) } ?? false
  }

  /// Whether the hash should be renewed at the next sign-in, because the parameters have changed.
  package func needsRehash(for parameters: Parameters = .normal) -> Bool { self.parameters != parameters }

  /// Never the hash.
  package var description: String { "scrypt password hash" }
  package var debugDescription: String { description }

  private static func derive(
    _ password: String, salt: [UInt8], parameters: Parameters, count: Int
  ) throws(OpenSSLError) -> [UInt8] {
    // Keyboards differ in how they encode an accent: NFC makes the passwords equal.
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

/// Keeps secrets inside this process.
package enum SecretMemory {
  /// Disables core dumps, and reading this process's memory from other processes of the same user (prctl(2),
  /// `PR_SET_DUMPABLE`; setrlimit(2), `RLIMIT_CORE`).
  ///
  /// - Returns: whether it worked.
  @discardableResult
  package static func forbidDumps() -> Bool { pki_forbid_dumps() == 1 }
}
