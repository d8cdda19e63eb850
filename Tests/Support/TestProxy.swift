internal import Foundation
internal import Glibc
package import Reactor
internal import Synchronization

/// A tiny HTTP proxy on a free port of this machine, whose answer to CONNECT a test decides.
package final class TestProxy: Sendable {
  package enum Conduct: Sendable {
    /// Connects to this port of this machine, whatever host is asked for.
    case connects(to: UInt16)
    /// Answers this, and closes.
    case says(String)
    /// Connects, and answers this in place of its own words.
    case connectsSaying(String, to: UInt16)
    /// Closes without an answer.
    case closes
    /// Never answers.
    case keepsSilent
  }

  private struct State {
    var requests: [String] = []
    var sockets: Set<Int32> = []
    var isClosed = false
  }

  package let port: UInt16
  private let listener: Int32
  private let conduct: Conduct
  private let state = Mutex(State())

  package init(_ conduct: Conduct) throws {
    self.conduct = conduct
    guard let address = SocketAddress("127.0.0.1:0") else { throw SystemError("socket") }
    listener = try Socket.listen(on: address)
    port = try Socket.localAddress(of: listener).port
    _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
    Thread.detachNewThread { [self] in accept() }
  }

  /// Runs `body` with a proxy, and closes it on every path.
  package static func with(_ conduct: Conduct, _ body: (TestProxy) async throws -> Void) async throws {
    let proxy = try TestProxy(conduct)
    defer { proxy.close() }
    try await body(proxy)
  }

  /// The heads of the requests so far.
  package var requests: [String] { state.withLock { $0.requests } }

  /// A client's setting for this proxy.
  package func server(user: String? = nil, password: String? = nil) -> ProxyServer {
    ProxyServer(host: "127.0.0.1", port: port, user: user, password: password)
  }

  /// Ends everything; its threads end with their sockets.
  package func close() {
    state.withLock { state in
      state.isClosed = true
      for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { break }
      keep(client)
      Thread.detachNewThread { [self] in
        serve(client)
        drop(client)
      }
    }
    Glibc.close(listener)
  }

  private func keep(_ socket: Int32) {
    state.withLock { state in
      state.sockets.insert(socket)
      if state.isClosed { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  private func drop(_ socket: Int32) {
    state.withLock { state in
      state.sockets.remove(socket)
      Glibc.close(socket)
    }
  }

  private func serve(_ client: Int32) {
    var head: [UInt8] = []
    var byte = [UInt8](repeating: 0, count: 1)
    while !String(decoding: head, as: UTF8.self).hasSuffix("\r\n\r\n") {
      guard read(client, &byte, 1) == 1 else { return }
      head += byte
    }
    state.withLock { $0.requests.append(String(decoding: head, as: UTF8.self)) }
    switch conduct {
    case .connects(let port): relay(client, port, "HTTP/1.1 200 Connection established\r\n\r\n")
    case .connectsSaying(let words, let port): relay(client, port, words)
    case .says(let words): Self.write(Array(words.utf8), to: client)
    case .closes: break
    case .keepsSilent: while read(client, &byte, 1) == 1 {}
    }
  }

  private func relay(_ client: Int32, _ port: UInt16, _ words: String) {
    // A socket whose calls wait.
    guard let address = SocketAddress("127.0.0.1:\(port)"), let server = try? PlainSocket(address) else {
      Self.write(Array("HTTP/1.1 502 Bad Gateway\r\n\r\n".utf8), to: client)
      return
    }
    keep(server.descriptor)
    Self.write(Array(words.utf8), to: client)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      Self.copy(server.descriptor, client)
      ended.signal()
    }
    Self.copy(client, server.descriptor)
    ended.wait()
    drop(server.descriptor)
  }

  private static func copy(_ from: Int32, _ to: Int32) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(from, &bytes, bytes.count)
      guard count > 0, write(Array(bytes[..<count]), to: to) else { break }
    }
    shutdown(to, Int32(SHUT_RDWR))
    shutdown(from, Int32(SHUT_RDWR))
  }

  @discardableResult
  private static func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }
}
