import Reactor
import Synchronization

/// One request and its answer: the other side of the handler's body and writer.
///
/// @unchecked Sendable because mutable state is touched on the loop only, except `collected`, which has a lock; calls
/// from elsewhere go through `EventLoop.execute`. After its end the exchange has no connection, so that a handler that
/// keeps it does no harm.
final class Exchange: @unchecked Sendable {
  let head: RequestHead
  let number: UInt64
  let worker: Worker
  let started: UInt64
  var connection: Connection?
  var request: Request?
  var task: Task<Void, Never>?
  var mustClose = false
  /// The client whose turn this request holds.
  private var countedClient: Turns.Client?
  let collected = Mutex<[UInt8]?>(nil)

  // Unchecked because the loop's thread alone touches these, and no access contains another.
  @exclusivity(unchecked) var body: ReceivedBody

  // State of the answer.
  var status = 0
  /// The answer's.
  var actor: String?
  var remoteAddress: SocketAddress?
  var bytes = 0
  var keepsAlive = false
  /// Whether the handler is cancelled when the client closes its side.
  var endsWithClient = false
  @exclusivity(unchecked) var stream = StreamedBody()

  init(connection: Connection, head: RequestHead, number: UInt64, started: UInt64) {
    self.connection = connection
    self.head = head
    self.number = number
    self.started = started
    worker = connection.worker
    body = ReceivedBody(head, timeLimit: worker.configuration.bodyTimeLimit)
  }

  var loop: EventLoop { worker.loop }
  var waitsForBody: Bool { body.waiter != nil }

  /// Runs the handler, or lets it wait for its client's turn. It starts at once on the caller's stack, and has often
  /// finished when this returns.
  func start(_ resolution: Resolution) {
    endsWithClient = resolution.endsWithClient
    if let limit = resolution.bodyTimeLimit { body.timeLimit = limit }
    if head.problem != nil { mustClose = true }
    let quick = head.framing == .none ? resolution.quick : nil
    if let quick, let request, let answer = quickAnswer(quick, request) {
      // It waits for no turn, which would take longer. Its body is in memory: nothing is left to run.
      _ = begin(answer)
      return
    }
    if case .length(let length) = head.framing, length > resolution.bodyLimit {
      // The router answers with a page of its own.
      body.failure = RequestError(.contentTooLarge, "The body is longer than \(resolution.bodyLimit) bytes.")
      mustClose = true
    }
    guard let turns = worker.turns, let client = connection?.client(of: head) else { return run(resolution.handler) }
    // A body comes when it comes, and so does what a handler waits for.
    let isCounted = quick == nil && head.framing == .none && !resolution.mayWait
    if isCounted { countedClient = client }
    turns.take(client, isCounted: isCounted, at: worker.now) { [handler = resolution.handler] in self.run(handler) }
  }

  private func run(_ handler: @escaping Handler) {
    // The client may have gone while the request waited.
    guard connection != nil, let request else { return leaveTurn() }
    // Unstructured, because a request's task begins with its bytes, not in a scope; the connection cancels it.
    let task = Task.immediate(executorPreference: loop) { await self.run(handler, request) }
    if connection != nil { self.task = task } else { task.cancel() }
  }

  /// The handler has answered: the client's next request may begin.
  private func leaveTurn() {
    guard let client = countedClient else { return }
    countedClient = nil
    worker.turns?.answered(client)
  }

  /// Nil: the handler answers. So does it if the quick answer would be a stream.
  private func quickAnswer(_ quick: QuickHandler, _ request: Request) -> Response? {
    do {
      guard let answer = try quick(request), !answer.body.isStreamed else { return nil }
      return answer
    } catch {
      return page(for: error)
    }
  }

  func run(_ handler: Handler, _ request: Request) async {
    var response: Response
    do {
      response = try await handler(request)
    } catch {
      response = page(for: error)
    }
    response = await compressed(response)
    leaveTurn()
    // The handler may have taken long.
    worker.touchClock()
    guard let stream = begin(response) else { return }
    do {
      try await stream()
      endStream(nil)
    } catch {
      endStream(error)
    }
  }

  func page(for error: any Error) -> Response {
    if ClientGone.explains(error) { return Response(.badRequest) }
    let failure = Failure(error, request: request, requestID: request?.id ?? RequestNumber.text(number))
    if failure.status == .internalServerError { worker.configuration.errorLog?(failure) }
    return worker.router.errorResponse(for: failure)
  }
}
