import Reactor

/// One socket: reads requests, starts exchanges one after the other, and writes what they answer.
///
/// @unchecked Sendable because: it is touched on its worker's loop only; every way in from elsewhere goes through
/// `EventLoop.execute`.
final class Connection: EventHandler, @unchecked Sendable {
  enum State {
    case open
    /// Everything is written; input is thrown away until the peer closes, or it could lose the answer to a reset
    /// (RFC 9112 section 9.6).
    case draining
    case closed
  }

  /// What the read deadline is for.
  enum Deadline {
    case none, first, head, idle, body, linger
  }

  /// What is sent behind the output buffer without passing through it.
  enum Tail {
    case bytes([UInt8], sent: Int)
    case file(OpenFile, Range<Int>)
  }

  /// Answers are gathered up to here before they are sent.
  static let outputLimit = 64 * 1024
  /// The most that is sent at once before other connections have their turn.
  static let turn = 1 << 20

  let worker: Worker
  let remoteAddress: SocketAddress?
  /// As whose it is counted.
  let peer: PeerKey?
  /// Place in the worker's list.
  var index = 0
  let transport: Transport
  var state = State.open
  var parser: RequestParser
  var input: Buffer?
  var outgoing: Buffer?
  var tail: Tail?
  var exchange: Exchange?
  var interest: Readiness = []
  var deadline = Deadline.none
  /// When the deadline was set.
  var armedAt: UInt64 = 0
  var readDeadline: UInt64 = 0
  var writeDeadline: UInt64 = 0
  var closesAfterOutput = false
  var sawEnd = false
  var isAdvancing = false
  var readIsPlanned = false
  /// Bytes that were thrown away behind the last answer.
  var drained = 0

  init(worker: Worker, transport: Transport, remoteAddress: SocketAddress?, peer: PeerKey?) {
    self.worker = worker
    self.transport = transport
    self.remoteAddress = remoteAddress
    self.peer = peer
    parser = RequestParser(limits: worker.configuration.parserLimits)
  }

  /// Begins to read, or refuses because the server is full.
  func open(isRefused: Bool) {
    do {
      try worker.loop.register(transport.descriptor, for: [.readable, .peerClosed], handler: self)
      interest = [.readable, .peerClosed]
    } catch {
      return close()
    }
    if isRefused {
      refuse(RequestError(.serviceUnavailable, "The server has reached its connection limit."))
      advance()
    } else {
      arm(.first)
    }
  }

  // MARK: Events

  func ready(_ readiness: Readiness) {
    worker.touchClock()
    if !readiness.isDisjoint(with: .failed) { return breakOff() }
    if !isDrained, !readiness.isDisjoint(with: transport.writeWaits) {
      advance()
      if state == .closed { return }
    }
    if wantsInput {
      if !readiness.isDisjoint(with: transport.readWaits.union(.peerClosed)) { read() }
      return
    }
    guard !readiness.isDisjoint(with: [.readable, .peerClosed]) else { return }
    if readiness.contains(.peerClosed), let exchange, exchange.isEventStream || exchange.endsWithClient {
      breakOff()
    } else {
      // Nobody reads now: be deaf to more, but where it counts hear when the client goes.
      let remaining: Readiness = readiness.contains(.peerClosed) ? [] : .peerClosed
      setInterest(interest.subtracting([.readable, .peerClosed]).union(remaining))
    }
  }

  /// Whether it waits for a request, or the rest of its head, and everything is sent: then it can give way to another.
  var isWaiting: Bool {
    switch deadline {
    case .first, .head, .idle: state == .open && isDrained
    case .none, .body, .linger: false
    }
  }

  /// Looks at the time-outs.
  func checkTime() {
    let now = worker.now
    if writeDeadline != 0, now >= writeDeadline { return breakOff() }
    if readDeadline != 0, now >= readDeadline {
      switch deadline {
      case .none: break
      case .first where parser.isBetweenRequests: close()
      case .idle, .linger: close()
      case .first, .head:
        refuse(RequestError(.requestTimeout, "The request did not arrive in time."))
        advance()
      case .body:
        arm(.none)
        exchange?.failBody(RequestError(.requestTimeout, "The rest of the body did not arrive in time."))
      }
      return
    }
    exchange?.beat(now)
  }

  func serverStops() {
    if let exchange {
      exchange.serverStops()
    } else if parser.isBetweenRequests, outgoing == nil, state == .open {
      close()
    }
  }

  /// Ends the connection in the middle of whatever it does.
  func breakOff() {
    let lost = exchange
    exchange = nil
    close()
    lost?.connectionLost()
  }

  func close() {
    guard state != .closed else { return }
    state = .closed
    worker.loop.deregister(transport.descriptor)
    transport.close()
    if let input { worker.giveBack(input) }
    if let outgoing { worker.giveBack(outgoing) }
    input = nil
    outgoing = nil
    tail = nil
    worker.remove(self)
    let lost = exchange
    exchange = nil
    lost?.connectionLost()
  }

  // MARK: Interest and time

  func updateInterest() {
    guard state != .closed else { return }
    var wanted = interest.subtracting(.writable)
    if !isDrained, state == .open { wanted.formUnion(transport.writeWaits) }
    // Reading is only ever taken out when an event comes that nobody wants: most often none does.
    if wantsInput {
      wanted.formUnion(transport.readWaits.union(.peerClosed))
      if transport.hasPending { planRead() }
    }
    setInterest(wanted)
  }

  /// Reads what TLS has taken from the socket already, which makes no descriptor ready.
  func planRead() {
    guard !readIsPlanned else { return }
    readIsPlanned = true
    worker.loop.execute { [self] in
      readIsPlanned = false
      worker.touchClock()
      if wantsInput { read() }
    }
  }

  func setInterest(_ wanted: Readiness) {
    guard wanted != interest, state != .closed else { return }
    interest = wanted
    do {
      try worker.loop.update(transport.descriptor, for: wanted)
    } catch {
      breakOff()
    }
  }

  func arm(_ kind: Deadline) {
    // The time for a head is not prolonged by its bytes.
    if kind == .head, deadline == .head { return }
    deadline = kind
    armedAt = worker.now
    let configuration = worker.configuration
    let timeout: Duration
    switch kind {
    case .none:
      readDeadline = 0
      return
    case .first, .head: timeout = configuration.headerTimeout
    case .idle: timeout = configuration.idleTimeout
    case .body: timeout = configuration.bodyTimeout
    case .linger: timeout = configuration.lingerTimeout
    }
    readDeadline = worker.now &+ timeout.nanoseconds
  }
}
