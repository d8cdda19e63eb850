internal import Foundation
internal import Glibc
package import Reactor

/// `openssl s_server` with TLS 1.2 and one cipher, as old servers have it.
package enum OldServer {
  /// - Parameter body: gets the server's address, and its certificate for `localhost`, in PEM.
  package static func with(
    cipher: String, _ body: (_ address: SocketAddress, _ pem: String) async throws -> Void
  ) async throws {
    let command = try OpenSSLCommand()
    try command.makeIdentity(subject: "/CN=localhost")
    let output = command.folder.appending(path: "output.txt")
    let server = try OtherProgram(
      "openssl",
      [
        "s_server", "-accept", "127.0.0.1:0", "-tls1_2", "-cipher", cipher, "-www", "-cert", "cert.pem", "-key",
        "key.pem",
      ], in: command.folder, output: output.path, errors: output.path)
    defer { server.send(SIGKILL) }
    var port: UInt16?
    try await waitUntil("openssl names its port") {
      let text = FileManager.default.contents(atPath: output.path).map { String(decoding: $0, as: UTF8.self) } ?? ""
      let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }
      port = line?.split(separator: ":").last.flatMap { UInt16($0) }
      return port != nil
    }
    guard let address = SocketAddress(host: "127.0.0.1", port: port ?? 0) else { return }
    try await body(address, try command.text("cert.pem"))
  }
}
