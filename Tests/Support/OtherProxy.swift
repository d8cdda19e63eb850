internal import Foundation
internal import Glibc
package import Reactor

/// An HTTP proxy that is not ours, as a process for the time of a test.
package enum OtherProxy: String, Sendable, CaseIterable, CustomStringConvertible {
  case tinyproxy, squid

  package var description: String { rawValue }

  private var path: String { self == .tinyproxy ? "/usr/bin/tinyproxy" : "/usr/sbin/squid" }

  /// Debian's package squid has it.
  private static let squidPasswords = "/usr/lib/squid/basic_ncsa_auth"

  private var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

  /// Those of this machine; without any, their tests are skipped.
  package static let installed = allCases.filter(\.isInstalled)

  /// Runs `body` with a proxy on a free port.
  ///
  /// - Parameters:
  ///   - login: user and password that it wants; nil: none.
  ///   - ports: the only ports that it connects to; empty: all.
  ///   - hosts: names that are this machine's; squid alone can be told.
  ///   - body: gets the proxy, and its log so far, which has the head of each request.
  package func with(
    login: (user: String, password: String)? = nil, ports: [UInt16] = [], hosts: [String] = [],
    _ body: (_ proxy: ProxyServer, _ log: @escaping @Sendable () -> String) async throws -> Void
  ) async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    // squid started by root runs as another user, and writes its log there.
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
    // Neither takes port 0. Another program may take the free port first: then the next one is tried.
    for _ in 0..<20 {
      let port = try Self.freePort()
      let lines =
        try self == .tinyproxy
        ? Self.tinyproxy(port, folder.path, login, ports) : Self.squid(port, folder.path, login, ports, hosts)
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: folder.appending(path: "conf"))
      let process = Process()
      process.executableURL = URL(filePath: path)
      process.arguments = (self == .tinyproxy ? ["-d", "-c"] : ["-N", "-f"]) + [folder.appending(path: "conf").path]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      defer { kill(process.processIdentifier, SIGKILL) }
      guard let address = SocketAddress("127.0.0.1:\(port)"), try await Self.listens(address, process) else { continue }
      try await body(ProxyServer(host: "127.0.0.1", port: port, user: login?.user, password: login?.password)) {
        (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? ""
      }
      return
    }
    throw SystemError(rawValue, number: EADDRINUSE)
  }

  private static func tinyproxy(
    _ port: UInt16, _ folder: String, _ login: (user: String, password: String)?, _ ports: [UInt16]
  ) -> [String] {
    var lines = [
      "Port \(port)", "Listen 127.0.0.1", "Timeout 60", "Allow 127.0.0.1", "LogLevel Connect",
      "LogFile \"\(folder)/log\"",
    ]
    if let login { lines.append("BasicAuth \(login.user) \(login.password)") }
    return lines + ports.map { "ConnectPort \($0)" }
  }

  /// Everything in `folder`, without a cache. Section 11 of its debug log at level 2 has the heads of requests, at once;
  /// its access log has a tunnel only when it is closed.
  private static func squid(
    _ port: UInt16, _ folder: String, _ login: (user: String, password: String)?, _ ports: [UInt16], _ hosts: [String]
  ) throws -> [String] {
    var lines = [
      "http_port 127.0.0.1:\(port)", "pid_filename none", "coredump_dir \(folder)", "cache deny all",
      "access_log none", "cache_log \(folder)/log", "debug_options ALL,1 11,2", "logfile_rotate 0",
      "netdb_filename none", "pinger_enable off", "shutdown_lifetime 0 seconds", "dns_timeout 2 seconds",
    ]
    if let login {
      let hash = String(decoding: try OpenSSLCommand().run(["passwd", "-apr1", login.password]), as: UTF8.self)
      try Data("\(login.user):\(hash)".utf8).write(to: URL(filePath: "\(folder)/passwords"))
      lines += [
        "auth_param basic program \(squidPasswords) \(folder)/passwords", "acl known proxy_auth REQUIRED",
        "http_access deny !known",
      ]
    }
    if !hosts.isEmpty {
      try Data("127.0.0.1 \(hosts.joined(separator: " "))\n".utf8).write(to: URL(filePath: "\(folder)/hosts"))
      lines.append("hosts_file \(folder)/hosts")
    }
    if !ports.isEmpty {
      lines += ["acl open port \(ports.map(String.init).joined(separator: " "))", "http_access deny !open"]
    }
    return lines + ["http_access allow all"]
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
    try await waitUntil("the proxy listens") {
      if let socket = try? PlainSocket(address) {
        socket.close()
        isUp = true
      }
      return isUp || !process.isRunning
    }
    return isUp && process.isRunning
  }
}
