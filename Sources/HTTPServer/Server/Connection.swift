import Reactor

/// One socket: reads requests, starts exchanges one after the other, and writes what they answer.
///
/// @unchecked Sendable because: it is touched on its worker's loop only; every way in from elsewhere goes through
/// `EventLoop.execute`.
final class Connection: EventHandler, @unchecked Sendable {
  private enum State {
    case open
    /// Everything is written; input is thrown away until the peer closes, or it could lose the answer to a reset
    /// (RFC 9112 section 9.6).
    case draining
    case closed
  }

  /// What the read deadline is for.
  private enum Deadline {
    case none, first, head, idle, body, linger
  }

  /// What is sent behind the output buffer without passing through it.
  enum Tail {
    case bytes([UInt8], sent: Int)
    case file(OpenFile, Range<Int>)
  }

  /// Answers are gathered up to here before they are sent.
  private static let outputLimit = 64 * 1024
  /// The most that is sent at once before other connections have their turn.
  private static let turn = 1 << 20

  let worker: Worker
  let remoteAddress: SocketAddress?
  /// Place in the worker's list.
  var index = 0
  private let transport: PlainTransport
  private var state = State.open
  private var parser: RequestParser
  private var input: Buffer?
  private var outgoing: Buffer?
  private var tail: Tail?
  private var exchange: Exchange?
  private var interest: Readiness = []
  private var deadline = Deadline.none
  private var readDeadline: UInt64 = 0
  private var writeDeadline: UInt64 = 0
  private var closesAfterOutput = false
  private var sawEnd = false
  private var isAdvancing = false

