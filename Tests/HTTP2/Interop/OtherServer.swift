import Foundation
import Glibc
import HTTP2
import OpenSSL
import Reactor
import TestSupport
import Testing

/// Somebody else's HTTP/2 server, as a process for the time of a test.
enum OtherServer {
  static func has(_ tool: String) -> Bool { FileManager.default.isExecutableFile(atPath: tool) }

  /// Starts one, and calls `body` with a client for it.
  ///
  /// - Parameters:
  ///   - script: kept in a file, whose name goes before the other arguments.
  ///   - arguments: where `KEY` and `CERTIFICATE` stand, names of files.
  static func run(
    _ tool: String, script: String? = nil, arguments: [String],
    configuration: ClientGroupConfiguration = .quick, _ body: (TestClient) async throws -> Void
  ) async throws {
    let authority = try TestAuthority()
    var configuration = configuration
    configuration.connection.requestTimeout = .seconds(60)
    try await withServer(TestServer(TestServer.accept), authority: authority) { [configuration] running in
      let (certificate, key) = try authority.issue()
      let folder = try temporaryFolder()
      // Leftovers in the temporary folder harm nobody.
      defer { try? FileManager.default.removeItem(at: folder) }
      let files = ["KEY": key.pkcs8PEM, "CERTIFICATE": certificate.pem, "SCRIPT": script ?? ""]
      for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
      let process = Process()
      process.executableURL = URL(filePath: tool)
      process.arguments = ((script == nil ? [] : ["SCRIPT"]) + arguments).map { argument in
        files[argument] == nil ? argument : folder.appending(path: argument).path
      }
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      // Not SIGTERM: a child of one of Dispatch's threads is born with it blocked, and would stay for ever. Foundation
      // waits for it; waiting here too could mean to wait for a process of another test, which inherits too much.
      defer { kill(process.processIdentifier, SIGKILL) }
      let port = try await listeningPort(of: process)
      let tls = try TLSContext.client(trust: .pem(authority.pem), alpn: ["h2"])
      let client = try TestClient(
        running, endpoint: Endpoint(host: "127.0.0.1", port: port, tls: tls), configuration: configuration)
      // A server that dies or hangs is tried again for ever: then the test shall fail, not stand still.
      let group = client.group
      let watchdog = Task { [process] in
        let end = ContinuousClock.now + .seconds(150)
        while process.isRunning, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(100)) }
        group.onLoop { $0.stop() }
      }
      defer { watchdog.cancel() }
      try await body(client)
      #expect(process.isRunning, "\(tool) \(arguments) has ended")
      await client.stop()
    }
  }

  /// None of them says which port it was given: the kernel does, as soon as it listens. However busy the machine is, it
  /// is waited for as long as the process lives; the time limit of the suite ends the rest.
  private static func listeningPort(of process: Process) async throws -> UInt16 {
    let folder = "/proc/\(process.processIdentifier)/fd"
    while process.isRunning {
      let sockets = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      let inodes = Set(
        sockets.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") })
      for columns in try TCPSockets.all() {
        guard columns[3] == "0A", inodes.contains("socket:[\(columns[9])]") else { continue }
        if let port = columns[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) }) { return port }
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemError("the server has ended", number: ECONNREFUSED)
  }
}
