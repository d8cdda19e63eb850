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
    /// No connection could be opened, or no request was answered, for this reason; retried while something waits.
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
  /// Whether a request would be sent at once: a connection is open, and no pause lasts. Loop only.
  package var canTry: Bool { retry == nil && connections.contains { $0.state == .open } }

  let loop: EventLoop
  let configuration: ClientGroupConfiguration
  private let resolver: BlockingPool
  private(set) weak var handler: (any ClientGroupHandler)?
  private var sharedFields: [HeaderField] = []
  var connections: [ClientConnection] = []
  var queue = RequestQueue()
  var setbacks: Setbacks
  /// Why nothing was answered since the last setback; nil: something was.
  private var lastError: HTTP2Error?
  /// Runs during a pause after a setback.
  private var retry: EventLoop.Timer?
  /// No connection is opened before.
  var connectAt: UInt64 = 0
  private var ticker: EventLoop.Timer?
  var lastProgress: UInt64 = 0
  private var isPumping = false
  private var pumpsAgain = false
  private(set) var isStopped = false

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
    setbacks = Setbacks(first: configuration.reconnectDelay, longest: configuration.maximumReconnectDelay)
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

  func pump() {
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
    if let allowance = setbacks.allowance { room = min(room, allowance) }
    guard room > 0 else { return }
    while room > 0, let (batch, first, count) = queue.next(atMost: room) {
      let taken = connection.submit(batch, from: first, count: count)
      queue.take(taken)
      setbacks.sent(taken)
      room -= taken
      if taken > 0 { lastProgress = loop.now() }
      if taken < count { break }
    }
    connection.flush()
  }

  // MARK: Connections

  private func connect() {
    guard !isStopped, retry == nil, loop.now() >= connectAt else { return }
    let connection = ClientConnection(
      loop: loop, endpoint: endpoint, configuration: configuration.connection, resolver: resolver, handler: self)
    connection.setSharedFields(sharedFields)
    connections.append(connection)
    connection.start()
    refreshState()
  }

  /// Pauses, because requests or a connection ended without an answer.
  func pause(_ error: HTTP2Error) {
    guard !isStopped else { return }
    lastError = error
    // What ends during a pause belongs to the same setback.
    guard retry == nil else { return }
    // Jitter of 20 %, so that many clients do not reconnect at the same moment.
    let delay = setbacks.pause(isLasting: error.isLasting) * Double.random(in: 0.8...1.2)
    retry = loop.schedule(after: delay) { [weak self] in
      guard let self else { return }
      retry = nil
      setbacks.resume()
      tellState()
      pump()
    }
  }

  func succeeded() {
    guard lastError != nil || retry != nil else { return }
    lastError = nil
    retry?.cancel()
    retry = nil
    refreshState()
  }

  private func refreshState() {
    let now: State
    if let lastError {
      now = .failing(lastError)
    } else if connections.contains(where: { $0.state == .open }) {
      now = .ready
    } else {
      now = connections.contains { $0.state == .connecting } ? .connecting : .idle
    }
    guard now != state else { return }
    state = now
    handler?.group(self, changed: now)
  }

  /// Tells a failure even if it is the same: a further setback, the end of a pause, or a connection to try it on.
  func tellState() {
    let before = state
    refreshState()
    if state == before, lastError != nil { handler?.group(self, changed: state) }
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
    guard mayGrow, setbacks.allowance == nil, !queue.isEmpty else { return }
    guard !live.isEmpty, live.count < configuration.maximumConnections else { return }
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
  /// Whether an answer is one of the service that is asked, and not of something in its place.
  func group(_ group: ClientGroup, believes answer: Answer) -> Bool
  /// The end of a connection was announced; the group continues with another.
  func group(_ group: ClientGroup, heard goAway: GoAway)
  /// Requests are about to be sent: refresh expiring fields here, with ``ClientGroup/setSharedFields(_:)``.
  func groupWillSend(_ group: ClientGroup)
}

extension ClientGroupHandler {
  /// Always.
  package func group(_ group: ClientGroup, believes answer: Answer) -> Bool { true }
}
