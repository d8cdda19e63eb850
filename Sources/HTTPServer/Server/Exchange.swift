import Reactor
import Synchronization

/// One request and its answer: what the handler's body and writer talk to.
///
/// @unchecked Sendable because: everything mutable but `collected`, which is locked, is touched on the loop only;
/// calls from elsewhere go through `EventLoop.execute`. Once the exchange is over it has no connection, so that what
/// a handler keeps of it does nothing any more.
final class Exchange: @unchecked Sendable {
  let head: RequestHead
  let number: UInt64
  let loop: EventLoop
  private let worker: Worker
  private let started: UInt64
  private var connection: Connection?
  private var request: Request?
  private var task: Task<Void, Never>?
  private var mustClose = false
  private let collected = Mutex<[UInt8]?>(nil)

  // The body of the request.
  private var bodyIsOver: Bool
  private var bodyHasBegun = false
  private var bodyFailure: (any Error)?
  private var bodyWaiter: CheckedContinuation<[UInt8]?, any Error>?
  private var continueIsDue: Bool

  // The answer.
  private var status = 0
  private var bytes = 0
  private var keepsAlive = false
  private var isChunked = false
  private var lengthLeft: Int?
  private(set) var isEventStream = false
  private var isStreaming = false
  private var isStopped = false
  private var lastWrite: UInt64 = 0
  private var drainWaiters: [CheckedContinuation<Void, any Error>] = []

  init(connection: Connection, head: RequestHead, number: UInt64, started: UInt64) {
    self.connection = connection
    self.head = head
    self.number = number
    self.started = started
    worker = connection.worker
    loop = worker.loop
    bodyIsOver = head.framing == .none
    continueIsDue = head.expectsContinue
  }

  var waitsForBody: Bool { bodyWaiter != nil }

  // MARK: Handling

  /// Runs the handler. It starts at once, on the caller's stack, and is often done when this returns.
  func start(_ request: Request, _ resolution: Resolution) {
    var request = request
    request.report = worker.configuration.errorLog
    self.request = request
    var handler = resolution.handler
    if case .length(let length) = head.framing, length > resolution.bodyLimit {
      let error = RequestError(.contentTooLarge, "The body is longer than \(resolution.bodyLimit) bytes.")
      bodyFailure = error
      mustClose = true
      // A router has seen it too, and made a page for it.
      if !(worker.responder is Router) { handler = { _ in throw error } }
    }
    // Unstructured because a request's task begins with its bytes, not in a scope; the connection cancels it.
    let task = Task.immediate(executorPreference: loop) { [handler, request] in
      await self.run(handler, request)
    }
    if connection != nil { self.task = task } else { task.cancel() }
  }

  private func run(_ handler: Handler, _ request: Request) async {
    var response: Response
    do {
      response = try await handler(request)
    } catch {
      response = page(for: error)
    }
    guard let stream = begin(response) else { return }
    do {
      try await stream()
      endStream(nil)
    } catch {
      endStream(error)
    }
  }

  private func page(for error: any Error) -> Response {
    if error is ClientGone { return Response(.badRequest) }
    let failure = Failure(error, request: request, requestID: request?.id ?? RequestNumber.text(number))
    if failure.status == .internalServerError { worker.configuration.errorLog?(failure) }
    return worker.responder.errorResponse(for: failure)
  }

  // MARK: The body of the request

  func collect(upTo limit: Int) async throws -> [UInt8] {
    let tooLarge = RequestError(.contentTooLarge, "The body is longer than \(limit) bytes.")
    if let bytes = collected.withLock({ $0 }) {
      guard bytes.count <= limit else { throw tooLarge }
      return bytes
    }
    var all: [UInt8] = []
    if case .length(let length) = head.framing {
      guard length <= limit else { throw tooLarge }
      // Not more than came, whatever was announced.
      all.reserveCapacity(min(length, 64 * 1024))
    }
    while let piece = try await nextPiece() {
      guard all.count + piece.count <= limit else { throw tooLarge }
      if all.isEmpty { all = piece } else { all.append(contentsOf: piece) }
    }
    collected.withLock { [all] in $0 = all }
    return all
  }

  func nextPiece() async throws -> [UInt8]? {
    if loop.isCurrent, let result = pollBody() { return try result.get() }
    return try await withCheckedThrowingContinuation { continuation in
      onLoop { self.wait(continuation) }
    }
  }

  private func onLoop(_ work: @escaping @Sendable () -> Void) {
    if loop.isCurrent { work() } else { loop.execute(work) }
  }

