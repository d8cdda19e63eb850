import Foundation
import Glibc
import Reactor
import Synchronization
import TestSupport
import Testing

@testable import signalbox

/// What systemd passes and hears.
@Suite("The service manager", .timeLimit(.minutes(3)))
struct ServiceManagerTests {
  /// The receiving end of `NOTIFY_SOCKET`.
  private final class NotifySocket: Sendable {
    let name: String
    private let descriptor: Int32

    /// - Parameter name: a path, or `@` and an abstract name.
    init(_ name: String) throws {
      self.name = name
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { throw SystemError("socket") }
      var limit = timeval(tv_sec: 60, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      let address = try #require(UnixAddress(name))
      guard address.with({ bind(descriptor, $0, $1) }) == 0 else { throw SystemError("bind \(name)") }
    }

    deinit { close(descriptor) }

    /// The next message; nil if none comes within a minute.
    func next() -> String? {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
  }

  @Test("without one nothing is passed and nobody is told")
  func nobody() throws {
    for environment in [
      [:], ["LISTEN_FDS": "1"], ["LISTEN_FDS": "1", "LISTEN_PID": "1"], ["LISTEN_FDS": "0", "LISTEN_PID": "42"],
      ["NOTIFY_SOCKET": "", "WATCHDOG_USEC": "nonsense"], ["WATCHDOG_USEC": "20", "WATCHDOG_PID": "41"],
    ] {
      let manager = try ServiceManager(environment, processID: 42)
      #expect(manager.listener == nil && manager.watchdog == nil)
      manager.isReady("Serving")
    }
    let passed = try ServiceManager(["LISTEN_FDS": "1", "LISTEN_PID": "42", "WATCHDOG_USEC": "3000000"], processID: 42)
    #expect(passed.listener == 3 && passed.watchdog == .seconds(3))
    #expect(throws: CommandFailure.self) {
      try ServiceManager(["LISTEN_FDS": "2", "LISTEN_PID": "42"], processID: 42)
    }
  }

  @Test("it hears of readiness, reload and end, under a path and under an abstract name", arguments: [false, true])
  func told(isAbstract: Bool) throws {
    let name = UUID().uuidString
    let path = FileManager.default.temporaryDirectory.path + "/\(name.prefix(8)).notify"
    defer { unlink(path) }
    let socket = try NotifySocket(isAbstract ? "@signalbox-\(name)" : path)
    let manager = try ServiceManager(["NOTIFY_SOCKET": socket.name])
    manager.isReady("Serving at http://127.0.0.1:8080")
    #expect(socket.next() == "READY=1\nSTATUS=Serving at http://127.0.0.1:8080")
    manager.isReloading()
    let reloading = try #require(socket.next())
    #expect(reloading.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=\d+/) != nil)
    manager.isStopping()
    #expect(socket.next()?.hasPrefix("STOPPING=1\n") == true)
  }

  @Test("the watchdog hears of each turn, and of nothing while a part hangs")
  func watchdog() async throws {
    let socket = try NotifySocket("@signalbox-\(UUID().uuidString)")
    let manager = try ServiceManager(["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "2000"])
    let turns = Mutex(0)
    let (hung, hang) = AsyncStream.makeStream(of: Void.self)
    let watch = Task {
      await manager.watch {
        let turn = turns.withLock { turns in
          turns += 1
          return turns
        }
        guard turn > 3 else { return }
        // The fourth turn says so before it hangs: whatever was told until now is all there will be.
        manager.isStopping()
        for await _ in hung {}
      }
    }
    for _ in 1...3 { #expect(socket.next() == "WATCHDOG=1") }
    #expect(socket.next()?.hasPrefix("STOPPING=1") == true)
    watch.cancel()
    hang.finish()
    await watch.value
  }

  /// Passes a listening socket as descriptor 3, and becomes the program, as systemd does.
  private static let passing = """
    import os, socket, sys
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    print("port", listener.getsockname()[1], flush=True)
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), NOTIFY_SOCKET=sys.argv[1], WATCHDOG_USEC="200000")
    os.execv(sys.argv[2], sys.argv[2:])
    """

  @Test("the program serves a socket that was passed, also who came before it was ready")
  func passedSocket() async throws {
    try await CommandRunner.with { box in
      let notify = try NotifySocket("@signalbox-\(UUID().uuidString)")
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
      let serve = try Child(
        [
          "python3", "-c", Self.passing, notify.name, try Child.signalbox(), "serve", "--data", box.data, "--resources",
          root, "--listen", "127.0.0.1:1",
        ], in: box.folder)
      defer { serve.send(SIGKILL) }
      try await eventually("the port is known") { serve.outputText.contains("port ") }
      let port = try #require(serve.outputText.firstMatch(of: /port (\d+)/).flatMap { UInt16($0.1) })
      let client = try PlainSocket(try #require(SocketAddress(host: "127.0.0.1", port: port)), seconds: 60)
      defer { client.close() }
      client.send(Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
      #expect(notify.next() == "READY=1\nSTATUS=Serving at http://127.0.0.1:\(port)")
      #expect(client.text().hasPrefix("HTTP/1.1 200 OK"))
      #expect(notify.next() == "WATCHDOG=1")
      serve.send(SIGTERM)
      var last = notify.next()
      while last == "WATCHDOG=1" { last = notify.next() }
      #expect(last?.hasPrefix("STOPPING=1") == true)
      #expect(await serve.status() == 0, "\(serve.errorText)")
    }
  }
}
