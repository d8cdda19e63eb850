import Foundation
import Mail
import OpenSSL
import Reactor
import TestSupport
import Testing

/// Connections to others below TLS 1.3: only with forward secrecy and authenticated encryption.
@Suite("TLS to others: ciphers", .timeLimit(.minutes(2)))
struct CipherTests {
  private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let pool = BlockingPool(name: "test", threads: 1)
    defer { pool.stop() }
    return try await pool.run(body)
  }

  /// The end of a handshake as the push services' connections make it.
  private static func handshake(_ address: SocketAddress, _ pem: String) async throws -> Bool {
    try await blocking {
      let socket = try PlainSocket(address)
      defer { socket.close() }
      let context = try TLSContext.client(trust: .pem(Array(pem.utf8)))
      let connection = try TLSConnection(context, descriptor: socket.descriptor, serverName: "localhost")
      do {
        while try connection.handshake() != .done {}
        return true
      } catch let error as TLSError {
        #expect(error.code != .unknownAuthority, "refused for another reason")
        return false
      }
    }
  }

  private static func web(_ address: SocketAddress, _ pem: String) async throws -> Result<WebAnswer, MailError> {
    try await blocking {
      do throws(MailError) {
        return .success(
          try WebTransport(trustPEM: pem, timeout: 10).get(
            WebRequest(url: "https://localhost:\(address.port)/", body: [])))
      } catch { return .failure(error) }
    }
  }

  @Test("a server with a good cipher is spoken to", arguments: ["ECDHE-ECDSA-AES128-GCM-SHA256"])
  func good(cipher: String) async throws {
    try await OldServer.with(cipher: cipher) { address, pem in
      let isTaken = try await Self.handshake(address, pem)
      let answer = try await Self.web(address, pem)
      #expect(try isTaken && answer.get().status == 200)
    }
  }

  @Test(
    "a server that has only old ciphers is refused: push services, webhooks, mail",
    arguments: ["ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384"])
  func old(cipher: String) async throws {
    try await OldServer.with(cipher: cipher) { address, pem in
      let isTaken = try await Self.handshake(address, pem)
      #expect(!isTaken)
      guard case .failure(let error) = try await Self.web(address, pem) else {
        Issue.record("it was taken")
        return
      }
      #expect(error.code == .tls)
      var server = SMTPServer(host: "localhost", port: Int(address.port), security: .tls, trustPEM: pem)
      server.timeout = 10
      let transport = SMTPTransport(server)
      let sender = try #require(MailAddress("box@example.com"))
      let message = MailMessage(
        from: sender, to: sender, subject: "Test", text: "Test", html: nil, identifier: "1@example.com",
        date: .now, language: "en")
      let code = try await Self.blocking { () -> MailError.Code? in
        do throws(MailError) {
          try transport.send(message)
          return nil
        } catch { return error.code }
      }
      #expect(code == .tls)
    }
  }
}
