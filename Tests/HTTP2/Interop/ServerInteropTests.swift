import Foundation
import HTTP2
import OpenSSL
import Reactor
import TestSupport
import Testing

/// Other people's HTTP/2 clients against our server.
@Suite("HTTP/2 server with others' clients")
struct ServerInteropTests {
  private static func has(_ tool: String) -> Bool { FileManager.default.isExecutableFile(atPath: tool) }

  private static func run(_ tool: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
    try await OtherProgram.run(tool, arguments, separate: true)
  }

  /// A folder with the authority's certificate, for tools that want files.
  private static func withFile<Result>(_ bytes: [UInt8], _ body: (String) async throws -> Result) async throws -> Result
  {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(bytes).write(to: file)
    // A leftover in the temporary folder harms nobody.
    defer { try? FileManager.default.removeItem(at: file) }
    return try await body(file.path)
  }

  @Test("curl --http2 verifies us, posts, and gets its answer", .enabled(if: has("/usr/bin/curl")))
  func curl() async throws {
    let server = TestServer { request, responder, _ in
      responder.respond(
        ServerResponse(
          status: 200, fields: [HeaderField("apns-id", "A")],
          body: Array("\(request.method) \(request.path) \(request.bodyByteCount)".utf8)))
    }
    try await withServer(server) { running in
      try await Self.withFile(running.authority.pem) { file in
        let (status, output) = try await Self.run(
          "/usr/bin/curl",
          [
            "-sS", "--http2", "--max-time", "10", "--cacert", file, "-d", "hello", "-w",
            " %{http_version} %{http_code}",
            "https://localhost:\(running.address.port)/3/device/00",
          ])
        #expect(status == 0)
        #expect(output == "POST /3/device/00 5 2 200")
        let (plain, _) = try await Self.run(
          "/usr/bin/curl",
          [
            "-sS", "--http1.1", "--max-time", "10", "--cacert", file, "https://localhost:\(running.address.port)/",
          ])
        #expect(plain != 0)
      }
    }
  }

  @Test("h2load gets all its answers", .enabled(if: has("/usr/bin/h2load")))
  func h2load() async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server) { running in
      let (status, output) = try await Self.run(
        "/usr/bin/h2load", ["-n", "5000", "-c", "3", "-m", "100", "https://localhost:\(running.address.port)/"])
      #expect(status == 0)
      #expect(output.contains("5000 succeeded, 0 failed, 0 errored, 0 timeout"))
    }
  }
}
