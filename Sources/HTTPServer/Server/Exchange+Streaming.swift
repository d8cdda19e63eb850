import Reactor

extension Exchange {
  func write(_ content: [UInt8]) async throws {
    if loop.isCurrent, try send(content) { return }
    let isSent = loop.isCurrent
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      onLoop {
        do {
          let isDrained = isSent ? try self.isDrained() : try self.send(content)
          if isDrained { continuation.resume() } else { self.stream.drainWaiters.append(continuation) }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  func isDrained() throws -> Bool {
    guard let connection else { throw ClientGone() }
    return connection.isDrained
  }

  /// - Returns: whether the socket has taken everything.
  func send(_ content: [UInt8]) throws -> Bool {
    guard stream.isOpen, let connection else { throw ClientGone() }
    if stream.isStopped, stream.isOfEvents { throw CancellationError() }
    guard !content.isEmpty else { return true }
    if let left = stream.lengthLeft {
      guard content.count <= left else { throw InvalidResponse.length }
      stream.lengthLeft = left - content.count
    }
    let output = connection.output
    if stream.isChunked {
      output.append(content.count, radix: 16)
      output.append("\r\n")
    }
    output.append(content)
    if stream.isChunked { output.append("\r\n") }
    bytes += content.count
    worker.touchClock()
    stream.lastWrite = worker.now
    connection.advance()
    return try isDrained()
  }

  /// The socket has taken everything.
  func drained() {
    guard !stream.drainWaiters.isEmpty else { return }
    let waiters = stream.drainWaiters
    stream.drainWaiters = []
    for waiter in waiters { waiter.resume() }
  }

  /// Sends a heartbeat on a silent event stream.
  func beat(_ now: UInt64) {
    guard stream.isOfEvents, let connection, connection.isDrained,
      now &- stream.lastWrite >= worker.timeouts.heartbeat
    else { return }
    // Fails only when the stream ends; its own writes report that.
    _ = try? send(Array(":\n\n".utf8))
  }

  func endStream(_ error: (any Error)?) {
    precondition(loop.isCurrent, "a stream came back on another thread")
    guard let connection else { return }
    var problem = error
    if problem == nil, let left = stream.lengthLeft, left > 0 { problem = InvalidResponse.length }
    if stream.isOfEvents, stream.isStopped || problem is CancellationError { problem = nil }
    if let problem {
      worker.configuration.errorLog?(
        Failure(problem, request: request, requestID: request?.id ?? RequestNumber.text(number)))
      // An unfinished body is how the client learns of the error.
      return connection.breakOff()
    }
    stream.isOpen = false
    if worker.isStopping { keepsAlive = false }
    if stream.isChunked { connection.output.append("0\r\n\r\n") }
    end()
  }

  func serverStops() {
    stream.isStopped = true
    if stream.isOfEvents { task?.cancel() }
  }

  /// The connection ended before the answer.
  func connectionLost() {
    guard connection != nil else { return }
    connection = nil
    task?.cancel()
    task = nil
    log()
    request = nil
    let error = ClientGone()
    body.waiter?.resume(throwing: error)
    body.waiter = nil
    let waiters = stream.drainWaiters
    stream.drainWaiters = []
    for waiter in waiters { waiter.resume(throwing: error) }
  }
}

/// How far an answer that its handler writes piece by piece has come.
struct StreamedBody {
  /// Whether more may be written.
  var isOpen = false
  var isChunked = false
  var isOfEvents = false
  /// Bytes that are still to come of a body whose length was said.
  var lengthLeft: Int?
  /// Whether the server stops.
  var isStopped = false
  var lastWrite: UInt64 = 0
  var drainWaiters: [CheckedContinuation<Void, any Error>] = []
}
