import Calendar
import Foundation
import Glibc
import Reactor

/// One event loop's share of a server: its connections, buffers and clock.
///
/// @unchecked Sendable because mutable state is touched on the loop's thread only.
final class Worker: @unchecked Sendable {
  let loop: EventLoop
  let configuration: ServerConfiguration
  let router: Router
  let count: ConnectionCount
  /// Nil: requests run as they arrive.
  let turns: Turns?
  /// The configuration's, in nanoseconds.
  let timeouts: Timeouts
  private let tls: TLSSettings
  private let alarm: Alarm
  /// Nanoseconds of the loop's clock at its last wake-up.
  private(set) var now: UInt64 = 0
  private(set) var isStopping = false
  private var connections: [Connection] = []
  // Touched by every request, on the loop's thread: nothing can overlap.
  @exclusivity(unchecked) private var buffers: [Buffer] = []
  private var encoders: [GzipEncoder] = []
  @exclusivity(unchecked) private var numbers = RequestNumber.random()
  private var sweepIsPlanned = false
  private var whenEmpty: (@Sendable () -> Void)?
  private var dateSecond = 0
  private var dateField: [UInt8] = []

  init(
    configuration: ServerConfiguration, router: Router, tls: TLSSettings, count: ConnectionCount,
    alarm: Alarm, number: Int
  ) throws {
    let loop = try EventLoop(name: "http-\(number)")
    self.loop = loop
    turns = configuration.requestsOfClient.map { Turns(loop: loop, limit: $0) }
    self.configuration = configuration
    timeouts = Timeouts(configuration)
    self.router = router
    self.tls = tls
    self.count = count
    self.alarm = alarm
  }

  func touchClock() { now = EventLoop.now() }

  func nextNumber() -> UInt64 { RequestNumber.next(after: &numbers) }

  /// The `Date` line, formatted once a second.
  var date: [UInt8] {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    if time.tv_sec != dateSecond {
      dateSecond = time.tv_sec
      dateField = Array("Date: \(HTTPDate.format(dateSecond))\r\n".utf8)
    }
    return dateField
  }

  func takeBuffer() -> Buffer { buffers.popLast() ?? Buffer() }

  func giveBack(_ buffer: Buffer) {
    buffer.consume(buffer.count)
    if buffers.count < 32, buffer.capacity <= 4 * Buffer.usualCapacity { buffers.append(buffer) }
  }

  /// Nil if there is no memory.
  func takeEncoder() -> GzipEncoder? { encoders.popLast() ?? GzipEncoder(level: GzipEncoder.quick) }

  /// An encoder takes a quarter of a megabyte: only few are kept.
  func giveBack(_ encoder: GzipEncoder) { if encoders.count < 4 { encoders.append(encoder) } }

  /// Takes over an accepted socket that is already counted.
  ///
  /// - Parameter shortage: why there is no place for it, unless another connection is closed.
  func add(_ descriptor: Int32, from address: SocketAddress?, peer: PeerKey?, shortage: ServerWarning.Cause?) {
    touchClock()
    guard let transport = transport(descriptor) else {
      close(descriptor)
      count.remove(peer)
      return
    }
    let isRefused = shortage.map { !makeRoom($0, of: peer) } ?? false
    let connection = Connection(worker: self, transport: transport, remoteAddress: address, peer: peer)
    connection.index = connections.count
    connections.append(connection)
    guard !isStopping else { return connection.close() }
    connection.open(isRefused: isRefused)
    planSweep()
  }

  /// Closes the connection that has waited longest for a request, of all or of the peer that has too many.
  ///
  /// - Returns: false if none waits: each has a request in progress.
  func makeRoom(_ shortage: ServerWarning.Cause, of peer: PeerKey? = nil) -> Bool {
    let isOfPeer = if case .address = shortage { true } else { false }
    // A linear search, needed only when places are short; a sorted list would cost each request.
    let waiting = connections.lazy.filter { $0.isWaiting && (!isOfPeer || $0.peer == peer) }
    let longest = waiting.min { $0.armedAt < $1.armedAt }
    longest?.close()
    alarm.raise(shortage, gaveWay: longest != nil, at: now)
    return longest != nil
  }

  private func transport(_ descriptor: Int32) -> Transport? {
    guard let context = tls.current else { return .plain(PlainTransport(descriptor: descriptor)) }
    // Fails only without memory: then the connection is dropped.
    return (try? TLSTransport(context, descriptor: descriptor)).map { .tls($0) }
  }

  func remove(_ connection: Connection) {
    let last = connections.removeLast()
    if last !== connection {
      last.index = connection.index
      connections[connection.index] = last
    }
    count.remove(connection.peer)
    if isStopping, connections.isEmpty { finishStop() }
  }

  /// Checks all time-outs together periodically: a timer for each would have to be moved with each request.
  private func planSweep() {
    guard !sweepIsPlanned, !connections.isEmpty else { return }
    sweepIsPlanned = true
    loop.schedule(after: sweepInterval) { [weak self] in
      guard let self else { return }
      sweepIsPlanned = false
      touchClock()
      // A copy, because connections that close leave the list.
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

  /// Closes idle connections and lets the rest finish; `done` is called when none is left.
  func beginStop(_ done: @escaping @Sendable () -> Void) {
    isStopping = true
    whenEmpty = done
    touchClock()
    for connection in connections { connection.serverStops() }
    if connections.isEmpty { finishStop() }
  }

  /// Aborts what has not finished.
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

/// Time-outs of a server in nanoseconds, converted once: each request needs some of them.
struct Timeouts {
  let header: UInt64
  let body: UInt64
  let idle: UInt64
  let write: UInt64
  let linger: UInt64
  let heartbeat: UInt64

  init(_ configuration: ServerConfiguration) {
    header = configuration.headerTimeout.nanoseconds
    body = configuration.bodyTimeout.nanoseconds
    idle = configuration.idleTimeout.nanoseconds
    write = configuration.writeTimeout.nanoseconds
    linger = configuration.lingerTimeout.nanoseconds
    heartbeat = configuration.heartbeat.nanoseconds
  }
}

extension Duration {
  /// In nanoseconds; 0 if negative, at most a year.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 31_536_000)) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
  }
}
