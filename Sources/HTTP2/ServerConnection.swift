import CNGHTTP2
import Glibc
import OpenSSL
import Reactor

/// One client of an ``HTTP2Server``. Its methods may be called from any thread; they act on the server's loop.
package final class ServerConnection: @unchecked Sendable {
  // @unchecked Sendable because mutable state is touched on the loop's thread only; `onLoop` brings other threads'
  // calls there.

  /// Counts up within one server.
  package let id: Int
  /// The client's certificate in DER form; nil if none. Set when the handler learns of the connection.
  package internal(set) var clientCertificate: [UInt8]?
  /// Requests that came in and are not completely answered. Loop only.
  package var openStreams: Int { streams.count }
  /// Whether the client agreed on `h2` by ALPN; some clients send the preface without.
  package internal(set) var usesALPN = false

  let loop: EventLoop
  let settings: ServerSettings
  /// Retained: a server lives until its last connection is closed.
  let server: HTTP2Server
  var session: OpaquePointer?
  var transport: SecureTransport?
  var depth = 0
  var closing: HTTP2Error?
  var isClosed = false
  var isAnnounced = false
  /// Complete requests; the handler is called after nghttp2 has returned.
  var complete: [ServerStream] = []
  /// Owns the streams that nghttp2 points to.
  var streams: [Int32: ServerStream] = [:]
  /// Requests above it are dropped: the client was told so.
  var lastStreamID = Int32.max
  var flushIsPlanned = false
  /// The handler is being called, and everything is flushed afterwards.
  var isServing = false
  var handshakeTimer: EventLoop.Timer?
  var idleTimer: EventLoop.Timer?
  /// When bytes last came in, in nanoseconds of the loop's clock.
  var heardAt: UInt64 = 0
  /// Whether ALPN or the preface showed that the client speaks HTTP/2: nothing is sent before.
  var isSpeaking = false
  /// Bytes of the preface that came in without ALPN.
  var prefaceBytes = 0
  /// The client speaks another protocol and was told so; its bytes are dropped until it closes.
  var isRefused = false
  /// The client speaks HTTP/1.1, and the settings allow it.
  var plain: Plain?

  init(id: Int, server: HTTP2Server) {
    self.id = id
    self.server = server
    loop = server.loop
    settings = server.settings
  }

  deinit {
    if let session { nghttp2_session_del(session) }
  }

  func start(_ descriptor: Int32, _ context: TLSContext) {
    // The timer retains the connection and is cancelled when it ends. A weak reference would make every retain of the
    // connection, several for each request, take Swift's slow path.
    handshakeTimer = loop.schedule(after: settings.handshakeTimeout) { [self] in
      guard !isAnnounced else { return }
      fail(HTTP2Error(.connectTimeout, "The client did not start the handshake within \(settings.handshakeTimeout)."))
    }
    do {
      let transport = try SecureTransport(
        loop: loop, descriptor: descriptor, context: context, serverName: nil, owner: self)
      self.transport = transport
      try transport.start()
    } catch {
      fail(HTTP2Error(.connection, "\(error)"))
    }
  }

  /// Runs `body` on the loop, at once if this is the loop.
  func onLoop(_ body: @escaping @Sendable (ServerConnection) -> Void) {
    if loop.isCurrent {
      body(self)
    } else {
      loop.execute { [self] in body(self) }
    }
  }

  /// Announces the end (GOAWAY). Requests above the last stream id are dropped, the others are still answered.
  ///
  /// - Parameters:
  ///   - lastStreamID: nil: the last one that came in.
  ///   - debugData: at APNs, JSON with a `reason`.
  package func goAway(_ code: ErrorCode = .noError, lastStreamID: Int32? = nil, debugData: [UInt8] = []) {
    onLoop { connection in
      if connection.plain != nil { return connection.endPlain() }
      guard let session = connection.session, !connection.isClosed else { return }
      let last = lastStreamID ?? nghttp2_session_get_last_proc_stream_id(session)
      connection.lastStreamID = min(connection.lastStreamID, last)
      // Fails only for lack of memory.
      nghttp2_submit_goaway(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debugData, debugData.count)
      connection.planFlush()
    }
  }

  /// Changes how many streams the client may have open.
  package func setMaximumStreams(_ limit: UInt32) {
    onLoop { connection in
      guard let session = connection.session, !connection.isClosed else { return }
      var entry = nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: limit)
      nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
      connection.planFlush()
    }
  }

  /// Cuts the connection without sending what waits, as when a machine dies.
  package func cut() {
    onLoop { $0.fail(HTTP2Error(.stopped, "The server dropped the connection.")) }
  }

  /// Sends what waits, and closes in good order.
  package func close() {
    onLoop { connection in
      connection.flush()
      connection.fail(nil)
    }
  }

  // MARK: Idleness

  /// Checks again when the client will have been idle for the whole limit.
  func watchIdleness() {
    guard let limit = settings.idleTimeout, !isClosed else { return }
    idleTimer = loop.schedule(after: streams.isEmpty ? max(limit - idleTime, .zero) : limit) { [self] in
      guard !isClosed else { return }
      guard streams.isEmpty, idleTime >= limit else { return watchIdleness() }
      server.handler.idled(self)
    }
  }

  private var idleTime: Duration { .nanoseconds(Int64(clamping: loop.now() &- heardAt)) }

  // MARK: Ending

  func fail(_ error: HTTP2Error?) {
    guard !isClosed else { return }
    guard depth == 0 else {
      if closing == nil { closing = error ?? HTTP2Error(.stopped, "The server closed the connection.") }
      return
    }
    isClosed = true
    handshakeTimer?.cancel()
    idleTimer?.cancel()
    transport?.close(saying: error?.code != .stopped)
    transport = nil
    streams.removeAll()
    complete.removeAll()
    server.closed(self, error)
  }

  /// Sends once at the end of this turn of the loop, however many answers there are.
  func planFlush() {
    guard !flushIsPlanned, !isServing else { return }
    flushIsPlanned = true
    loop.execute { [self] in
      flushIsPlanned = false
      flush()
    }
  }

  func flush() {
    sendFrames()
    transport?.flush()
    closeIfOver()
  }

  func closeIfOver() {
    guard !isClosed, let transport, transport.waiting == 0 else { return }
    if let plain, plain.isOver, plain.answering == nil { return fail(nil) }
    guard let session else { return }
    if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 { fail(nil) }
  }
}

/// One incoming request and its answer.
final class ServerStream {
  let id: Int32
  var fields = HeaderList()
  var headerIsTooLong = false
  /// Its answer has no body (RFC 9110 §9.3.2).
  var isHead = false
  var body: [UInt8] = []
  var bodyByteCount = 0
  var isAnswered = false
  var answer: [UInt8] = []
  var answerSent = 0

  init(id: Int32) { self.id = id }
}