  /// What of the body is here already; nil if it is to be waited for.
  private func pollBody() -> Result<[UInt8]?, any Error>? {
    if let bodyFailure { return .failure(bodyFailure) }
    if bodyIsOver { return .success(nil) }
    guard let connection else { return .failure(ClientGone()) }
    let (event, piece) = connection.nextBodyEvent()
    switch event {
    case .body:
      bodyHasBegun = true
      return .success(piece)
    case .end:
      bodyIsOver = true
      return .success(nil)
    case .failed(let error):
      mustClose = true
      bodyFailure = error
      return .failure(error)
    case .needsMore: return nil
    case .head: preconditionFailure("a head inside a body")
    }
  }

  private func wait(_ continuation: CheckedContinuation<[UInt8]?, any Error>) {
    if let result = pollBody() { return continuation.resume(with: result) }
    guard bodyWaiter == nil, let connection else { return continuation.resume(throwing: ClientGone()) }
    bodyWaiter = continuation
    if continueIsDue, !bodyHasBegun, status == 0 {
      continueIsDue = false
      connection.output.append("HTTP/1.1 100 Continue\r\n\r\n")
      connection.advance()
    }
    self.connection?.awaitBody()
  }

  func inputArrived() {
    guard let waiter = bodyWaiter else { return }
    guard let result = pollBody() else {
      connection?.awaitBody()
      return
    }
    bodyWaiter = nil
    connection?.bodyArrived()
    waiter.resume(with: result)
  }

  /// The rest of the body will not come.
  func failBody(_ error: any Error) {
    guard !bodyIsOver else { return }
    mustClose = true
    bodyFailure = error
    let waiter = bodyWaiter
    bodyWaiter = nil
    connection?.bodyArrived()
    waiter?.resume(throwing: error)
  }

  /// Whether the next request can follow: reads over what is already here of a body that nobody asked for.
  private func skipBody() -> Bool {
    while !bodyIsOver {
      guard let result = pollBody(), case .success = result else { return false }
    }
    return true
  }

  // MARK: The answer

  /// Writes the head, and the body if it is at hand.
  ///
  /// - Returns: what is to be run to write the body.
  private func begin(_ answer: Response) -> (() async throws -> Void)? {
    precondition(loop.isCurrent, "a handler came back on another thread")
    guard let connection else { return nil }
    worker.touchClock()
    let response = checked(answer)
    status = response.status.code
    // A streamed answer may still read the body; whether that will be read to its end is not known now.
    keepsAlive =
      head.keepsAlive && !mustClose && (response.body.isStreamed ? bodyIsOver : skipBody()) && !worker.isStopping && head.method != "CONNECT"
      && response.headers["Connection"]?.equalsIgnoringCase("close") != true
    let isBodiless = head.method == .head || response.status.forbidsBody
    let framing = framing(of: response)
    if case .untilClose = framing { keepsAlive = false }
    ResponseHead(
      response: response, framing: framing,
      connection: !keepsAlive ? .close : head.minorVersion == 0 ? .keepAlive : .implied, requestID: requestID
    ).write(to: connection.output, date: worker.date)
    if isBodiless {
      end()
      return nil
    }
    return write(response.body, to: connection)
  }

  /// Replaces an answer that cannot be sent.
  private func checked(_ response: Response) -> Response {
    let problem: InvalidResponse
    if let name = response.headers.firstInvalidName {
      problem = .field(name)
    } else if response.status.code < 200 {
      problem = .status(response.status)
    } else {
      return response
    }
    let failure = Failure(problem, request: request, requestID: request?.id ?? "")
    worker.configuration.errorLog?(failure)
    return failure.plainResponse
  }

  private func framing(of response: Response) -> ResponseHead.Framing {
    if response.status.forbidsBody { return .none }
    switch response.body {
    case .none: return .length(0)
    case .bytes(let bytes): return .length(bytes.count)
    case .file(_, let range): return .length(range.count)
    case .stream(let length?, _): return .length(length)
    case .stream(nil, _), .events: return head.minorVersion == 0 ? .untilClose : .chunked
    }
  }

  private var requestID: ResponseHead.RequestID {
    RequestNumber.accepted(head.first(named: "X-Request-Id")).map { .text($0) } ?? .number(number)
  }

