import Foundation
import Glibc
import JSON
import OpenSSL
import Model
import Reactor
import Store
import TestSupport
import Text
import Testing

@testable import signalbox

/// The real server and clients that mean it no good.
@Suite("Limits of the server", .timeLimit(.minutes(4)))
struct ServerLimitTests {
  /// Starts `signalbox serve` in a box, and stops it on every path.
  private static func serve(
    _ box: CommandRunner, _ arguments: [String] = [], listen: String = "127.0.0.1:0", limits: String = "true",
    _ body: (Child, UInt16) async throws -> Void
  ) async throws {
    let child = try Child(
      [try Child.signalbox(), "serve", "--data", box.data, "--listen", listen] + arguments, in: box.folder,
      limits: limits)
    let result: Result<Void, any Error>
    do {
      try await eventually("signalbox serve listens") {
        guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
        // The log has a thread of its own: it may be ahead of what is printed.
        return child.errorText.contains("listening") && child.outputText.contains(" at http")
      }
      let line = try #require(child.outputText.split(separator: "\n").first)
      result = .success(try await body(child, try #require(line.split(separator: ":").last.flatMap { UInt16($0) })))
    } catch {
      result = .failure(error)
    }
    child.send(SIGTERM)
    #expect(await child.status() == 0)
    try result.get()
  }

  /// A figure of `/proc/PID/status` in bytes, as `VmHWM`, the most memory that there ever was.
  private static func memory(_ child: Child, _ name: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(try #require(child.pid))/status", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name):") })
    return try #require(line.split(separator: " ").dropLast().last.flatMap { Int($0) }) * 1024
  }

  /// Runs `body` on a thread of its own for each number, all at once.
  private static func atOnce<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
  ) async throws -> [Value] {
    let pool = BlockingPool(name: "client", threads: count)
    defer { pool.stop() }
    return try await withThrowingTaskGroup(of: Value.self) { group in
      for number in 0..<count { group.addTask { try await pool.run { try body(number) } } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test("plain HTTP that other machines reach is refused before anything is made, unless it is asked for")
  func plain() async throws {
    try await CommandRunner.with { box in
      let data = box.folder + "/new"
      let refused = await box.run("serve", "--listen", "0.0.0.0:0", "--data", data)
      #expect(refused.code == 64)
      for way in ["--tls-certificate", "--trusted-proxy", "--insecure"] { #expect(refused.errors.contains(way)) }
      #expect(!FileManager.default.fileExists(atPath: data))
    }
  }

  @Test("the first link names an address that a browser can open, also where the server listens on every address")
  func firstLink() async throws {
    try await CommandRunner.with { box in
      try await Self.serve(box, ["--insecure"], listen: "0.0.0.0:0") { child, port in
        #expect(child.outputText.contains("Signalbox \(Signalbox.version) at http://0.0.0.0:\(port)\n"))
        try await eventually("the first link") {
          child.outputText.contains("http://localhost:\(port)/session/setup?token=")
        }
      }
    }
  }

  @Test("the first link of a public address has its token in the fragment, which no proxy logs")
  func publicLink() async throws {
    try await CommandRunner.with { box in
      let address = "https://push.example.com"
      let child = try Child(
        [
          try Child.signalbox(), "serve", "--data", box.data, "--listen", "127.0.0.1:0", "--address", address,
        ], in: box.folder)
      try await eventually("the first link") {
        guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
        return child.outputText.contains("\(address)/session/setup") && child.errorText.contains("listening")
      }
      #expect(child.errorText.contains(/address=https:\/\/push\.example\.com listen=127\.0\.0\.1:[1-9]/), "for a proxy")
      #expect(child.outputText.contains("\(address)/session/setup#token="), "\(child.outputText)")
      child.send(SIGTERM)
      #expect(await child.status() == 0)
    }
  }

  @Test("with the JSON log every line is an object, also the address, the first link, warnings and errors")
  func lines() async throws {
    try await CommandRunner.with { box in
      let child = try Child(
        [
          try Child.signalbox(), "serve", "--data", box.data, "--listen", "0.0.0.0:0", "--insecure", "--log-format",
          "json",
        ], in: box.folder)
      try await eventually("serve says where it is and warns") {
        guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
        return child.outputText.contains("/session/setup") && child.errorText.contains("--insecure")
      }
      func objects(_ text: String) throws -> [JSONValue] {
        // The last line may be under way.
        try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
          .map { try JSONValue(parsing: Array($0.utf8)) }
      }
      let said = try objects(child.outputText)
      #expect(said.map { $0["message"]?.string?.split(separator: ",").first } == ["serving", "to start"])
      let addresses = said.compactMap { $0["address"]?.string }
      let port = addresses.first?.split(separator: ":").last ?? ""
      #expect(addresses.first == "http://0.0.0.0:\(port)")
      #expect(addresses.last?.hasPrefix("http://localhost:\(port)/session/setup?token=") == true)
      #expect(
        try objects(child.errorText).contains { line in
          line["level"] == "warning" && line["message"]?.string?.contains("--insecure") == true
        })
      // The folder is in use.
      let second = try Child(
        [try Child.signalbox(), "serve", "--data", box.data, "--listen", "127.0.0.1:0", "--log-format", "json"],
        in: box.folder)
      #expect(await second.status() == 1)
      #expect(try objects(second.errorText).map { $0["level"]?.string } == ["error"], "\(second.errorText)")
      let misused = await box.run("serve", "--listen", "0.0.0.0:0", "--log-format", "json")
      #expect(misused.code == 64)
      #expect(try objects(misused.errors).map { $0["level"]?.string } == ["error"], "\(misused.errors)")
      child.send(SIGTERM)
      #expect(await child.status() == 0)
    }
  }

  @Test("/metrics counts the connections that are open")
  func connections() async throws {
    try await CommandRunner.with { box in
      try await Self.serve(box, ["--metrics-open"]) { _, port in
        let idle = try TestClient(port)
        let first = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        #expect(idle.ask(first, until: "ok").status == 200)
        let answer = try TestClient(port).ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.text.contains("\nsignalbox_http_connections 2\n"), "\(answer.text)")
      }
    }
  }

  @Test("25 strangers who send 60 MiB each take no memory, on pages and API; what is read over ends soon")
  func strangers() async throws {
    try await CommandRunner.with { box in
      try await Self.serve(box) { child, port in
        let size = 60 << 20
        let asks = [
          ("POST /devices/import", "Content-Type: multipart/form-data; boundary=x"),
          ("POST /session", "Content-Type: application/x-www-form-urlencoded"),
          ("POST /certificates", "Content-Type: multipart/form-data; boundary=x"),
          ("POST /api/v1/devices/import", "Content-Type: text/csv"),
          ("POST /api/v1/devices/import", "Content-Type: text/csv\r\nAuthorization: Bearer sbx_wrong"),
        ]
        _ = try TestClient(port).ask("GET /session/new HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let before = try Self.memory(child, "VmRSS")
        let results = try await Self.atOnce(25) { number in
          let (line, fields) = asks[number % asks.count]
          let client = try TestClient(port)
          client.send("\(line) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\nTransfer-Encoding: chunked\r\n\r\n")
          let piece = Array("10000\r\n".utf8) + [UInt8](repeating: 0x61, count: 65_536) + Array("\r\n".utf8)
          var sent = 0
          while sent < size, client.send(piece) { sent += piece.count }
          return (client.receiveAll(), sent)
        }
        for (answer, sent) in results {
          #expect([303, 401, 403].contains(answer.status), "\(answer.text.prefix(100))")
          // What the kernel holds on both sides.
          #expect(sent < size / 3, "\(sent) bytes were taken")
        }
        let grown = try Self.memory(child, "VmHWM") - before
        #expect(grown < 40 << 20, "\(grown / 1024) KiB more for 25 × 60 MiB")
      }
    }
  }

  @Test(
    "a list of devices is registered while it comes: four of 8 MiB at once take no memory to speak of",
    .enabled(
      if: ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil,
      "AddressSanitizer keeps what is freed for a while."))
  func streamed() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let store = try DataDirectory(box.data).open(now: Date())
      try await store.write { database in
        try User.add(database, name: "ben@example.com", role: .operator, passwordHash: nil, now: Date())
        let user = try #require(try User.find(database, name: "ben@example.com"))
        try Session.open(
          database, idHash: Secret.hash("cookie"), user: user.id, csrf: "token-of-the-session", lifetime: 3600,
          now: Date())
      }
      store.close()
      try await Self.serve(box) { child, port in
        _ = try TestClient(port).ask(
          "GET /devices/import HTTP/1.1\r\nHost: localhost\r\nCookie: signalbox_session=cookie\r\nConnection: close\r\n\r\n"
        )
        let before = try Self.memory(child, "VmRSS")
        let answers = try await Self.atOnce(4) { _ in
          let client = try TestClient(port)
          let part = "--x\r\nContent-Disposition: form-data; name="
          let start = Array(
            (part + "csrf\r\n\r\ntoken-of-the-session\r\n" + part + "file; filename=d.csv\r\n\r\n"
              + "app,environment,platform,token\n").utf8)
          let end = Array("\r\n--x--\r\n".utf8)
          let blank = [UInt8](repeating: 0x0A, count: 65_536)
          client.send(
            "POST /devices/import HTTP/1.1\r\nHost: localhost\r\nCookie: signalbox_session=cookie\r\n"
              + "Content-Type: multipart/form-data; boundary=x\r\nConnection: close\r\n"
              + "Content-Length: \(start.count + 128 * blank.count + end.count)\r\n\r\n")
          client.send(start)
          for _ in 0..<128 { client.send(blank) }
          client.send(end)
          return client.receiveAll()
        }
        // Each leads to the page that says what became of it.
        for answer in answers { #expect(answer.status == 303, "\(answer.text.prefix(200))") }
        let grown = try Self.memory(child, "VmHWM") - before
        #expect(grown < 24 << 20, "\(grown / 1024) KiB more for 4 × 8 MiB")
      }
    }
  }

  @Test("idle connections give way to newcomers, the soft limit of descriptors is raised, and the log says so")
  func idle() async throws {
    try await CommandRunner.with { box in
      // As on Debian: a soft limit far below the hard one.
      try await Self.serve(box, ["--max-connections", "300"], limits: "ulimit -S -n 128") { child, port in
        let limits = try String(contentsOfFile: "/proc/\(try #require(child.pid))/limits", encoding: .utf8)
        let files = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        #expect(files.split(separator: " ").compactMap { Int($0) }.first == 300 + 256)
        var clients: [TestClient] = []
        for number in 0..<400 { clients.append(try TestClient(port, from: "127.0.0.\(1 + number % 3)")) }
        let answer = try TestClient(port, from: "127.0.0.9").ask(
          "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.status == 200)
        withExtendedLifetime(clients) {}
        try await eventually("the log says so") { child.errorText.contains("all connections are in use") }
      }
    }
  }

  @Test("fewer descriptors than connections: fewer connections, and a warning")
  func hardLimit() async throws {
    try await CommandRunner.with { box in
      try await Self.serve(box, limits: "ulimit -n 400") { child, port in
        #expect(child.errorText.contains("fewer connections than configured") && child.errorText.contains("200"))
        var clients: [TestClient] = []
        for _ in 0..<500 { clients.append(try TestClient(port)) }
        let answer = try TestClient(port).ask(
          "GET /css/signalbox.css HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.status == 200)
        withExtendedLifetime(clients) {}
        try await eventually("the log says so") {
          child.errorText.contains("one address holds half of all connections")
        }
      }
    }
  }

  @Test("too few descriptors for a server: it ends, and names the limit instead of another address")
  func tooFew() async throws {
    try await CommandRunner.with { box in
      let child = try Child(
        [try Child.signalbox(), "serve", "--data", box.data, "--listen", "127.0.0.1:0"], in: box.folder,
        limits: "ulimit -n 40", seconds: 30)
      #expect(await child.status() == 1)
      #expect(child.errorText.contains("may have only 40 open files") && child.errorText.contains("ulimit -n 1024"))
      #expect(!child.errorText.contains("--listen"), "\(child.errorText)")
    }
  }

  @Test(
    "a start that fails names what helps: another address only if the address is taken or forbidden",
    arguments: [
      ("bind 127.0.0.1:8080", EADDRINUSE, "--listen"), ("bind 0.0.0.0:80", EACCES, "--listen"),
      ("open data/signalbox.sqlite", EACCES, "--data"), ("open data", EROFS, "--data"),
      ("socket", EMFILE, "ulimit -n"), ("open", EMFILE, "ulimit -n"), ("accept4", ENFILE, "fs.file-max"),
      ("fsync data", EIO, "Input/output error"),
    ])
  func start(call: String, number: Int32, remedy: String) {
    let error = SystemError(call, number: number)
    let text = CommandFailure.start(error, otherAddress: "\(error). Choose another address with --listen.").description
    #expect(text.hasPrefix("\(error)") && text.contains(remedy), "\(text)")
    #expect(text.contains("--listen") == (remedy == "--listen"), "\(text)")
  }

  @Test("while descriptors are out a file is not “not found”, and a newcomer hears that he may come again")
  func withoutDescriptors() async throws {
    try await CommandRunner.with { box in
      try await Self.serve(box) { child, port in
        let pid = try #require(child.pid)
        // Afterwards it gives back the descriptors of the check.
        try await eventually("the start is over") { child.errorText.contains("the database was checked") }
        let first = try TestClient(port)
        #expect(first.ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", until: "ok\n").status == 200)
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) }
        // Nothing below is free, and nothing above may be used.
        let lowest = try #require((0...).first { !open.contains($0) })
        try await Child.run("prlimit", ["--pid", "\(pid)", "--nofile=\(lowest):"], in: box.folder)
        let file = first.ask("GET /css/signalbox.css HTTP/1.1\r\nHost: localhost\r\n\r\n", until: "</html>")
        #expect(file.status == 503 && file.text.contains("\r\nRetry-After: 5\r\n"))
        // The first waits, and gives way.
        let second = try TestClient(port)
        #expect(second.ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", until: "ok\n").status == 200)
        #expect(first.receiveAll().text.isEmpty)
        // Its head is complete, its body is waited for: it does not give way.
        let form = "GET /session/new HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let page = second.ask(form, until: "</html>").text
        let token = try #require(page.split(separator: "signalbox_form=").last?.prefix { $0 != ";" })
        second.send(
          "POST /session HTTP/1.1\r\nHost: localhost\r\nCookie: signalbox_form=\(token)\r\nContent-Length: 9\r\n"
            + "Content-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\n\r\n")
        #expect(second.ask("", until: "\r\n\r\n").status == 100)
        let third = try TestClient(port).ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(third.status == 503 && third.text.contains("\r\nRetry-After: 5\r\n"))
        try await eventually("the log says so") { child.errorText.contains("no file descriptors left") }
        try await Child.run("prlimit", ["--pid", "\(pid)", "--nofile=1024:"], in: box.folder)
        let fourth = try TestClient(port).ask(
          "GET /css/signalbox.css HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(fourth.status == 200)
      }
    }
  }
}

/// A connection to a server on this machine that closes with its last use. Its calls wait, for at most a minute.
final class TestClient: Sendable {
  struct Answer: Sendable {
    let text: String
    /// 0: no answer.
    var status: Int { text.hasPrefix("HTTP/1.1 ") ? Int(text.dropFirst(9).prefix(3)) ?? 0 : 0 }
  }

  private let socket: PlainSocket

  init(_ port: UInt16, from source: String = "127.0.0.1") throws {
    guard let address = SocketAddress(host: "127.0.0.1", port: port), let own = SocketAddress(host: source, port: 0)
    else { throw SceneError("\(source) is no address") }
    socket = try PlainSocket(address, from: own, seconds: 60)
  }

  deinit { socket.close() }

  /// False once the server has closed or reset.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool { socket.send(bytes) }

  @discardableResult
  func send(_ text: String) -> Bool { socket.send(text) }

  /// Everything until `end` has come, or the server closes.
  func ask(_ text: String, until end: String? = nil) -> Answer {
    send(text)
    return Answer(text: socket.text(until: end))
  }

  /// Everything until the server closes.
  func receiveAll() -> Answer { ask("") }
}
