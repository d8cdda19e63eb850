import Foundation
import Glibc
import OpenSSL
import Reactor
import Synchronization

/// A server that tells what frames come, and answers only what a test wants answered: PINGs and requests.
final class FrameServer: Sendable {
  /// What came, each with the number of its connection, from 1.
  enum Event: Sendable, Equatable {
    case opened(Int)
    case ping(Int)
    case request(Int)
    case closed(Int)
  }

  /// What it answers.
  struct Manners: Sendable {
    var answersPings = true
    var answersRequests = true
    /// Requests are answered when this is over.
    var holdsAnswers = false
  }

  let events: AsyncStream<Event>
  let address: SocketAddress
  let manners = Mutex(Manners())
  private let news: AsyncStream<Event>.Continuation
  private let tls: TLSContext
  private let isStopped = Atomic(false)
  private let connections = Atomic(0)

  init(_ authority: TestAuthority) throws {
    (events, news) = AsyncStream.makeStream()
    tls = try TLSContext.server(identity: authority.identity(), alpn: ["h2"])
    let listener = try Socket.listen(on: SocketAddress(host: "127.0.0.1", port: 0).unsafelyUnwrapped)
    address = try Socket.localAddress(of: listener)
    Thread { [self] in
      defer { close(listener) }
      while waits(listener, POLLIN) {
        guard let (descriptor, _) = try? Socket.accept(listener) else { continue }
        let number = connections.add(1, ordering: .relaxed).newValue
        Thread { [self] in
          // However it ends, it has ended.
          try? serve(descriptor, number)
          close(descriptor)
          news.yield(.closed(number))
        }.start()
      }
    }.start()
  }

  /// Lets its threads end.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    news.finish()
  }

  /// Waits until a descriptor is ready; false: the server was stopped.
  ///
  /// - Parameter once: whether it waits a moment only.
  private func waits(_ descriptor: Int32, _ events: Int32, once: Bool = false) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while !isStopped.load(ordering: .relaxed) {
      if poll(&entry, 1, 20) > 0 { return true }
      if once { return false }
    }
    return false
  }

  private func serve(_ descriptor: Int32, _ number: Int) throws {
    let connection = try TLSConnection(tls, descriptor: descriptor)
    shaking: while true {
      switch try connection.handshake() {
      case .done: break shaking
      case .wantsRead: guard waits(descriptor, POLLIN) else { return }
      case .wantsWrite: guard waits(descriptor, POLLOUT) else { return }
      }
    }
    news.yield(.opened(number))
    func send(_ bytes: [UInt8]) throws {
      // A few bytes a time: the socket takes them.
      _ = try bytes.withUnsafeBytes { try connection.write(from: $0) }
    }
    // Streams to be answered.
    var held: [UInt32] = []
    func answer() throws {
      for stream in held { try send(RawClient.headers(stream, [(":status", "200")])) }
      held = []
    }
    try send(RawClient.frame(4, 0, 0, []))
    var received: [UInt8] = []
    var toSkip = 24  // the preface
    while true {
      var buffer = [UInt8](repeating: 0, count: 4096)
      switch try buffer.withUnsafeMutableBytes({ try connection.read(into: $0) }) {
      case .bytes(let count): received += buffer[..<count]
      case .wantsRead, .wantsWrite:
        while !waits(descriptor, POLLIN, once: true) {
          if isStopped.load(ordering: .relaxed) { return }
          if !self.manners.withLock({ $0.holdsAnswers }) { try answer() }
        }
        continue
      case .end: return
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
        let manners = manners.withLock { $0 }
        switch type {
        case 4 where flags & 1 == 0: try send(RawClient.frame(4, 1, 0, []))
        case 6 where flags & 1 == 0:
          news.yield(.ping(number))
          if manners.answersPings { try send(RawClient.frame(6, 1, 0, payload)) }
        case 1:
          news.yield(.request(number))
          if manners.answersRequests { held.append(stream) }
          if !manners.holdsAnswers { try answer() }
        default: break
        }
      }
    }
  }
}

/// A loop's clock that a test lets leap.
final class LeapingClock: Sendable {
  private let ahead = Atomic<UInt64>(0)

  @Sendable func now() -> UInt64 { EventLoop.now() + ahead.load(ordering: .relaxed) }

  /// Lets it leap; returns when the loop has done what was due by then.
  func leap(_ seconds: UInt64, on loop: EventLoop) async {
    ahead.add(seconds * 1_000_000_000, ordering: .relaxed)
    await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
  }
}
