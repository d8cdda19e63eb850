package import Reactor

/// The connections to one server, and the requests waiting for them.
///
/// Starts one connection when there is something to send, adds more while all are saturated, replaces those that end,
/// and resends what the server has certainly not processed. `submit` may be called from any thread; everything else
/// runs on the loop.
package final class ClientGroup: @unchecked Sendable {
  // @unchecked Sendable because mutable state is touched on the loop's thread only; `submit` hands over to it.

  /// The group's relation to its server.
  package enum State: Sendable, Equatable {
    /// Not connected, and nothing to send.
    case idle
    case connecting
    case ready
    /// No connection could be opened, for this reason; retried while something waits.
    case failing(HTTP2Error)
  }

  package let endpoint: Endpoint
  /// Loop only.
  package private(set) var state = State.idle
  /// Requests sent and not answered yet. Loop only.
  package var inFlight: Int { connections.reduce(0) { $0 + $1.inFlight } }
  /// The most requests in flight over all connections, whatever the server allows; nil: no limit. Lowering it cancels
  /// nothing. Loop only.
  package var inFlightLimit: Int?
  /// Whether a connection is added when all are saturated. Loop only.
  package var mayGrow = true

  let loop: EventLoop
  let configuration: ClientGroupConfiguration
  private let resolver: BlockingPool
  private weak var handler: (any ClientGroupHandler)?
  private var sharedFields: [HeaderField] = []
  private(set) var connections: [ClientConnection] = []
  private var queue = RequestQueue()
  private var failures = 0
  private var lastError: HTTP2Error?
  private var retry: EventLoop.Timer?
  private var ticker: EventLoop.Timer?
  private var lastProgress: UInt64 = 0
  private var isPumping = false
  private var pumpsAgain = false
  private var isStopped = false

  /// Creates a group; it connects when there is something to send.
  ///
  /// - Parameter handler: not retained.
  package init(
    loop: EventLoop, endpoint: Endpoint, configuration: ClientGroupConfiguration = .init(), resolver: BlockingPool,
    handler: any ClientGroupHandler
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.configuration = configuration
    self.resolver = resolver
    self.handler = handler
  }

  // MARK: Requests

  /// Submits requests, from any thread. Each ends in one answer.
  package func submit(_ batch: RequestBatch) {
    loop.execute { [self] in
      guard !isStopped else {
        handler?.group(self, ended: (0..<batch.count).map { Answer(batch: batch, index: $0, result: .notProcessed) })
        return
      }
      if queue.isEmpty { lastProgress = loop.now() }
      queue.append(batch)
      pump()
    }
  }

  /// Resends a request that has ended, before those that wait. Loop only.
  ///
  /// - Returns: false if it came back more than ``ClientGroupConfiguration/maximumRefusals`` times; then it is not
  /// sent.
  package func resend(_ answer: Answer) -> Bool {
    precondition(loop.isCurrent)
    guard !isStopped, queue.putBackIfAllowed(answer, configuration.maximumRefusals) else { return false }
    pump()
    return true
  }

  /// Ends the waiting requests, or those of one tag, as `notProcessed`; requests in flight continue. Loop only.
  package func cancelQueued(tag: Int64? = nil) {
    precondition(loop.isCurrent)
    let answers = queue.remove(tag: tag).map { Answer(batch: $0.batch, index: $0.index, result: .notProcessed) }
    if !answers.isEmpty { handler?.group(self, ended: answers) }
  }

  /// Sets the fields added to every request from now on. Loop only.
  package func setSharedFields(_ fields: [HeaderField]) {
    precondition(loop.isCurrent)
    sharedFields = fields
    connections.forEach { $0.setSharedFields(fields) }
  }

  /// Sends what waits, after ``inFlightLimit`` was raised. Loop only.
  package func sendWaiting() {
    precondition(loop.isCurrent)
    pump()
  }

  /// Finishes what is in flight on the present connections and opens new ones, after a change of credentials. Loop
  /// only.
  package func replaceConnections() {
    precondition(loop.isCurrent)
    connections.forEach { $0.drain() }
    pump()
  }

  /// Takes nothing new, cancels what waits, and closes when everything in flight has ended. Loop only.
  package func stop() {
    precondition(loop.isCurrent)
    isStopped = true
    retry?.cancel()
    ticker?.cancel()
    cancelQueued()
    connections.forEach { $0.drain() }
  }

  // MARK: Sending

  /// Connections that take requests or are connecting.
  var live: [ClientConnection] {
    connections.filter { $0.state == .open || $0.state == .connecting }
  }

  private func pump() {
    guard !isPumping else {
      pumpsAgain = true
      return
    }
    isPumping = true
    repeat {
      pumpsAgain = false
      guard !queue.isEmpty else { break }
      handler?.groupWillSend(self)
      for connection in connections where !queue.isEmpty { send(on: connection) }
      if !queue.isEmpty, live.isEmpty { connect() }
    } while pumpsAgain
    isPumping = false
    tick()
  }

  private func send(on connection: ClientConnection) {
    var room = connection.claimCapacity()
    if let inFlightLimit { room = min(room, inFlightLimit - inFlight) }
    guard room > 0 else { return }
    while room > 0, let (batch, first, count) = queue.next(atMost: room) {
      let taken = connection.submit(batch, from: first, count: count)
      queue.take(taken)
      room -= taken
      if taken > 0 { lastProgress = loop.now() }
      if taken < count { break }
    }
    connection.flush()
  }

  // MARK: Connections

  private func connect() {
    guard !isStopped, retry == nil else { return }
    let connection = ClientConnection(
      loop: loop, endpoint: endpoint, configuration: configuration.connection, resolver: resolver, handler: self)
    connection.setSharedFields(sharedFields)
    connections.append(connection)
    connection.start()
    refreshState()
  }

  private func failed(_ error: HTTP2Error) {
    failures += 1
    lastError = error
    guard retry == nil else { return }
    let longest = configuration.maximumReconnectDelay
    let doubled = configuration.reconnectDelay * (1 << min(failures - 1, 16))
    let delay = error.isLasting ? longest : min(longest, doubled)
    // Jitter of 20 %, so that many clients do not reconnect at the same moment.
    retry = loop.schedule(after: delay * Double.random(in: 0.8...1.2)) { [weak self] in
      self?.retry = nil
      self?.pump()
    }
  }

  private func succeeded() {
    failures = 0
    lastError = nil
    guard let retry else { return }
    retry.cancel()
    self.retry = nil
  }

  private func refreshState() {
    let now: State
    if connections.contains(where: { $0.state == .open }) {
      now = .ready
    } else if let lastError {
      now = .failing(lastError)
    } else {
      now = connections.contains { $0.state == .connecting } ? .connecting : .idle
    }
    guard now != state else { return }
    state = now
    handler?.group(self, changed: now)
  }

  // MARK: Time

  /// Runs periodically while requests wait.
  private func tick() {
    guard ticker == nil, !queue.isEmpty, !isStopped else { return }
    ticker = loop.schedule(after: configuration.interval) { [weak self] in
      guard let self else { return }
      ticker = nil
      grow()
      replaceStalled()
      pump()
    }
  }

  private func grow() {
    let live = live
    guard mayGrow, !queue.isEmpty, !live.isEmpty, live.count < configuration.maximumConnections else { return }
    // A peer that allows no stream is stalled, not saturated.
    guard live.allSatisfy({ $0.isSaturated && $0.limit > 1 }) else { return }
    connect()
  }

  private func replaceStalled() {
    guard !queue.isEmpty, loop.now() - lastProgress > configuration.stallTimeout.nanoseconds else { return }
    for connection in connections where connection.state == .open && connection.limit == 0 && connection.inFlight == 0 {
      connection.close(
        HTTP2Error(.stalled, "\(endpoint.authority) has allowed no new requests for \(configuration.stallTimeout)."))
    }
  }
}

