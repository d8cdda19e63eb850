import Foundation
import OpenSSL
import Reactor
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
      router.post("/echo", options: .init(bodyLimit: 1 << 24)) { request in
        .json(try await request.body.collect(upTo: 1 << 24))
      }
      router.get("/stream") { _ in
        Response(
          body: .stream(length: nil) { writer in
            for _ in 0..<50 { try await writer.write([UInt8](repeating: 0x61, count: 50_000)) }
          })
      }
      router.get("/files/*path") { request in
        guard let answer = try await files.response(to: request, path: request.parameters.rest) else {
          throw HTTPError(.notFound)
        }
        return answer
      }
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
}
