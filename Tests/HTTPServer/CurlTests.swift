import Foundation
import Testing

@testable import HTTPServer

@Suite("curl as the client")
struct CurlTests {
  private func router() -> Router {
    var router = Router()
    router.get("/") { _ in .text("hello") }
    router.on(.post, "/count", options: .init(bodyLimit: 1 << 24)) { request in
      var count = 0
      for try await piece in request.body { count += piece.count }
      return .text("\(count)")
    }
    router.get("/stream") { _ in
      Response(body: .stream(length: nil) { writer in for number in 0..<100 { try await writer.write("\(number)\n") } })
    }
    return router
  }

  @Test("two requests share a connection, HEAD has no body, HTTP/1.0 works")
  func simple() async throws {
    try await withServer(router()) { server in
      let twice = try await server.run(["curl", "-sv", "--stderr", "-", server.url + "/", server.url + "/"])
      #expect(twice.contains("Re-using existing connection"))
      let head = try await server.run(["curl", "-sI", server.url + "/"])
      #expect(head.hasPrefix("HTTP/1.1 200 OK") && head.contains("Content-Length: 5") && !head.contains("hello"))
      #expect(try await server.run(["curl", "-s", "--http1.0", server.url + "/"]) == "hello")
      let absolute = try await server.run(["curl", "-s", "-x", server.url, "http://example.org/"])
      #expect(absolute == "hello")
    }
  }

  @Test("uploads of a known length, in chunks, and after 100 Continue are counted; streams arrive")
  func bodies() async throws {
    try await withFolder { folder in
      try write([UInt8](repeating: 0x61, count: 3_000_000), to: folder + "/file")
      try await withServer(router()) { server in
        let file = "@\(folder)/file"
        for options in [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect: 100-continue"]] {
          let count = try await server.run(
            ["curl", "-s", "-X", "POST", "--data-binary", file] + options + [server.url + "/count"])
          #expect(count == "3000000", "\(options)")
        }
        let lines = try await server.run(["curl", "-s", server.url + "/stream"])
        #expect(lines == (0..<100).map { "\($0)\n" }.joined())
        let status = try await server.run([
          "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", file, server.url + "/",
        ])
        #expect(status == "405")
      }
    }
  }
}