  private func write(_ body: ResponseBody, to connection: Connection) -> (() async throws -> Void)? {
    switch body {
    case .none: end()
    case .bytes(let content):
      bytes = content.count
      // Small ones share a segment with their head; copying large ones would cost more than a second call.
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
    case .stream(let length, let stream):
      isStreaming = true
      lengthLeft = length
      isChunked = length == nil && head.minorVersion > 0
      return { try await stream(ResponseWriter(self)) }
    case .events(let stream):
      isStreaming = true
      isEventStream = true
      isChunked = head.minorVersion > 0
      lastWrite = worker.now
      // The head at once: the page's `open` event waits for it.
      connection.advance()
      return { try await stream(EventStream(ResponseWriter(self))) }
    }
    return nil
  }

  /// The large body is on its way.
  func tailSent() { end() }

  /// Hands the connection back.
  private func end() {
    guard let connection else { return }
    self.connection = nil
    task = nil
    log()
    request = nil
    connection.exchangeEnded(keepsAlive: keepsAlive)
    connection.advance()
  }

  private func log() {
    guard let log = worker.configuration.accessLog else { return }
    worker.touchClock()
    log(
      AccessLogEntry(
        method: head.method, target: head.text(head.target), route: request?.route,
        status: status == 0 ? 499 : status, bytes: bytes, duration: .nanoseconds(worker.now &- started),
        remoteAddress: request?.remoteAddress, requestID: request?.id ?? RequestNumber.text(number)))
  }

  // MARK: Streaming

  func write(_ content: [UInt8]) async throws {
    if loop.isCurrent, try send(content) { return }
    let isSent = loop.isCurrent
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      onLoop {
        do {
          let isDrained = isSent ? try self.isDrained() : try self.send(content)
          if isDrained { continuation.resume() } else { self.drainWaiters.append(continuation) }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  private func isDrained() throws -> Bool {
    guard let connection else { throw ClientGone() }
    return connection.isDrained
  }

  /// - Returns: whether the socket has taken everything.
  private func send(_ content: [UInt8]) throws -> Bool {
    guard isStreaming, let connection else { throw ClientGone() }
    if isStopped, isEventStream { throw CancellationError() }
    guard !content.isEmpty else { return true }
    if let left = lengthLeft {
      guard content.count <= left else { throw InvalidResponse.length }
      lengthLeft = left - content.count
    }
    let output = connection.output
    if isChunked {
      output.append(content.count, radix: 16)
      output.append("\r\n")
    }
    output.append(content)
    if isChunked { output.append("\r\n") }
    bytes += content.count
    worker.touchClock()
    lastWrite = worker.now
    connection.advance()
    return try isDrained()
  }

  /// The socket has taken everything.
  func drained() {
    guard !drainWaiters.isEmpty else { return }
    let waiters = drainWaiters
    drainWaiters = []
    for waiter in waiters { waiter.resume() }
  }

  /// Keeps a silent event stream alive.
  func beat(_ now: UInt64) {
    guard isEventStream, let connection, connection.isDrained,
      now &- lastWrite >= worker.configuration.heartbeat.nanoseconds
    else { return }
    // It fails only when the stream ends, which its own writes will notice.
    _ = try? send(Array(":\n\n".utf8))
  }

  private func endStream(_ error: (any Error)?) {
    precondition(loop.isCurrent, "a stream came back on another thread")
    guard let connection else { return }
    var problem = error
    if problem == nil, let lengthLeft, lengthLeft > 0 { problem = InvalidResponse.length }
    if isEventStream, isStopped || problem is CancellationError { problem = nil }
    if let problem {
      worker.configuration.errorLog?(
        Failure(problem, request: request, requestID: request?.id ?? RequestNumber.text(number)))
      // A chunked body without its end, or a length not reached, is how the client learns of it.
      return connection.breakOff()
    }
    isStreaming = false
    if worker.isStopping { keepsAlive = false }
    if isChunked { connection.output.append("0\r\n\r\n") }
    end()
  }

  func serverStops() {
    isStopped = true
    if isEventStream { task?.cancel() }
  }

  /// The connection has ended before the answer did.
  func connectionLost() {
    guard connection != nil else { return }
    connection = nil
    task?.cancel()
    task = nil
    log()
    request = nil
    let error = ClientGone()
    bodyWaiter?.resume(throwing: error)
    bodyWaiter = nil
    let waiters = drainWaiters
    drainWaiters = []
    for waiter in waiters { waiter.resume(throwing: error) }
  }
}

/// An answer that a handler may not give.
enum InvalidResponse: Error, Equatable, CustomStringConvertible {
  case field(String)
  case status(Status)
  case length

  var description: String {
    switch self {
    case .field(let name):
      "The response's field \(name.debugDescription) has a name or a value that cannot be sent: a control byte?"
    case .status(let status): "A handler answered \(status.code): informational answers are the server's."
    case .length: "A streamed body was not as long as it had said."
    }
  }
}
