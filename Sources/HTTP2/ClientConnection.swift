import CNGHTTP2
import Glibc
import OpenSSL
public import Reactor

/// One HTTP/2 connection to a server, over TLS. Loop thread only, except `init`.
///
/// It never holds a request that it cannot send at once: whoever submits asks for ``claimCapacity()`` first and keeps
/// the rest. Every request taken ends in exactly one ``Answer``, also when the connection is lost.
public final class ClientConnection: @unchecked Sendable {
  // @unchecked because: every entry point holds `precondition(loop.isCurrent)`, and nothing else touches the state.

  /// How far a connection is.
  public enum State: Sendable, Equatable {
    case idle
    /// Name look-up, TCP, TLS, until the peer's first SETTINGS.
    case connecting
    case open
    /// Finishes what is in flight, takes nothing new.
    case draining
    case closed
  }

  /// A change that the handler may want to act on.
  public enum Event: Sendable {
    /// The peer's first SETTINGS came.
    case opened
    /// There may be more room than before.
    case capacity
    /// The peer announced the end; nothing new is taken.
    case goingAway(GoAway)
    /// Over. Everything in flight has ended before. Nil: in good order.
    case closed(HTTP2Error?)
  }

  /// Where to.
  public let endpoint: Endpoint
  /// How far it is.
  public internal(set) var state = State.idle
  /// Requests without an answer yet.
  public var inFlight: Int { slots.used }
  /// How many requests were answered, whatever the status.
  public internal(set) var answeredCount = 0
  /// How many streams the peer allows at once, as its last SETTINGS said.
  public var peerLimit: Int {
    guard let session else { return 0 }
    return Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }
  /// The agreed TLS version and cipher, for logs; empty before the handshake is done.
  public var security: String { transport.map { "\($0.tls.version) \($0.tls.cipher)" } ?? "" }

  let loop: EventLoop
  let configuration: ClientConfiguration
  let resolver: BlockingPool
  weak var handler: (any ClientConnectionHandler)?

  var session: OpaquePointer?
  var transport: SecureTransport?
  var connector: Connector?
  var slots: SlotTable
  var fields = RequestFields()
  /// What ended since the handler was last told.
  var ended: [Answer] = []
  var events: [Event] = []
  var hasProven: Bool
  /// Why to close as soon as nghttp2 has returned.
  var closing: HTTP2Error?
  /// How many calls of nghttp2 are under way: it must not be freed inside of one.
  var depth = 0
  /// Something was turned away because the socket took no more.
  var hadNoRoom = false
  var isSubmitting = false
  var pingSent: UInt64?
  /// A PING was answered since the last request.
  var isVerified = false
  var lastReceived: UInt64 = 0
  var timer: EventLoop.Timer?
  var goAwayReceived: GoAway?

  /// Creates a connection; nothing happens before ``start()``.
  ///
  /// - Parameters:
  ///   - resolver: where the blocking name look-up runs.
  ///   - handler: not retained.
  public init(
    loop: EventLoop, endpoint: Endpoint, configuration: ClientConfiguration, resolver: BlockingPool,
    handler: any ClientConnectionHandler
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.configuration = configuration
    self.resolver = resolver
    self.handler = handler
    slots = SlotTable(capacity: configuration.maximumStreams)
    hasProven = !configuration.provesFirst
  }

  deinit {
    if let session { nghttp2_session_del(session) }
  }

  // MARK: Beginning

  /// Looks the name up and connects. An event tells how it went.
  public func start() {
    precondition(loop.isCurrent && state == .idle)
    Socket.ignoreBrokenPipeSignal()
    state = .connecting
    let seconds = configuration.connectTimeout
    timer = loop.schedule(after: seconds) { [weak self] in
      guard let self, state == .connecting else { return }
      fail(HTTP2Error(.connectTimeout, "\(endpoint.authority) did not answer within \(seconds)."))
    }
    connector = Connector(loop: loop, endpoint: endpoint, resolver: resolver) { [weak self] result in
      guard let self, state == .connecting else {
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
        loop: loop, descriptor: descriptor, context: endpoint.tls, serverName: endpoint.host, owner: self)
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
  /// 0 also while a connection that was silent for long is tried with a PING; an event tells when there is room.
  public func claimCapacity() -> Int {
    precondition(loop.isCurrent)
    guard state == .open, let transport else { return 0 }
    guard transport.hasRoom else {
      hadNoRoom = true
      return 0
    }
    if slots.used == 0 {
      if pingSent != nil { return 0 }
      if !isVerified, EventLoop.now() - lastReceived > configuration.verifyAfter.nanoseconds {
        ping()
        return 0
      }
    }
    return max(0, limit - slots.used)
  }

  /// How many requests may be in flight: the peer's limit, ours, and one until a first one was accepted.
  public var limit: Int { min(peerLimit, hasProven ? configuration.maximumStreams : 1) }

  /// Whether no more requests could be in flight, however fast the network.
  public var isSaturated: Bool { state == .open && slots.used >= limit }

  // MARK: Ending

  /// Takes nothing new, and closes when everything in flight has been answered.
  public func drain() {
    precondition(loop.isCurrent)
    switch state {
    case .idle, .connecting: fail(HTTP2Error(.stopped, "The connection was not needed any more."))
    case .open:
      state = .draining
      closeIfDrained()
    case .draining, .closed: break
    }
  }

  /// Closes at once. Requests that were written end as unknown.
  public func close(_ error: HTTP2Error) {
    precondition(loop.isCurrent)
    fail(error)
  }

  func closeIfDrained() {
    guard state == .draining, slots.used == 0 else { return }
    if let session, transport?.isOpen == true {
      nghttp2_session_terminate_session(session, ErrorCode.noError.rawValue)
      sendFrames()
      transport?.flush()
    }
    fail(goAwayError)
  }

  /// Ends the connection: at once, or after the present call of nghttp2 has returned.
  func fail(_ error: HTTP2Error?) {
    guard state != .closed else { return }
    guard depth == 0 else {
      if closing == nil { closing = error ?? HTTP2Error(.closedByPeer, "\(endpoint.authority) closed the connection.") }
      return
    }
    state = .closed
    timer?.cancel()
    connector?.cancel()
    connector = nil
    let written = transport?.written ?? 0
    transport?.close(saying: error == nil || error?.code == .goneAway || error?.code == .stopped)
    let cause = error ?? HTTP2Error(.closedByPeer, "\(endpoint.authority) closed the connection.")
    for place in slots.all {
      let slot = slots.remove(place)
      // A request of which not one byte left this process cannot have been processed.
      let result: Answer.Result = slot.start >= written ? .notProcessed : .unknown(.connection(cause))
      ended.append(slot.answer(result))
    }
    events.append(.closed(error))
    report()
    transport = nil
  }

  /// Tells the handler what happened since the last time: answers first.
  func report() {
    // Not in the middle of handing over: the handler would be asked for answers to what it is just handing.
    guard !isSubmitting else { return }
    while !ended.isEmpty || !events.isEmpty {
      let (answers, news) = (ended, events)
      ended.removeAll(keepingCapacity: true)
      events.removeAll()
      if !answers.isEmpty { handler?.connection(self, ended: answers) }
      for event in news { handler?.connection(self, changed: event) }
    }
  }
}

extension Duration {
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000)
  }
}
