import Foundation
import Glibc
import OpenSSL
import Reactor
import Synchronization
import Testing

/// What a server does in place of answering.
struct Misdeed: Sendable, CustomTestStringConvertible {
  enum End: Sendable {
    /// Keeps the connection, and says nothing more.
    case silence
    /// Closes it in good order.
    case close
    /// Closes it with a TCP reset.
    case reset
  }

  let testDescription: String
  /// Nil: no TLS at all.
  var alpn: [String]? = ["h2"]
  var identity: @Sendable (TestAuthority) throws -> TLSIdentity = { try $0.identity() }
  /// Sent at once: before TLS where there is none, otherwise after it.
  var greeting: [UInt8] = RawClient.frame(4, 0, 0, [])
  /// Sent for each request.
  var answer: @Sendable (_ stream: UInt32) -> [UInt8] = { _ in [] }
  /// After the greeting, or after the first answer.
  var end: (isAtOnce: Bool, how: End) = (false, .silence)
  /// Whether the client must wait for a time-out.
  var takesTime = false

  /// Whether the client takes the connection for open.
  var opens: Bool { alpn == ["h2"] && !greeting.isEmpty }

  init(_ name: String, _ change: (inout Misdeed) -> Void = { _ in }) {
    testDescription = name
    change(&self)
  }
}

/// A server of misdeeds on threads that may block. It counts connections and requests.
final class RudeServer: Sendable {
  struct Counts: Sendable {
    var connections = 0
    var requests = 0
  }

  let address: SocketAddress
  let counts = Mutex(Counts())
  /// Nil: it behaves well.
  let misdeed: Mutex<Misdeed?>
  private let authority: TestAuthority
  private let isStopped = Atomic(false)

  init(_ misdeed: Misdeed, _ authority: TestAuthority) throws {
    self.authority = authority
    self.misdeed = Mutex(misdeed)
    let listener = try Socket.listen(on: SocketAddress(host: "127.0.0.1", port: 0).unsafelyUnwrapped)
    address = try Socket.localAddress(of: listener)
    Thread { [self] in
      defer { close(listener) }
      while waits(listener, POLLIN) {
        guard let (descriptor, _) = try? Socket.accept(listener) else { continue }
        counts.withLock { $0.connections += 1 }
        Thread { [self] in
          // However it ends, it has ended.
          let end = (try? serve(descriptor)) ?? .close
          // POLLRDHUP, which is not imported.
          if end == .silence { while waits(descriptor, 0x2000), !isGone(descriptor) {} }
          if end == .reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
          }
          close(descriptor)
        }.start()
      }
    }.start()
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  private func waits(_ descriptor: Int32, _ events: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while !isStopped.load(ordering: .relaxed) { if poll(&entry, 1, 20) > 0 { return true } }
    return false
  }

  /// Reads what came and nobody wants.
  private func isGone(_ descriptor: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno != EAGAIN)
  }

  private func serve(_ descriptor: Int32) throws -> Misdeed.End {
    let misdeed = misdeed.withLock { $0 }
    guard let alpn = misdeed.map(\.alpn) ?? ["h2"] else {
      let greeting = misdeed?.greeting ?? []
      _ = greeting.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      return misdeed?.end.how ?? .close
    }
    let identity = try misdeed?.identity(authority) ?? authority.identity()
    let tls = try TLSConnection(.server(identity: identity, alpn: alpn), descriptor: descriptor)
    shaking: while true {
      switch try tls.handshake() {
      case .done: break shaking
      case .wantsRead: guard waits(descriptor, POLLIN) else { return .close }
      case .wantsWrite: guard waits(descriptor, POLLOUT) else { return .close }
      }
    }
    func send(_ bytes: [UInt8]) throws {
      var rest = bytes[...]
      while !rest.isEmpty {
        switch try rest.withUnsafeBytes({ try tls.write(from: $0) }) {
        case .bytes(let count): rest = rest.dropFirst(count)
        case .wantsRead: guard waits(descriptor, POLLIN) else { return }
        case .wantsWrite: guard waits(descriptor, POLLOUT) else { return }
        case .end: return
        }
      }
    }
    func finish(_ how: Misdeed.End) -> Misdeed.End {
      if how == .close { tls.shutdown() }
      return how
    }
    try send(misdeed?.greeting ?? RawClient.frame(4, 0, 0, []))
    if let end = misdeed?.end, end.isAtOnce { return finish(end.how) }
    var received: [UInt8] = []
    var toSkip = 24  // the preface
    while true {
      var buffer = [UInt8](repeating: 0, count: 4096)
      switch try buffer.withUnsafeMutableBytes({ try tls.read(into: $0) }) {
      case .bytes(let count): received += buffer[..<count]
      case .wantsRead:
        guard waits(descriptor, POLLIN) else { return .close }
        continue
      case .wantsWrite:
        guard waits(descriptor, POLLOUT) else { return .close }
        continue
      case .end: return .close
      }
      if toSkip > 0, received.count >= toSkip {
        received.removeFirst(toSkip)
        toSkip = 0
      }
      while toSkip == 0, received.count >= 9 {
        let size = Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2])
        guard received.count >= 9 + size else { break }
        let (type, flags) = (received[3], received[4])
        let stream = received[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let payload = Array(received[9..<9 + size])
        received.removeFirst(9 + size)
        guard let misdeed else {
          switch type {
          case 4 where flags & 1 == 0: try send(RawClient.frame(4, 1, 0, []))
          case 6 where flags & 1 == 0: try send(RawClient.frame(6, 1, 0, payload))
          case 1:
            counts.withLock { $0.requests += 1 }
            try send(RawClient.headers(stream, [(":status", "200")]))
          default: break
          }
          continue
        }
        guard type == 1 else { continue }
        counts.withLock { $0.requests += 1 }
        try send(misdeed.answer(stream))
        if misdeed.end.how != .silence { return finish(misdeed.end.how) }
      }
    }
  }
}
