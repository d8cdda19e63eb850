import Reactor
import Synchronization

extension Exchange {
  func collect(upTo limit: Int) async throws -> [UInt8] {
    let tooLarge = RequestError(.contentTooLarge, "The body is longer than \(limit) bytes.")
    if let bytes = collected.withLock({ $0 }) {
      guard bytes.count <= limit else { throw tooLarge }
      return bytes
    }
    var all: [UInt8] = []
    if case .length(let length) = head.framing {
      guard length <= limit else { throw tooLarge }
      // Limit the reservation: the announced length is not trusted.
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

  func onLoop(_ work: @escaping @Sendable () -> Void) {
    if loop.isCurrent { work() } else { loop.execute(work) }
  }

  /// The body's bytes at hand; nil: wait.
  func pollBody() -> Result<[UInt8]?, any Error>? {
    if let failure = body.failure { return .failure(failure) }
    if body.isOver { return .success(nil) }
    guard let connection else { return .failure(ClientGone()) }
    let (event, piece) = connection.nextBodyEvent()
    switch event {
    case .body:
      body.hasBegun = true
      body.bytes += piece.count
      return .success(piece)
    case .end:
      body.isOver = true
      return .success(nil)
    case .failed(let error):
      mustClose = true
      body.failure = error
      return .failure(error)
    case .needsMore: return nil
    case .head: preconditionFailure("a head inside a body")
    }
  }

  func wait(_ continuation: CheckedContinuation<[UInt8]?, any Error>) {
    if let result = pollBody() { return continuation.resume(with: result) }
    guard body.waiter == nil, let connection else { return continuation.resume(throwing: ClientGone()) }
    body.waiter = continuation
    worker.touchClock()
    body.awaitedAt = worker.now
    if body.continueIsDue, !body.hasBegun, status == 0 {
      body.continueIsDue = false
      connection.output.append("HTTP/1.1 100 Continue\r\n\r\n")
      connection.advance()
    }
    self.connection?.awaitBody()
  }

  func inputArrived() {
    guard let waiter = body.waiter else { return }
    guard let result = pollBody() else {
      connection?.awaitBody()
      return
    }
    body.waiter = nil
    body.waited += worker.now &- body.awaitedAt
    connection?.bodyArrived()
    waiter.resume(with: result)
  }

  /// The deadline for the body as a whole: its minimum rate and its total time. Only time spent waiting counts, not the
  /// time in which the handler does not read.
  var latestBody: UInt64 {
    let configuration = worker.configuration
    let seconds = body.bytes / max(1, configuration.leastBodyRate)
    let allowed = min(configuration.bodyTimeout + .seconds(seconds), body.timeLimit).nanoseconds
    return body.awaitedAt &+ (allowed > body.waited ? allowed - body.waited : 0)
  }

  /// Fails the body: the rest will not come.
  func failBody(_ error: any Error) {
    guard !body.isOver else { return }
    mustClose = true
    body.failure = error
    let waiter = body.waiter
    body.waiter = nil
    connection?.bodyArrived()
    waiter?.resume(throwing: error)
  }

  /// Skips the buffered rest of an unread body. Returns whether the next request can follow.
  func skipBody() -> Bool {
    while !body.isOver {
      guard let result = pollBody(), case .success = result else { return false }
    }
    return true
  }
}

/// How far the body of a request has come.
struct ReceivedBody {
  var isOver: Bool
  var hasBegun = false
  var failure: (any Error)?
  var waiter: CheckedContinuation<[UInt8]?, any Error>?
  var bytes = 0
  /// Nanoseconds spent waiting for earlier pieces.
  var waited: UInt64 = 0
  /// When the wait for this piece began.
  var awaitedAt: UInt64 = 0
  var timeLimit: Duration
  /// Whether the client waits for `100 Continue` before it sends the body.
  var continueIsDue: Bool

  init(_ head: RequestHead, timeLimit: Duration) {
    isOver = head.framing == .none
    continueIsDue = head.expectsContinue
    self.timeLimit = timeLimit
  }
}