extension ClientGroup: ClientConnectionHandler {
  package func connection(_ connection: ClientConnection, ended answers: [Answer]) {
    lastProgress = loop.now()
    var others: [Answer] = []
    others.reserveCapacity(answers.count)
    var wasAnswered = false
    for answer in answers {
      switch answer.result {
      case .notProcessed where !isStopped && queue.putBackIfAllowed(answer, configuration.maximumRefusals): continue
      case .answered: wasAnswered = true
      default: break
      }
      others.append(answer)
    }
    if wasAnswered { succeeded() }
    if !others.isEmpty { handler?.group(self, ended: others) }
    pump()
  }

  package func connection(_ connection: ClientConnection, changed event: ClientConnection.Event) {
    switch event {
    case .opened: refreshState()
    case .capacity: break
    case .goingAway(let goAway):
      // A connection that ended before it answered anything must not be followed by the next at once.
      if connection.answeredCount == 0 {
        failed(HTTP2Error(.goneAway, "\(endpoint.authority) sent GOAWAY: \(goAway.code)"))
      }
      handler?.group(self, heard: goAway)
    case .closed(let error):
      connections.removeAll { $0 === connection }
      if connection.answeredCount == 0, connection.goAwayReceived == nil, let error, error.code != .stopped {
        failed(error)
      }
      refreshState()
    }
    pump()
  }
}

extension ClientGroup {
  /// Runs `body` on the group's loop, where everything but ``submit(_:)`` belongs.
  package func onLoop(_ body: @escaping @Sendable (ClientGroup) -> Void) {
    loop.execute { [self] in body(self) }
  }
}

/// Receives the events of a ``ClientGroup``, always on its loop's thread.
package protocol ClientGroupHandler: AnyObject {
  /// Requests ended, each exactly once. `notProcessed` only if it was cancelled or refused too often.
  func group(_ group: ClientGroup, ended answers: [Answer])
  func group(_ group: ClientGroup, changed state: ClientGroup.State)
  /// The end of a connection was announced; the group continues with another.
  func group(_ group: ClientGroup, heard goAway: GoAway)
  /// Requests are about to be sent: refresh expiring fields here, with ``ClientGroup/setSharedFields(_:)``.
  func groupWillSend(_ group: ClientGroup)
}
