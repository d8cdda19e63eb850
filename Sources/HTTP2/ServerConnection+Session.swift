import CNGHTTP2
import OpenSSL
import Reactor

extension ServerConnection: SecureTransportOwner {
  func transportOpened() {
    guard let transport else { return }
    clientCertificate = transport.tls.peerCertificateDER
    usesALPN = transport.tls.alpn == "h2"
    isSpeaking = usesALPN
    if settings.speaksHTTP1, transport.tls.alpn == "http/1.1" { return beginPlain() }
    guard makeSession() else {
      return fail(HTTP2Error(.protocolViolation, "Cannot create an HTTP/2 session: out of memory."))
    }
    sendFrames()
    transport.flush()
  }

  func makeSession() -> Bool {
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return false }
    defer { nghttp2_session_callbacks_del(callbacks) }
    Self.install(callbacks)
    var option: OpaquePointer?
    guard nghttp2_option_new(&option) == 0, let option else { return false }
    defer { nghttp2_option_del(option) }
    // Closed streams are kept only for priorities, which are not used here.
    nghttp2_option_set_no_closed_streams(option, 1)
    let me = Unmanaged.passUnretained(self).toOpaque()
    guard nghttp2_session_server_new2(&session, callbacks, me, option) == 0, let session else { return false }
    let entries = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: settings.maximumStreams),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: settings.initialWindow),
    ]
    guard nghttp2_submit_settings(session, 0, entries, entries.count) == 0 else { return false }
    return nghttp2_session_set_local_window_size(session, 0, 0, 1 << 20) == 0
  }

  func transport(received bytes: UnsafeRawBufferPointer) -> Bool {
    if plain != nil { return receivePlain(bytes) }
    guard let session, let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
    guard !isRefused else { return true }
    heardAt = loop.now()
    depth += 1
    let count = nghttp2_session_mem_recv(session, start, bytes.count)
    depth -= 1
    if !isSpeaking {
      guard count >= 0 else { return refuse(bytes) }
      prefaceBytes += bytes.count
      isSpeaking = prefaceBytes >= Self.preface.count
    }
    if count < 0, closing == nil {
      let words = String(cString: nghttp2_strerror(Int32(count)))
      closing = HTTP2Error(.protocolViolation, "The client does not support HTTP/2: \(words).")
    }
    if closing != nil {
      if count < 0 {
        let error = closing
        closing = nil
        // nghttp2 leaves the explanation to us: the client may speak HTTP/1.1, for instance.
        nghttp2_session_terminate_session(session, ErrorCode.protocolError.rawValue)
        sendFrames()
        transport?.flush()
        if closing == nil { closing = error }
      }
      fail(closing)
      return false
    }
    serveComplete()
    guard !isClosed else { return false }
    if transport?.hasRoom == false { transport?.flushRecords() }
    return !isClosed
  }

  /// RFC 9113 §3.4.
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// Answers a client that neither agreed on h2 nor begins as HTTP/2, in HTTP/1.1. The client closes: a close from here
  /// could overtake the answer.
  private func refuse(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if settings.speaksHTTP1 {
      // What came before looked like the preface: POST begins as it does.
      let whole = Self.preface.prefix(prefaceBytes) + bytes
      beginPlain()
      return whole.withUnsafeBytes { receivePlain($0) }
    }
    isRefused = true
    let body = "This server supports only HTTP/2 over TLS. Offer h2 in ALPN.\n"
    let answer = Array(
      """
      HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain; charset=utf-8\r\n\
      Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)
      """.utf8)
    answer.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { transport?.append(start, bytes.count) }
    }
    transport?.flush()
    return !isClosed
  }

  func transportReady() {
    guard !isClosed else { return }
    flush()
  }

  func transportFailed(_ error: HTTP2Error?) { fail(error) }

  private func serveComplete() {
    guard !complete.isEmpty else { return }
    let requests = complete
    complete.removeAll(keepingCapacity: true)
    isServing = true
    defer { isServing = false }
    for stream in requests where !isClosed && stream.id <= lastStreamID {
      let responder = ServerResponder(connection: self, streamID: stream.id)
      let request = ServerRequest(
        connection: self, streamID: stream.id, fields: stream.fields, body: stream.body,
        bodyByteCount: stream.bodyByteCount)
      stream.isHead = request.method == "HEAD"
      stream.fields = HeaderList()
      stream.body = []
      if stream.headerIsTooLong {
        server.handler.refuseLongHeader(request, responder)
      } else {
        server.handler.serve(request, responder)
      }
    }
  }

  // MARK: nghttp2's callbacks
  // Closures without captures in a nonisolated function (docs/performance.md, "Swift and C import notes"). They only
  // record events: the handler is called when nghttp2 has returned.

  private static func install(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, me in
      guard let me, let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
      Unmanaged<ServerConnection>.fromOpaque(me).takeUnretainedValue().began(frame.pointee.hd.stream_id)
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameCount, value, valueCount, _, me in
      guard let me, let frame, let name, let value else { return 0 }
      // A trailer is no part of the fields, as in HTTP/1.1 (RFC 9110 §6.5).
      guard frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
      Unmanaged<ServerConnection>.fromOpaque(me).takeUnretainedValue().received(
        field: UnsafeBufferPointer(start: name, count: nameCount),
        value: UnsafeBufferPointer(start: value, count: valueCount), stream: frame.pointee.hd.stream_id)
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, me in
      guard let me, let bytes else { return 0 }
      Unmanaged<ServerConnection>.fromOpaque(me).takeUnretainedValue().received(
        body: UnsafeBufferPointer(start: bytes, count: count), stream: stream)
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, me in
      guard let me, let frame else { return 0 }
      Unmanaged<ServerConnection>.fromOpaque(me).takeUnretainedValue().received(frame)
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, me in
      guard let me else { return 0 }
      Unmanaged<ServerConnection>.fromOpaque(me).takeUnretainedValue().streams[stream] = nil
      return 0
    }
  }

  func stream(_ id: Int32) -> ServerStream? {
    guard let session, let pointer = nghttp2_session_get_stream_user_data(session, id) else { return nil }
    return Unmanaged<ServerStream>.fromOpaque(pointer).takeUnretainedValue()
  }

  private func began(_ id: Int32) {
    guard let session else { return }
    let stream = ServerStream(id: id)
    streams[id] = stream
    nghttp2_session_set_stream_user_data(session, id, Unmanaged.passUnretained(stream).toOpaque())
  }

  private func received(field name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, stream: Int32) {
    guard let stream = self.stream(stream) else { return }
    guard stream.fields.byteCount + name.count + value.count <= settings.maximumHeaderBytes else {
      stream.headerIsTooLong = true
      return
    }
    stream.fields.append(name: name, value: value)
  }

  private func received(body bytes: UnsafeBufferPointer<UInt8>, stream: Int32) {
    guard let stream = self.stream(stream) else { return }
    stream.bodyByteCount += bytes.count
    stream.body.append(contentsOf: bytes.prefix(max(0, settings.maximumBodyBytes - stream.body.count)))
  }

  private func received(_ frame: UnsafePointer<nghttp2_frame>) {
    let header = frame.pointee.hd
    switch UInt32(header.type) {
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
      if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let stream = stream(header.stream_id) {
        complete.append(stream)
      }
    case NGHTTP2_SETTINGS.rawValue:
      // The end of the client's preface shows that it speaks HTTP/2.
      if !isAnnounced {
        isAnnounced = true
        handshakeTimer?.cancel()
        watchIdleness()
        server.handler.opened(self)
      }
    default: break
    }
  }
}
