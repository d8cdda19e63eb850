package import Foundation

/// A temporary folder in which the command line of OpenSSL makes files: the truth that the tests compare with.
package struct OpenSSLCommand: ~Copyable {
  package let folder: URL

  package init() throws {
    folder = try temporaryFolder()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs `openssl` with these arguments in the folder; returns its standard output.
  @discardableResult
  package func callAsFunction(_ arguments: String...) throws -> Data { try run(arguments) }

  @discardableResult
  package func run(_ arguments: [String]) throws -> Data {
    try OtherProgram.runNow("openssl", arguments, in: folder)
  }

  package func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }
  package func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }
  package func write(_ data: Data, to name: String) throws { try data.write(to: folder.appendingPathComponent(name)) }

  /// HMAC-SHA256 (RFC 2104), 32 bytes.
  package static func hmac(key: String, _ text: Data) throws -> Data {
    let command = try OpenSSLCommand()
    try command.write(text, to: "in")
    let digits = key.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return try command("dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(digits)", "-binary", "in")
  }

  /// `key.pem` on P-256 and `cert.pem`, self-signed.
  package func makeIdentity(
    subject: String = "/UID=com.example.app/CN=Apple Push Services: com.example.app/OU=TEAM123456/O=Example/C=US",
    days: Int = 365
  ) throws {
    try self(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem",
      "-out", "cert.pem", "-days", "\(days)", "-subj", subject,
      "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1",
      "-addext", "1.2.840.113635.100.6.3.1=DER:0500", "-addext", "1.2.840.113635.100.6.3.2=DER:0500")
  }
}
