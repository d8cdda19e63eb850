import Foundation
import Glibc
import HTTP2
import OpenSSL
import Reactor
import Testing

/// Other people's HTTP/2: curl and h2load against our server, our client against nghttpd.
@Suite("HTTP/2 with others")
struct InteropTests {
  private static func has(_ tool: String) -> Bool { FileManager.default.isExecutableFile(atPath: tool) }

  private static func run(_ tool: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: tool)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    let pool = BlockingPool(name: "process", threads: 1)
    defer { pool.stop() }
    try process.run()
    let output = try await pool.run { try pipe.fileHandleForReading.readToEnd() ?? Data() }
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
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

  @Test("our client is answered by nghttpd", .enabled(if: has("/usr/sbin/nghttpd")))
  func nghttpd() async throws {
    let authority = try TestAuthority()
    try await withServer(TestServer(TestServer.accept), authority: authority) { running in
      let (certificate, key) = try authority.issue()
      let files = [key.pkcs8PEM, certificate.pem].map { text in
        (FileManager.default.temporaryDirectory.appending(path: UUID().uuidString), text)
      }
      for (file, text) in files { try Data(text.utf8).write(to: file) }
      // Leftovers in the temporary folder harm nobody.
      defer { for (file, _) in files { try? FileManager.default.removeItem(at: file) } }
      let process = Process()
      process.executableURL = URL(filePath: "/usr/sbin/nghttpd")
      process.arguments = ["--address", "127.0.0.1", "0"] + files.map(\.0.path)
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      // Not SIGTERM: a child of one of Dispatch's threads is born with it blocked, and would stay for ever.
      defer {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
      let port = try await Self.listeningPort(of: process.processIdentifier)
      let tls = try TLSContext.client(trust: .pem(authority.pem), alpn: ["h2"])
      let client = try TestClient(running, endpoint: Endpoint(host: "127.0.0.1", port: port, tls: tls))
      // It has no such files: 404 with a page, which is an answer.
      #expect(await client.send(3000, body: [UInt8](repeating: 32, count: 212)).statuses == [404: 3000])
      await client.stop()
    }
  }

  /// nghttpd does not say which port it was given: the kernel does.
  private static func listeningPort(of process: Int32) async throws -> UInt16 {
    for _ in 0..<2000 {
      let sockets = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
      let inodes = Set(
        sockets.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)") })
      for line in try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").dropFirst() {
        let columns = line.split(separator: " ")
        guard columns.count > 9, columns[3] == "0A", inodes.contains("socket:[\(columns[9])]") else { continue }
        if let port = columns[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) }) { return port }
      }
      try await Task.sleep(for: .milliseconds(1))
    }
    throw SystemError("nghttpd", number: ETIMEDOUT)
  }
}