  init(worker: Worker, transport: PlainTransport, remoteAddress: SocketAddress?) {
    self.worker = worker
    self.transport = transport
    self.remoteAddress = remoteAddress
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
      refuse(RequestError(.serviceUnavailable, "The server has all the connections it can serve."))
      advance()
    } else {
      arm(.first)
    }
  }

  // MARK: Events

  func ready(_ readiness: Readiness) {
    worker.touchClock()
    if !readiness.isDisjoint(with: .failed) { return breakOff() }
    if readiness.contains(.writable) {
      advance()
      if state == .closed { return }
    }
    guard !readiness.isDisjoint(with: [.readable, .peerClosed]) else { return }
    if wantsInput {
      read()
    } else if readiness.contains(.peerClosed), exchange?.isEventStream == true {
      breakOff()
    } else {
      // Nobody reads now: be deaf to more, but on an event stream hear when the client goes.
      let remaining: Readiness = readiness.contains(.peerClosed) ? [] : .peerClosed
      setInterest(interest.subtracting([.readable, .peerClosed]).union(remaining))
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
        exchange?.failBody(RequestError(.requestTimeout, "The body did not come on in time."))
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

  // MARK: Reading

  private var wantsInput: Bool {
    switch state {
    case .closed: false
    case .draining: true
    case .open:
      if let exchange { exchange.waitsForBody } else { !closesAfterOutput && !sawEnd && canTakeRequest }
    }
  }

  private var canTakeRequest: Bool { tail == nil && (outgoing?.count ?? 0) < Self.outputLimit }

  private func read() {
    let buffer = input ?? worker.takeBuffer()
    input = buffer
    buffer.reserve(1)
    switch transport.read(into: buffer.room) {
    case .bytes(let count):
      buffer.filled(count)
      if state == .draining {
        buffer.consume(count)
      } else if let exchange {
        exchange.inputArrived()
      } else {
        advance()
      }
      releaseInput()
    case .wouldBlock: releaseInput()
    case .end: peerEnded()
    case .failed: breakOff()
    }
  }

  private func releaseInput() {
    guard let buffer = input, buffer.isEmpty else { return }
    worker.giveBack(buffer)
    input = nil
  }

  private func peerEnded() {
    releaseInput()
    sawEnd = true
    guard state == .open, exchange != nil || !isDrained else { return close() }
    // The peer still reads: what it asked for before is sent.
    if exchange == nil { closesAfterOutput = true }
    setInterest(interest.subtracting([.readable, .peerClosed]))
    exchange?.failBody(RequestError(.badRequest, "The body ended before it was complete."))
  }

  /// The next event of the body under way; `.needsMore` once the buffered input is used up.
  func nextBodyEvent() -> (RequestParser.Event, [UInt8]) {
    guard let buffer = input else {
      // Without input the parser can still tell that a body is over.
      var offset = 0
      return (parser.next(UnsafeBufferPointer(start: nil, count: 0), &offset), [])
    }
    var offset = 0
    let event = parser.next(buffer.bytes, &offset)
    var piece: [UInt8] = []
    if case .body(let range) = event { piece = Array(buffer.bytes[range]) }
    buffer.consume(offset)
    return (event, piece)
  }

  /// A body is waited for.
  func awaitBody() {
    arm(.body)
    if sawEnd {
      exchange?.failBody(RequestError(.badRequest, "The body ended before it was complete."))
    } else {
      updateInterest()
    }
  }

  func bodyArrived() { arm(.none) }

  // MARK: Going on

  /// Takes up what can be done now: requests that are complete, bytes that can be sent.
  func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    while state == .open {
      takeRequests()
      guard state == .open, flush() else { break }
      if exchange == nil {
        if closesAfterOutput { return finish() }
        if let input, !input.isEmpty { continue }
      }
      break
    }
    guard state == .open else { return }
    releaseInput()
    if exchange == nil {
      if closesAfterOutput {
        arm(.none)
      } else if parser.isBetweenRequests {
        if sawEnd, outgoing == nil { return close() }
        if worker.isStopping, outgoing == nil { return close() }
        if deadline != .first { arm(.idle) }
      } else if deadline != .first {
        arm(.head)
      }
    }
    updateInterest()
  }

  private func takeRequests() {
    while exchange == nil, state == .open, !closesAfterOutput, canTakeRequest, let buffer = input, !buffer.isEmpty {
      var offset = 0
      let event = parser.next(buffer.bytes, &offset)
      buffer.consume(offset)
      switch event {
      case .needsMore: return
      case .head(let head): begin(head)
      case .failed(let error): refuse(error)
      case .body, .end: preconditionFailure("a body outside of an exchange")
      }
    }
  }

  private func begin(_ head: RequestHead) {
    arm(.none)
    let exchange = Exchange(connection: self, head: head, number: worker.nextNumber(), started: worker.now)
    self.exchange = exchange
    var request = Request(
      head: head, body: head.framing == .none ? .empty : RequestBody(exchange), remoteAddress: remoteAddress,
      isSecure: false, number: exchange.number)
    let resolution = worker.responder.resolve(&request)
    parser.bodyLimit = resolution.bodyLimit
    if head.framing == .none {
      var offset = 0
      _ = parser.next(UnsafeBufferPointer(start: nil, count: 0), &offset)
    }
    exchange.start(request, resolution)
  }

  /// Answers what is no request, and closes.
  private func refuse(_ error: RequestError) {
    arm(.none)
    let number = worker.nextNumber()
    let failure = Failure(error, request: nil, requestID: RequestNumber.text(number))
    var response = worker.responder.errorResponse(for: failure)
    if response.headers.firstInvalidName != nil || response.body.bytes == nil { response = failure.plainResponse }
    let body = response.body.bytes ?? []
    ResponseHead(response: response, framing: .length(body.count), connection: .close, requestID: .number(number))
      .write(to: output, date: worker.date)
    output.append(body)
    closesAfterOutput = true
    if let log = worker.configuration.accessLog {
      log(
        AccessLogEntry(
          method: nil, target: nil, route: nil, status: response.status.code, bytes: body.count, duration: .zero,
          remoteAddress: remoteAddress, requestID: failure.requestID))
    }
  }

  /// The exchange is over; its answer is in the output.
  func exchangeEnded(keepsAlive: Bool) {
    exchange = nil
    if !keepsAlive { closesAfterOutput = true }
    if deadline == .first { deadline = .none }
  }

  // MARK: Writing

  /// The bytes to be sent, to be appended to.
  var output: Buffer {
    if let outgoing { return outgoing }
    let buffer = worker.takeBuffer()
    outgoing = buffer
    return buffer
  }

  var isDrained: Bool { outgoing == nil && tail == nil }

  func send(_ tail: Tail) { self.tail = tail }

  /// Sends what it can.
  ///
  /// - Returns: whether everything is sent.
  private func flush() -> Bool {
    var turn = Self.turn
    while true {
      let result: TransferResult
      if let outgoing, !outgoing.isEmpty {
        result = transport.write(from: UnsafeRawBufferPointer(outgoing.bytes))
        if case .bytes(let count) = result { outgoing.consume(count) }
      } else if let tail {
        result = send(tail, atMost: turn)
      } else {
        break
      }
      switch result {
      case .bytes(let count):
        turn -= count
        writeDeadline = worker.now &+ worker.configuration.writeTimeout.nanoseconds
        if turn <= 0 { return false }
      case .wouldBlock:
        if writeDeadline == 0 { writeDeadline = worker.now &+ worker.configuration.writeTimeout.nanoseconds }
        return false
      case .end, .failed:
        breakOff()
        return false
      }
    }
    if let outgoing { worker.giveBack(outgoing) }
    outgoing = nil
    writeDeadline = 0
    exchange?.drained()
    return true
  }

  private func send(_ tail: Tail, atMost limit: Int) -> TransferResult {
    let result: TransferResult
    switch tail {
    case .bytes(let bytes, let sent):
      result = bytes.withUnsafeBytes { transport.write(from: UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      if case .bytes(let count) = result {
        self.tail = sent + count < bytes.count ? .bytes(bytes, sent: sent + count) : nil
      }
    case .file(let file, let range):
      result = transport.write(file: file.descriptor, at: range.lowerBound, count: min(range.count, limit, 256 * 1024))
      if case .bytes(let count) = result {
        self.tail = count < range.count ? .file(file, range.lowerBound + count..<range.upperBound) : nil
      }
    }
    if self.tail == nil { exchange?.tailSent() }
    return result
  }

  /// Everything is sent, and nothing more is to come.
  private func finish() {
    arm(.none)
    guard !sawEnd else { return close() }
    var hasMore = input?.isEmpty == false || !parser.isBetweenRequests
    if !hasMore {
      let buffer = input ?? worker.takeBuffer()
      input = buffer
      if case .bytes = transport.read(into: buffer.room) { hasMore = true }
    }
    guard hasMore else { return close() }
    transport.endWriting()
    state = .draining
    if let input { input.consume(input.count) }
    releaseInput()
    arm(.linger)
    updateInterest()
  }

  // MARK: Interest and time

  private func updateInterest() {
    guard state != .closed else { return }
    var wanted = interest.subtracting(.writable)
    if !isDrained, state == .open { wanted.insert(.writable) }
    // Reading is only ever taken out when an event comes that nobody wants: most often none does.
    if wantsInput { wanted.formUnion([.readable, .peerClosed]) }
    setInterest(wanted)
  }

  private func setInterest(_ wanted: Readiness) {
    guard wanted != interest, state != .closed else { return }
    interest = wanted
    do {
      try worker.loop.update(transport.descriptor, for: wanted)
    } catch {
      breakOff()
    }
  }

  private func arm(_ kind: Deadline) {
    // The time for a head is not prolonged by its bytes.
    if kind == .head, deadline == .head { return }
    deadline = kind
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

extension Duration {
  /// In nanoseconds; 0 if negative, at most a year.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 31_536_000)) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
  }
}
