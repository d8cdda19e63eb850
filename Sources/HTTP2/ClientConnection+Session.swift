import CNGHTTP2
import OpenSSL
import Reactor

extension ClientConnection: SecureTransportOwner {
  func transportOpened() {
    guard let transport else { return }
    guard transport.tls.alpn == "h2" else {
      return fail(
        HTTP2Error(.notHTTP2, "\(endpoint.authority) does not speak HTTP/2 (it did not agree on h2 by ALPN)."))
    }
    lastReceived = EventLoop.now()
    guard makeSession() else {
      return fail(HTTP2Error(.protocolViolation, "No HTTP/2 session can be made: out of memory."))
    }
    sendFrames()
    transport.flush()
  }

  private func makeSession() -> Bool {
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return false }
    defer { nghttp2_session_callbacks_del(callbacks) }
    Self.install(callbacks)
    let me = Unmanaged.passUnretained(self).toOpaque()
    guard nghttp2_session_client_new(&session, callbacks, me) == 0, let session else { return false }
    let settings = [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: 32_768),
    ]
    guard nghttp2_submit_settings(session, 0, settings, settings.count) == 0 else { return false }
    // Answers are small and read at once: a wide window for the whole connection spares WINDOW_UPDATE frames.
    return nghttp2_session_set_local_window_size(session, 0, 0, 16 << 20) == 0
  }

  func transport(received bytes: UnsafeRawBufferPointer) -> Bool {
    guard let session, let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
    lastReceived = EventLoop.now()
    depth += 1
    let count = nghttp2_session_mem_recv(session, start, bytes.count)
    depth -= 1
    if count < 0, closing == nil {
      let words = String(cString: nghttp2_strerror(Int32(count)))
      closing = HTTP2Error(.protocolViolation, "\(endpoint.authority) broke HTTP/2: \(words).")
    }
    if let error = closing {
      fail(error)
      return false
    }
    return state != .closed
  }

  func transportSettled() {
    guard state != .closed, let session, let transport else { return }
    sendFrames()
    report()
    guard state != .closed else { return }
    transport.flush()
    if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0, transport.waiting == 0 {
      return fail(goAwayError)
    }
    closeIfDrained()
    if transport.hasRoom, state == .open, hadNoRoom {
      hadNoRoom = false
      events.append(.capacity)
      report()
      transport.flush()
    }
  }

  func transportFailed(_ error: HTTP2Error?) {
    fail(goAwayError ?? error)
  }

  // MARK: nghttp2's callbacks
  // Closures without captures in a nonisolated function (ENGINEERING, "Swift / C import notes"). They only note
  // what happened: closing and telling others wait until nghttp2 has returned.

  private static func install(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameCount, value, valueCount, _, me in
      guard let me, let frame, let name, let value else { return 0 }
      let connection = Unmanaged<ClientConnection>.fromOpaque(me).takeUnretainedValue()
      connection.received(
        field: UnsafeBufferPointer(start: name, count: nameCount),
        value: UnsafeBufferPointer(start: value, count: valueCount), stream: frame.pointee.hd.stream_id)
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, me in
      guard let me, let bytes else { return 0 }
      let connection = Unmanaged<ClientConnection>.fromOpaque(me).takeUnretainedValue()
      connection.received(body: UnsafeBufferPointer(start: bytes, count: count), stream: stream)
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, me in
      guard let me, let frame else { return 0 }
      Unmanaged<ClientConnection>.fromOpaque(me).takeUnretainedValue().received(frame)
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, me in
      guard let me else { return 0 }
      Unmanaged<ClientConnection>.fromOpaque(me).takeUnretainedValue().closed(stream, ErrorCode(rawValue: code))
      return 0
    }
  }

  private func slot(_ stream: Int32) -> UnsafeMutablePointer<SlotTable.Slot>? {
    guard let session else { return nil }
    return nghttp2_session_get_stream_user_data(session, stream)?.assumingMemoryBound(to: SlotTable.Slot.self)
  }

  private func received(field name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, stream: Int32) {
    guard let slot = slot(stream) else { return }
    if name.count == 7, name[0] == UInt8(ascii: ":") {
      // `:status` is the only pseudo-field of an answer: three digits, nghttp2 has checked it.
      slot.pointee.status = value.reduce(0) { $0 * 10 + Int($1 & 15) }
      // The fields of 1xx answers are those of another answer.
      slot.pointee.fields = nil
    } else if configuration.keepsFieldsOfSuccess || !(200..<300).contains(slot.pointee.status) {
      if slot.pointee.fields == nil { slot.pointee.fields = HeaderList() }
      slot.pointee.fields?.append(name: name, value: value)
    }
  }

  private func received(body bytes: UnsafeBufferPointer<UInt8>, stream: Int32) {
    guard let slot = slot(stream) else { return }
    guard slot.pointee.body.count + bytes.count <= configuration.maximumAnswerBytes else {
      slot.pointee.isTooLong = true
      return reset(stream)
    }
    slot.pointee.body.append(contentsOf: bytes)
  }

  func reset(_ stream: Int32) {
    guard let session else { return }
    // Fails only for lack of memory; then the connection fails at the next frame.
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, ErrorCode.cancel.rawValue)
  }

  private func received(_ frame: UnsafePointer<nghttp2_frame>) {
    let header = frame.pointee.hd
    switch UInt32(header.type) {
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
      if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
        slot(header.stream_id)?.pointee.isComplete = true
      }
    case NGHTTP2_SETTINGS.rawValue:
      guard header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return }
      if state == .connecting {
        state = .open
        timer?.cancel()
        watch()
        events.append(.opened)
      } else {
        events.append(.capacity)
      }
    case NGHTTP2_PING.rawValue:
      if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 {
        pingSent = nil
        isVerified = true
        events.append(.capacity)
      }
    case NGHTTP2_GOAWAY.rawValue:
      let goAway = frame.pointee.goaway
      let received = GoAway(
        lastStreamID: goAway.last_stream_id, code: ErrorCode(rawValue: goAway.error_code),
        debugData: Array(UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)))
      goAwayReceived = received
      if state == .open || state == .connecting { state = .draining }
      events.append(.goingAway(received))
    default: break
    }
  }

  private func closed(_ stream: Int32, _ code: ErrorCode) {
    guard let found = slot(stream) else { return }
    let slot = slots.remove(found)
    let result: Answer.Result
    if slot.isComplete, slot.status >= 200 {
      answeredCount += 1
      if slot.status != 401, slot.status != 403 { hasProven = true }
      let isBare = slot.fields == nil && slot.body.isEmpty
      result = .answered(
        status: slot.status, detail: isBare ? nil : .init(fields: slot.fields ?? HeaderList(), body: slot.body))
    } else if slot.isLate {
      result = .unknown(.timeout)
    } else if slot.isTooLong {
      result = .unknown(.tooLong)
    } else if code == .refusedStream, slot.status == 0 {
      // RFC 9113 §8.7; nghttp2 gives this code also to streams above a GOAWAY's last one.
      result = .notProcessed
    } else {
      result = .unknown(.reset(code))
    }
    ended.append(slot.answer(result))
  }

  /// The announced end, if it was announced.
  var goAwayError: HTTP2Error? {
    goAwayReceived.map { goAway in
      let words = goAway.debugData.isEmpty ? "" : " " + String(decoding: goAway.debugData.prefix(200), as: UTF8.self)
      return HTTP2Error(.goneAway, "\(endpoint.authority) announced the end: \(goAway.code)\(words)")
    }
  }
}
