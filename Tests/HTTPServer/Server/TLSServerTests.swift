import Foundation
import OpenSSL
import Reactor
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Server under TLS")
struct TLSServerTests {
  @Test("what works on a plain socket works under TLS: small and large, both ways, files, streams")
  func curl() async throws {
    let authority = try CertificateAuthority(
      subject: [.commonName("Authority")], notBefore: Date(timeIntervalSinceNow: -86_400),
      notAfter: Date(timeIntervalSinceNow: 86_400))
    let (certificate, key) = try authority.issue(
      CertificateBlueprint(
        subject: [.commonName("localhost")], notBefore: Date(timeIntervalSinceNow: -86_400),
        notAfter: Date(timeIntervalSinceNow: 86_400), alternativeNames: ["localhost", "127.0.0.1"]))
    let context = try TLSContext.server(identity: TLSIdentity(chain: [certificate], key: key), alpn: ["http/1.1"])
    try await withFolder { folder in
      let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      try write(content, to: folder + "/file.bin")
      try write(Array(authority.certificate.pem.utf8), to: folder + "/ca.pem")
      let pool = BlockingPool(name: "files", threads: 1)
      defer { pool.stop() }
      let files = try StaticFiles(root: folder, pool: pool)
      var router = Router()
      router.get("/") { request in .text("secure \(request.isSecure)") }
      router.on(.post, "/echo", options: .init(bodyLimit: 1 << 24)) { request in
        .json(try await request.body.collect(upTo: 1 << 24))
      }
      router.get("/stream") { _ in
        Response(
          body: .stream(length: nil) { writer in
            for _ in 0..<50 { try await writer.write([UInt8](repeating: 0x61, count: 50_000)) }
          })
      }
      router.serve(files, at: "/files/*path")
      try await withServer(router, configure: { $0.tls = context }) { server in
        let url = "https://localhost:\(server.address.port)"
        let curl = ["curl", "-s", "-S", "--cacert", folder + "/ca.pem", "--connect-to", "::127.0.0.1:"]
        let twice = try await server.run(curl + [url + "/", url + "/"])
        #expect(twice == "secure truesecure true")
        _ = try await server.run(
          curl + ["--data-binary", "@\(folder)/file.bin", "-o", folder + "/echoed", url + "/echo"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/echoed")) == Data(content))
        _ = try await server.run(curl + ["-o", folder + "/got", url + "/files/file.bin"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/got")) == Data(content))
        let count = try await server.run(curl + ["-o", "/dev/null", "-w", "%{size_download}", url + "/stream"])
        #expect(count == "2500000")
        let plain = try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(!plain.text.contains("200 OK"))
      }
    }
  }

  private func authority() throws -> CertificateAuthority {
    try CertificateAuthority(
      subject: [.commonName("Authority")], notBefore: Date(timeIntervalSinceNow: -86_400),
      notAfter: Date(timeIntervalSinceNow: 86_400))
  }

  private func context(_ name: String, of authority: CertificateAuthority) throws -> TLSContext {
    let (certificate, key) = try authority.issue(
      CertificateBlueprint(
        subject: [.commonName(name)], notBefore: Date(timeIntervalSinceNow: -86_400),
        notAfter: Date(timeIntervalSinceNow: 86_400), alternativeNames: [name]))
    return try TLSContext.server(identity: TLSIdentity(chain: [certificate], key: key), alpn: ["http/1.1"])
  }

  private func router() -> Router {
    var router = Router()
    router.get("/") { _ in .text("hello") }
    return router
  }

  @Test("below TLS 1.3 nothing is taken but ECDHE with authenticated encryption")
  func ciphers() async throws {
    let context = try context("a.example", of: authority())
    try await withServer(router(), configure: { $0.tls = context }) { server in
      for (cipher, isTaken) in [
        ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-AES256-GCM-SHA384", true),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", true), ("ECDHE-ECDSA-AES128-SHA256", false),
        ("ECDHE-ECDSA-AES256-SHA", false), ("ECDHE-ECDSA-CAMELLIA128-SHA256", false),
      ] {
        let said = try await server.run([
          "sh", "-c", "exec openssl s_client -connect \(server.address) -tls1_2 -cipher \(cipher) 2>&1",
        ])
        #expect(said.contains("Cipher is \(cipher)") == isTaken, "\(cipher)")
        #expect(said.contains("Cipher is (NONE)") != isTaken, "\(cipher): \(said)")
      }
    }
  }

  @Test("a replaced certificate is used for new connections; existing ones continue")
  func replaced() async throws {
    let authority = try authority()
    let (first, second) = (try context("a.example", of: authority), try context("b.example", of: authority))
    try await withFolder { folder in
      try write(Array(authority.certificate.pem.utf8), to: folder + "/ca.pem")
      try await withServer(router(), configure: { $0.tls = first }) { server in
        func ask(_ name: String) async throws -> String {
          try await server.run([
            "curl", "-s", "--cacert", folder + "/ca.pem", "--connect-to", "::\(server.address)",
            "https://\(name):\(server.address.port)/",
          ])
        }
        let before = [try await ask("a.example"), try await ask("b.example")]
        #expect(before == ["hello", ""])
        let standing = try PlainSocket(server.address)
        defer { standing.close() }
        let client = try TLSConnection(
          .client(trust: .pem(Array(authority.certificate.pem.utf8))), descriptor: standing.descriptor,
          serverName: "a.example")
        #expect(try client.handshake() == .done)
        server.server.replaceTLS(second)
        let after = [try await ask("a.example"), try await ask("b.example")]
        #expect(after == ["", "hello"])
        _ = try Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8).withUnsafeBytes { try client.write(from: $0) }
        var answer = [UInt8](repeating: 0, count: 4096)
        guard case .bytes(let count) = try answer.withUnsafeMutableBytes({ try client.read(into: $0) }) else {
          throw HTTPError(.badRequest)
        }
        #expect(String(decoding: answer.prefix(count), as: UTF8.self).contains("200 OK"))
      }
    }
  }
}
