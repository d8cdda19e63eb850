import Reactor

/// One socket: reads requests, starts their exchanges one after another, and writes the answers.
///
/// @unchecked Sendable because it is touched on its worker's loop only; calls from elsewhere go through
/// `EventLoop.execute`.
final class Connection: EventHandler, @unchecked Sendable {
  enum State {
    case open
    /// Everything is written; input is dropped until the peer closes, because a reset could destroy the answer (RFC
    /// 9112 section 9.6).
    case draining
    case closed
  }

  /// What the read deadline waits for.
  enum Deadline {
    case none, first, head, idle, body, linger
  }

  /// What is sent after the output buffer without passing through it.
  enum Tail {
    case bytes([UInt8], sent: Int)
    case file(OpenFile, Range<Int>)
  }

  /// Answers are collected up to this size before they are sent.
  static let outputLimit = 64 * 1024
  /// The most bytes sent before other connections get their turn.
  static let turn = 1 << 20

  let worker: Worker
  let remoteAddress: SocketAddress?
  /// The peer that the connection counts for.
  let peer: PeerKey?
  /// The peer as a client; nil for a proxy.
  private let peerClient: Turns.Client?
  /// Position in the worker's list.
  var index = 0
  let transport: Transport
  var state = State.open
  // Touched by every request, on the loop's thread: nothing can overlap.
  @exclusivity(unchecked) var parser: RequestParser
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
  /// Input dropped after the last answer.
  var drained = 0

  init(worker: Worker, transport: Transport, remoteAddress: SocketAddress?, peer: PeerKey?) {
    self.worker = worker
    self.transport = transport
    self.remoteAddress = remoteAddress
    self.peer = peer
    peerClient = peer?.hashValue
    parser = RequestParser(limits: worker.configuration.parserLimits)
  }

  /// Who asks; nil for a proxy's requests without credentials, which are of many.
  func client(of head: RequestHead) -> Turns.Client? {
    head.credentials ?? peerClient
  }

  /// Starts reading, or refuses because the server is full.
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
    if readiness.contains(.peerClosed), let exchange, exchange.stream.isOfEvents || exchange.endsWithClient {
      breakOff()
    } else {
      // Nobody reads now: stop reading, and listen only for a disconnect where it matters.
      let remaining: Readiness = readiness.contains(.peerClosed) ? [] : .peerClosed
      setInterest(interest.subtracting([.readable, .peerClosed]).union(remaining))
    }
  }

  /// Whether it waits for a request or the rest of a head with everything sent: it may be closed for another
  /// connection.
  var isWaiting: Bool {
    switch deadline {
    case .first, .head, .idle: state == .open && isDrained
    case .none, .body, .linger: false
    }
  }

  /// Checks the time-outs.
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

  /// Aborts the connection.
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

  func updateInterest() {
    guard state != .closed else { return }
    var wanted = interest.subtracting(.writable)
    if !isDrained, state == .open { wanted.formUnion(transport.writeWaits) }
    // Read interest is removed only when an unwanted event comes: most often none does.
    if wantsInput {
      wanted.formUnion(transport.readWaits.union(.peerClosed))
      if transport.hasPending { planRead() }
    }
    setInterest(wanted)
  }

  /// Reads bytes inside TLS, which do not make the descriptor ready.
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
    // More bytes of a head do not extend its deadline.
    if kind == .head, deadline == .head { return }
    deadline = kind
    armedAt = worker.now
    let timeout: UInt64
    switch kind {
    case .none:
      readDeadline = 0
      return
    case .first, .head: timeout = worker.timeouts.header
    case .idle: timeout = worker.timeouts.idle
    case .body: timeout = worker.timeouts.body
    case .linger: timeout = worker.timeouts.linger
    }
    readDeadline = worker.now &+ timeout
  }
}
