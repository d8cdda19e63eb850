import Glibc
import OpenSSL
package import Reactor

/// One HTTP/2 connection to a server, over TLS. Loop thread only, except `init`.
///
/// Never holds a request that it cannot send at once: callers ask for ``claimCapacity()`` first and keep the rest.
/// Every request taken ends in exactly one ``Answer``, also when the connection is lost.
package final class ClientConnection: @unchecked Sendable {
  // @unchecked Sendable because every entry point checks `precondition(loop.isCurrent)`, and nothing else touches the
  // state.

  package enum State: Sendable, Equatable {
    case idle
    /// Name look-up, TCP, TLS, until the peer's first SETTINGS.
    case connecting
    case open
    /// Finishes what is in flight and takes nothing new.
    case draining
    case closed
  }

  /// A change that the handler may act on.
  package enum Event: Sendable {
    /// The peer's first SETTINGS came.
    case opened
    /// There may be more room than before.
    case capacity
    /// The peer announced the end; nothing new is taken.
    case goingAway(GoAway)
    /// The connection is closed, after everything in flight ended; ``HTTP2Error/Code/stopped``: by us.
    case closed(HTTP2Error)
  }

  package let endpoint: Endpoint
  package internal(set) var state = State.idle
  /// Requests that are not answered yet.
  package var inFlight: Int { session.slots.used }
  package var answeredCount: Int { session.answeredCount }
  /// How many concurrent streams the peer's last SETTINGS allow.
  package var peerLimit: Int { session.hasSettings ? Int(session.peer.maximumStreams) : 0 }

  let loop: EventLoop
  let configuration: ClientConfiguration
  let resolver: BlockingPool
  weak var handler: (any ClientConnectionHandler)?

  let session: ClientSession
  var transport: SecureTransport?
  var connector: Connector?
  /// Changes since the handler was last told, besides the session's answers.
  var events: [Event] = []
  var hasProven: Bool
  /// A request was turned away because the socket took no more.
  var hadNoRoom = false
  var isSubmitting = false
  var pingSent: UInt64?
  /// A PING was answered since the last request.
  var isVerified = false
  var lastReceived: UInt64 = 0
  var timer: EventLoop.Timer?
  /// Whether the last look at the time came late.
  var wasLate = false

  /// Creates a connection; nothing happens before ``start()``.
  ///
  /// - Parameters:
  ///   - resolver: where the blocking name look-up runs.
  ///   - handler: not retained.
  package init(
    loop: EventLoop, endpoint: Endpoint, configuration: ClientConfiguration, resolver: BlockingPool,
    handler: any ClientConnectionHandler
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.configuration = configuration
    self.resolver = resolver
    self.handler = handler
    session = ClientSession(authority: endpoint.authority, configuration: configuration)
    hasProven = !configuration.provesFirst
  }

  // MARK: Beginning

  /// Looks the name up and connects; an event reports the outcome.
  package func start() {
    precondition(loop.isCurrent && state == .idle)
    Socket.ignoreBrokenPipeSignal()
    state = .connecting
    let seconds = configuration.connectTimeout
    // Timers retain the connection and are cancelled when it ends. A weak reference would make every retain of the
    // connection, several for each request, take Swift's slow path.
    timer = loop.schedule(after: seconds) { [self] in
      guard state == .connecting else { return }
      fail(
        connector?.overdue
          ?? HTTP2Error(.connectTimeout, "\(endpoint.authority) did not answer within \(seconds)."))
    }
    // Look up for each connection: Apple's addresses change.
    connector = Connector(loop: loop, endpoint: endpoint, configuration: configuration, resolver: resolver) {
      [self] result in
      guard state == .connecting else {
        if case .success(let descriptor) = result { Glibc.close(descriptor) }
        return
      }
      connector = nil
      switch result {
      case .success(let descriptor): connected(descriptor)
      case .failure(let error): fail(error)
      }
    }
    connector?.start()
  }

  private func connected(_ descriptor: Int32) {
    do {
      let transport = try SecureTransport(
        loop: loop, descriptor: descriptor, context: endpoint.tls, serverName: endpoint.host,
        output: session.output, owner: self)
      self.transport = transport
      try transport.start()
    } catch let error as TLSError {
      fail(HTTP2Error(error))
    } catch {
      fail(HTTP2Error(.connection, "\(error)"))
    }
  }

  // MARK: Capacity

  /// How many requests may be submitted now.
  ///
  /// Also 0 while a connection that was silent for long is checked with a PING; an event tells when there is room.
  package func claimCapacity() -> Int {
    precondition(loop.isCurrent)
    guard state == .open, let transport else { return 0 }
    guard transport.hasRoom else {
      hadNoRoom = true
      return 0
    }
    if inFlight == 0 {
      if pingSent != nil { return 0 }
      if !isVerified, loop.now() - lastReceived > configuration.verifyAfter.nanoseconds {
        ping()
        return 0
      }
    }
    return max(0, limit - inFlight)
  }

  /// How many requests may be in flight: the peer's limit, ours, and one until a first one was accepted.
  package var limit: Int { min(peerLimit, hasProven ? configuration.maximumStreams : 1) }

  /// Whether the stream limit is reached.
  package var isSaturated: Bool { state == .open && inFlight >= limit }

  /// Takes nothing new, and closes when everything in flight has been answered.
  package func drain() {
    precondition(loop.isCurrent)
    switch state {
    case .idle, .connecting: fail(Self.unneeded)
    case .open:
      state = .draining
      closeIfDrained()
    case .draining, .closed: break
    }
  }

  /// Closes at once. Requests that were written end as `unknown`.
  package func close(_ error: HTTP2Error) {
    precondition(loop.isCurrent)
    fail(error)
  }

  func closeIfDrained() {
    guard state == .draining, inFlight == 0 else { return }
    if transport?.isOpen == true {
      session.sayGoodbye(.noError)
      transport?.flush()
    }
    fail(goAwayError ?? Self.unneeded)
  }

  private static let unneeded = HTTP2Error(.stopped, "The connection was no longer needed.")

  /// Ends the connection at once.
  func fail(_ error: HTTP2Error) {
    guard state != .closed else { return }
    state = .closed
    timer?.cancel()
    connector?.cancel()
    connector = nil
    let written = transport?.written ?? 0
    transport?.close(saying: [.goneAway, .stopped, .closedByPeer].contains(error.code))
    for slot in session.slots.all {
      // A request of which not one byte left this process cannot have been processed.
      session.end(slot, slot.pointee.start >= written ? .notProcessed : .unknown(.connection(error)))
    }
    events.append(.closed(error))
    report()
    transport = nil
  }

  /// Tells the handler what happened since the last call, answers first.
  func report() {
    // Not while submitting: the handler would get answers to requests that it is just handing over.
    guard !isSubmitting else { return }
    while !session.ended.isEmpty || !events.isEmpty {
      let answers = session.takeEnded()
      let news = events
      events.removeAll()
      if !hasProven { hasProven = answers.contains { $0.proves } }
      if !answers.isEmpty { handler?.connection(self, ended: answers) }
      for event in news { handler?.connection(self, changed: event) }
    }
  }
}

extension Answer {
  /// Whether this answer shows that the peer accepted our credentials.
  fileprivate var proves: Bool {
    if case .answered(let status, _) = result { status != 401 && status != 403 } else { false }
  }
}

extension Duration {
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000)
  }
}

/// Receives the events of a ``ClientConnection``, always on its loop's thread.
package protocol ClientConnectionHandler: AnyObject {
  /// Requests ended; each is reported exactly once.
  func connection(_ connection: ClientConnection, ended answers: [Answer])
  func connection(_ connection: ClientConnection, changed event: ClientConnection.Event)
}
