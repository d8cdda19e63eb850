import Reactor

extension Exchange {
  /// Writes the head, and the body if it is in memory.
  ///
  /// - Returns: what to run to write the rest of the body.
  func begin(_ answer: consuming Response) -> (() async throws -> Void)? {
    precondition(loop.isCurrent, "a handler came back on another thread")
    guard let connection else { return nil }
    (actor, remoteAddress) = (answer.actor, answer.remoteAddress)
    answer.headers.clean()
    if let other = replacement(for: answer) { answer = other }
    let response = consume answer
    status = response.status.code
    // A streamed answer may still read the body; whether to the end is not known yet.
    keepsAlive =
      head.keepsAlive && !mustClose && (response.body.isStreamed ? body.isOver : skipBody()) && !worker.isStopping
      && head.method != "CONNECT"
      && !response.headers.closesConnection
    let isBodiless = head.method == .head || response.status.forbidsBody
    let framing = framing(of: response)
    if case .untilClose = framing { keepsAlive = false }
    ResponseHead(
      framing: framing, connection: !keepsAlive ? .close : head.minorVersion == 0 ? .keepAlive : .implied,
      requestID: requestID
    ).write(response, to: connection.output, date: worker.date)
    if isBodiless {
      end()
      return nil
    }
    return write(response.body, to: connection)
  }

  /// What is sent in place of an answer that cannot be.
  func replacement(for response: Response) -> Response? {
    let problem: InvalidResponse
    if let name = response.headers.firstInvalidName {
      problem = .field(name)
    } else if response.status.code < 200 {
      problem = .status(response.status)
    } else {
      return nil
    }
    let failure = Failure(problem, request: request, requestID: request?.id ?? "")
    worker.configuration.errorLog?(failure)
    return failure.plainResponse
  }

  func framing(of response: Response) -> ResponseHead.Framing {
    if response.status.forbidsBody { return .none }
    switch response.body {
    case .none: return .length(0)
    case .bytes(let bytes): return .length(bytes.count)
    case .file(_, let range): return .length(range.count)
    case .stream(let length?, _): return .length(length)
    case .stream(nil, _), .events: return head.minorVersion == 0 ? .untilClose : .chunked
    }
  }

  var requestID: ResponseHead.RequestID {
    RequestNumber.accepted(head.first(named: "X-Request-Id")).map { .text($0) } ?? .number(number)
  }

  func write(_ body: ResponseBody, to connection: Connection) -> (() async throws -> Void)? {
    switch body {
    case .none: end()
    case .bytes(let content):
      bytes = content.count
      // Small bodies share a segment with their head; copying a large one would cost more than a second call.
      if content.count <= Buffer.usualCapacity {
        connection.output.append(content)
        end()
      } else {
        connection.send(.bytes(content, sent: 0))
        connection.advance()
      }
    case .file(let file, let range):
      bytes = range.count
      if range.isEmpty {
        end()
      } else {
        connection.send(.file(file, range))
        connection.advance()
      }
    case .stream(let length, let produce):
      stream.isOpen = true
      stream.lengthLeft = length
      stream.isChunked = length == nil && head.minorVersion > 0
      return { try await produce(ResponseWriter(self)) }
    case .events(let produce):
      stream.isOpen = true
      stream.isOfEvents = true
      stream.isChunked = head.minorVersion > 0
      stream.lastWrite = worker.now
      // Send the head at once: the page's `open` event waits for it.
      connection.advance()
      return { try await produce(EventStream(ResponseWriter(self))) }
    }
    return nil
  }

  /// Called when the large body is sent.
  func tailSent() { end() }

  /// Ends the exchange and returns the connection.
  func end() {
    guard let connection else { return }
    self.connection = nil
    task = nil
    log()
    request = nil
    connection.exchangeEnded(keepsAlive: keepsAlive)
    connection.advance()
  }

  func log() {
    let (log, ended) = (worker.configuration.accessLog, worker.configuration.requestEnded)
    guard log != nil || ended != nil else { return }
    worker.touchClock()
    let duration = Duration.nanoseconds(worker.now &- started)
    ended?(request?.route, status == 0 ? 499 : status, duration)
    guard let log else { return }
    log(
      AccessLogEntry(
        method: head.method, target: head.text(head.target), route: request?.route,
        status: status == 0 ? 499 : status, bytes: bytes, duration: duration,
        remoteAddress: remoteAddress ?? request?.remoteAddress, actor: actor,
        requestID: request?.id ?? RequestNumber.text(number)))
  }
}

/// An answer that a handler must not give.
enum InvalidResponse: Error, Equatable, CustomStringConvertible {
  case field(String)
  case status(Status)
  case length

  var description: String {
    switch self {
    case .field(let name):
      "The response's field \(name.debugDescription) has a name that cannot be sent."
    case .status(let status): "A handler answered \(status.code): informational answers are the server's."
    case .length: "A streamed body was not as long as it had said."
    }
  }
}
