import Foundation
import Glibc
import Synchronization

/// A TCP relay on loopback that can go deaf: connections stay open, and what is written to them goes nowhere, as when
/// a firewall forgets them.
final class Proxy: Sendable {
  private struct State {
    var sockets: Set<Int32> = []
    var isDeaf = false
    var isClosed = false
    var swallowed = 0
    var connections = 0
  }

  let port: UInt16
  private let listener: Int32
  private let target: UInt16
  private let state = Mutex(State())

  /// Listens on a free port, and relays to another port of this machine.
  init(to target: UInt16) throws {
    self.target = target
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isBound else { throw SceneError("no proxy: errno \(errno)") }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in accept() }
  }

  /// Whether bytes are swallowed, of connections that are there and of those to come.
  var isDeaf: Bool {
    get { state.withLock { $0.isDeaf } }
    set { state.withLock { $0.isDeaf = newValue } }
  }

  /// Bytes that went nowhere.
  var swallowed: Int { state.withLock { $0.swallowed } }
  /// Connections that were made to it.
  var connections: Int { state.withLock { $0.connections } }

  /// Ends everything; its threads end with their sockets.
  func close() {
    state.withLock { state in
      state.isClosed = true
      for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { break }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.address(target)
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected, keep(client, server) else {
        Glibc.close(client)
        Glibc.close(server)
        continue
      }
      let pair = Pair(self, client, server)
      Thread.detachNewThread { self.relay(client, server, pair) }
      Thread.detachNewThread { self.relay(server, client, pair) }
    }
    Glibc.close(listener)
  }

  private func keep(_ client: Int32, _ server: Int32) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.connections += 1
      state.sockets.formUnion([client, server])
      return true
    }
  }

  private func relay(_ from: Int32, _ to: Int32, _ pair: Pair) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(from, &bytes, bytes.count)
      guard count > 0 else { break }
      let isDeaf = state.withLock { state in
        if state.isDeaf { state.swallowed += count }
        return state.isDeaf
      }
      // Once something is missing, what follows would be garbage: the connection stays deaf.
      if isDeaf { pair.isDeaf = true }
      if pair.isDeaf { continue }
      var sent = 0
      while sent < count {
        let written = bytes[sent..<count].withUnsafeBytes {
          send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard written > 0 else { break }
        sent += written
      }
      guard sent == count else { break }
    }
    // The end of one way is told to both, unless nobody is to hear anything.
    if !pair.isDeaf { shutdown(to, Int32(SHUT_RDWR)) }
    shutdown(from, Int32(SHUT_RDWR))
    withExtendedLifetime(pair) {}
  }

  /// Two sockets, closed when neither way needs them any more.
  private final class Pair: Sendable {
    private let proxy: Proxy
    private let sockets: [Int32]
    private let deaf = Mutex(false)

    var isDeaf: Bool {
      get { deaf.withLock { $0 } }
      set { deaf.withLock { $0 = newValue } }
    }

    init(_ proxy: Proxy, _ client: Int32, _ server: Int32) {
      self.proxy = proxy
      sockets = [client, server]
    }

    deinit {
      proxy.state.withLock { state in
        for socket in sockets {
          state.sockets.remove(socket)
          Glibc.close(socket)
        }
      }
    }
  }
}
