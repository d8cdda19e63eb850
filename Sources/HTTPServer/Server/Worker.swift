import Foundation
import Glibc
import Reactor
import Synchronization

/// How many connections a server has, over all its loops.
final class ConnectionCount: Sendable {
  private let number = Atomic<Int>(0)

  var current: Int { number.load(ordering: .relaxed) }
  func add(_ change: Int) { number.add(change, ordering: .relaxed) }
}

/// One event loop's share of a server: its connections, its lent buffers, its clock.
///
/// @unchecked Sendable because: everything mutable is touched on the loop's thread only.
final class Worker: @unchecked Sendable {
  let loop: EventLoop
  let configuration: ServerConfiguration
  let responder: any Responder
  let count: ConnectionCount
  /// Nanoseconds on the loop's clock when it last woke up for something.
  private(set) var now: UInt64 = 0
  private(set) var isStopping = false
  private var connections: [Connection] = []
  private var buffers: [Buffer] = []
  private var encoders: [GzipEncoder] = []
  private var numbers = RequestNumber.random()
  private var sweepIsPlanned = false
  private var whenEmpty: (@Sendable () -> Void)?
  private var dateSecond = 0
  private var dateField: [UInt8] = []

  init(configuration: ServerConfiguration, responder: any Responder, count: ConnectionCount, number: Int) throws {
    loop = try EventLoop(name: "http-\(number)")
    self.configuration = configuration
    self.responder = responder
    self.count = count
  }

  func touchClock() { now = EventLoop.now() }

  func nextNumber() -> UInt64 { RequestNumber.next(after: &numbers) }

  /// `Date: …` and its line end, written anew once a second.
  var date: [UInt8] {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    if time.tv_sec != dateSecond {
      dateSecond = time.tv_sec
      dateField = Array("Date: \(HTTPDate.format(dateSecond))\r\n".utf8)
    }
    return dateField
  }

  // MARK: Buffers

  func takeBuffer() -> Buffer { buffers.popLast() ?? Buffer() }

  func giveBack(_ buffer: Buffer) {
    buffer.consume(buffer.count)
    if buffers.count < 32, buffer.capacity <= 4 * Buffer.usualCapacity { buffers.append(buffer) }
  }

  // MARK: Compression

  /// Nil without memory.
  func takeEncoder() -> GzipEncoder? { encoders.popLast() ?? GzipEncoder(level: GzipEncoder.quick) }

  /// An encoder holds a quarter of a megabyte: few are kept.
  func giveBack(_ encoder: GzipEncoder) { if encoders.count < 4 { encoders.append(encoder) } }

  // MARK: Connections

  /// Takes over an accepted socket.
  func add(_ descriptor: Int32, from address: SocketAddress?, isRefused: Bool) {
    touchClock()
    guard let transport = transport(descriptor) else {
      close(descriptor)
      count.add(-1)
      return
    }
    let connection = Connection(worker: self, transport: transport, remoteAddress: address)
    connection.index = connections.count
    connections.append(connection)
    guard !isStopping else { return connection.close() }
    connection.open(isRefused: isRefused)
    planSweep()
  }

  private func transport(_ descriptor: Int32) -> Transport? {
    guard let context = configuration.tls else { return .plain(PlainTransport(descriptor: descriptor)) }
    // It fails only without memory: then this connection is the least trouble.
    return (try? TLSTransport(context, descriptor: descriptor)).map { .tls($0) }
  }

  func remove(_ connection: Connection) {
    let last = connections.removeLast()
    if last !== connection {
      last.index = connection.index
      connections[connection.index] = last
    }
    count.add(-1)
    if isStopping, connections.isEmpty { finishStop() }
  }

  /// Time-outs are looked at together, now and then: a timer for each would have to be moved with each request.
  private func planSweep() {
    guard !sweepIsPlanned, !connections.isEmpty else { return }
    sweepIsPlanned = true
    loop.schedule(after: sweepInterval) { [weak self] in
      guard let self else { return }
      sweepIsPlanned = false
      touchClock()
      // A copy: connections that close leave the list.
      for connection in connections { connection.checkTime() }
      planSweep()
    }
  }

  private var sweepInterval: Duration {
    let shortest = min(
      configuration.headerTimeout, configuration.bodyTimeout, configuration.idleTimeout, configuration.writeTimeout,
      configuration.lingerTimeout, configuration.heartbeat)
    return max(.milliseconds(5), min(.milliseconds(250), shortest / 8))
  }

  // MARK: Stopping

  /// Closes what is idle and lets the rest finish; `done` is called when nothing is left.
  func beginStop(_ done: @escaping @Sendable () -> Void) {
    isStopping = true
    whenEmpty = done
    touchClock()
    for connection in connections { connection.serverStops() }
    if connections.isEmpty { finishStop() }
  }

  /// Breaks off what has not finished.
  func forceStop() {
    touchClock()
    for connection in connections { connection.breakOff() }
  }

  private func finishStop() {
    let done = whenEmpty
    whenEmpty = nil
    done?()
  }
}
