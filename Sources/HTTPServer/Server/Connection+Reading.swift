import Reactor

extension Connection {
  var wantsInput: Bool {
    switch state {
    case .closed: false
    case .draining: drained < worker.configuration.lingerBytes
    case .open:
      if let exchange { exchange.waitsForBody } else { !closesAfterOutput && !sawEnd && canTakeRequest }
    }
  }

  var canTakeRequest: Bool { tail == nil && (outgoing?.count ?? 0) < Self.outputLimit }

  func read() {
    let buffer = input ?? worker.takeBuffer()
    input = buffer
    buffer.reserve(1)
    switch transport.read(into: buffer.room) {
    case .bytes(let count):
      buffer.filled(count)
      if state == .draining {
        buffer.consume(count)
        drained += count
      } else if let exchange {
        exchange.inputArrived()
      } else {
        advance()
      }
      releaseInput()
    case .wouldBlock:
      releaseInput()
      updateInterest()
    case .end: peerEnded()
    case .failed: breakOff()
    }
  }

  func releaseInput() {
    guard let buffer = input, buffer.isEmpty else { return }
    worker.giveBack(buffer)
    input = nil
  }

  func peerEnded() {
    releaseInput()
    sawEnd = true
    guard state == .open, exchange != nil || !isDrained else { return close() }
    // The peer still reads: send the answers to its earlier requests.
    if exchange == nil { closesAfterOutput = true }
    setInterest(interest.subtracting([.readable, .peerClosed]))
    exchange?.failBody(RequestError(.badRequest, "The body ended before it was complete."))
  }

  /// The next event of the current body; `.needsMore` once the buffered input is used up.
  func nextBodyEvent() -> (RequestParser.Event, [UInt8]) {
    guard let buffer = input else {
      // Even without input the parser can tell that a body is over.
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

  /// Starts waiting for more of the body.
  func awaitBody() {
    arm(.body)
    if let latest = exchange?.latestBody { readDeadline = min(readDeadline, latest) }
    if sawEnd {
      exchange?.failBody(RequestError(.badRequest, "The body ended before it was complete."))
    } else {
      updateInterest()
    }
  }

  func bodyArrived() { arm(.none) }

  /// Processes complete requests and sends pending bytes.
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

  func takeRequests() {
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

  func begin(_ received: RequestHead) {
    arm(.none)
    let head = received.below(worker.router.servedPath)
    let exchange = Exchange(connection: self, head: head, number: worker.nextNumber(), started: worker.now)
    self.exchange = exchange
    // RFC 9110 section 7.4: an https address must be asked for over a secured connection.
    let problem =
      head.isHTTPS && !transport.isSecure
      ? RequestError(.misdirectedRequest, "An https address cannot be requested over plain HTTP.") : head.problem
    let resolution: Resolution
    if let problem {
      resolution = Resolution { _ in throw problem }
    } else {
      resolution = worker.router.resolve(head)
    }
    parser.bodyLimit = resolution.bodyLimit
    if head.framing == .none {
      var offset = 0
      _ = parser.next(UnsafeBufferPointer(start: nil, count: 0), &offset)
    }
    exchange.request = Request(
      head: head, body: head.framing == .none ? .empty : RequestBody(exchange), remoteAddress: remoteAddress,
      isSecure: transport.isSecure, number: exchange.number, route: resolution.route,
      report: worker.configuration.errorLog)
    exchange.start(resolution)
  }

  /// Answers an invalid request, and closes.
  func refuse(_ error: RequestError) {
    arm(.none)
    let number = worker.nextNumber()
    let failure = Failure(error, request: nil, requestID: RequestNumber.text(number))
    var response = worker.router.errorResponse(for: failure)
    response.headers.clean()
    if response.headers.firstInvalidName != nil || response.body.bytes == nil { response = failure.plainResponse }
    let body = response.body.bytes ?? []
    ResponseHead(framing: .length(body.count), connection: .close, requestID: .number(number))
      .write(response, to: output, date: worker.date)
    output.append(body)
    closesAfterOutput = true
    worker.configuration.requestEnded?(nil, response.status.code, .zero)
    if let log = worker.configuration.accessLog {
      log(
        AccessLogEntry(
          method: nil, target: nil, route: nil, status: response.status.code, bytes: body.count, duration: .zero,
          remoteAddress: remoteAddress, actor: nil, requestID: failure.requestID))
    }
  }

  /// Called when the exchange's whole answer is in the output.
  func exchangeEnded(keepsAlive: Bool) {
    exchange = nil
    if !keepsAlive { closesAfterOutput = true }
    if deadline == .first { deadline = .none }
  }
}
