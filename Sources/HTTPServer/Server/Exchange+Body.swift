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
    if let bodyFailure { return .failure(bodyFailure) }
    if bodyIsOver { return .success(nil) }
    guard let connection else { return .failure(ClientGone()) }
    let (event, piece) = connection.nextBodyEvent()
    switch event {
    case .body:
      bodyHasBegun = true
      bodyBytes += piece.count
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

  func wait(_ continuation: CheckedContinuation<[UInt8]?, any Error>) {
    if let result = pollBody() { return continuation.resume(with: result) }
    guard bodyWaiter == nil, let connection else { return continuation.resume(throwing: ClientGone()) }
    bodyWaiter = continuation
    worker.touchClock()
    bodyAwaitedAt = worker.now
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
    bodyWaited += worker.now &- bodyAwaitedAt
    connection?.bodyArrived()
    waiter.resume(with: result)
  }

  /// The deadline for the body as a whole: its minimum rate and its total time. Only time spent waiting counts, not the
  /// time in which the handler does not read.
  var latestBody: UInt64 {
    let configuration = worker.configuration
    let seconds = bodyBytes / max(1, configuration.leastBodyRate)
    let allowed = min(configuration.bodyTimeout + .seconds(seconds), bodyTimeLimit).nanoseconds
    return bodyAwaitedAt &+ (allowed > bodyWaited ? allowed - bodyWaited : 0)
  }

  /// Fails the body: the rest will not come.
  func failBody(_ error: any Error) {
    guard !bodyIsOver else { return }
    mustClose = true
    bodyFailure = error
    let waiter = bodyWaiter
    bodyWaiter = nil
    connection?.bodyArrived()
    waiter?.resume(throwing: error)
  }

  /// Skips the buffered rest of an unread body. Returns whether the next request can follow.
  func skipBody() -> Bool {
    while !bodyIsOver {
      guard let result = pollBody(), case .success = result else { return false }
    }
    return true
  }
}
