internal import Foundation
internal import Glibc
package import Reactor

/// tinyproxy, a proxy that is not ours, as a process for the time of a test.
package enum Tinyproxy {
  package static let path = "/usr/bin/tinyproxy"
  package static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

  /// Runs `body` with a proxy on a free port.
  ///
  /// - Parameters:
  ///   - login: user and password that it wants; nil: none.
  ///   - ports: the only ports that it connects to; empty: all.
  ///   - body: gets the proxy and its log so far.
  package static func with(
    login: (user: String, password: String)? = nil, ports: [UInt16] = [],
    _ body: (_ proxy: ProxyServer, _ log: @escaping @Sendable () -> String) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    // tinyproxy takes no port 0. Another program may take the free port first: then the next one is tried.
    for _ in 0..<20 {
      let port = try freePort()
      var lines = [
        "Port \(port)", "Listen 127.0.0.1", "Timeout 60", "Allow 127.0.0.1", "LogLevel Connect",
        "LogFile \"\(folder.path)/log\"",
      ]
      if let login { lines.append("BasicAuth \(login.user) \(login.password)") }
      lines += ports.map { "ConnectPort \($0)" }
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: folder.appending(path: "conf"))
      let process = Process()
      process.executableURL = URL(filePath: path)
      process.arguments = ["-d", "-c", folder.appending(path: "conf").path]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      defer { kill(process.processIdentifier, SIGKILL) }
      guard let address = SocketAddress("127.0.0.1:\(port)"), try await listens(address, process) else { continue }
      try await body(ProxyServer(host: "127.0.0.1", port: port, user: login?.user, password: login?.password)) {
        (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? ""
      }
      return
    }
    throw SystemError("tinyproxy", number: EADDRINUSE)
  }

  private static func freePort() throws -> UInt16 {
    guard let any = SocketAddress("127.0.0.1:0") else { throw SystemError("socket") }
    let listener = try Socket.listen(on: any)
    defer { close(listener) }
    return try Socket.localAddress(of: listener).port
  }

  /// False: it has ended.
  private static func listens(_ address: SocketAddress, _ process: Process) async throws -> Bool {
    var isUp = false
    try await waitUntil("tinyproxy listens") {
      if let socket = try? PlainSocket(address) {
        socket.close()
        isUp = true
      }
      return isUp || !process.isRunning
    }
    return isUp && process.isRunning
  }
}
