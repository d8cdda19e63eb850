import Foundation
import OpenSSL
import TestSupport

/// A certificate authority for one test, made by the `openssl` command line: somebody else's certificates.
final class TLSTestAuthority {
  let pem: [UInt8]
  private let folder: URL

  init() throws {
    folder = try temporaryFolder()
    try Self.run(
      folder,
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=Authority "
        + "-days 2")
    pem = try Self.read(folder, "ca.pem")
  }

  deinit {
    // A leftover in the temporary folder harms nobody.
    try? FileManager.default.removeItem(at: folder)
  }

  /// Issues a certificate; negative days make it expired.
  func identity(_ name: String = "localhost", names: String = "DNS:localhost,IP:127.0.0.1", days: Int = 1) throws
    -> TLSIdentity
  {
    try Data("subjectAltName=\(names)\n".utf8).write(to: folder.appending(path: "names"))
    try Self.run(
      folder,
      "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout own.key -out own.csr -subj /CN=\(name)")
    try Self.run(
      folder, "x509 -req -in own.csr -CA ca.pem -CAkey ca.key -days \(days) -extfile names -out own.pem")
    return TLSIdentity(
      certificateChainPEM: try Self.read(folder, "own.pem"), privateKeyPEM: try Self.read(folder, "own.key"))
  }

  private static func read(_ folder: URL, _ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: name)))
  }

  private static func run(_ folder: URL, _ arguments: String) throws {
    try OtherProgram.runNow("openssl", arguments.split(separator: " ").map(String.init), in: folder)
  }
}
