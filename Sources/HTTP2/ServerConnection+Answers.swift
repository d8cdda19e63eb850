import CNGHTTP2

extension ServerConnection {
  func respond(_ response: ServerResponse, on id: Int32) {
    if plain != nil { return respondPlain(response, on: id) }
    guard !isClosed, let session, let stream = stream(id), !stream.isAnswered else { return }
    stream.isAnswered = true
    stream.answer = stream.isHead ? [] : response.body
    let storage = FieldStorage([HeaderField(":status", "\(response.status)")] + response.fields)
    let result: Int32
    if stream.answer.isEmpty {
      result = nghttp2_submit_response(session, id, storage.entries, storage.entries.count, nil)
    } else {
      var provider = nghttp2_data_provider(
        source: nghttp2_data_source(ptr: Unmanaged.passUnretained(stream).toOpaque()), read_callback: Self.readBody)
      result = nghttp2_submit_response(session, id, storage.entries, storage.entries.count, &provider)
    }
    // Fails only for lack of memory: end the stream, so that the client does not wait forever.
    if result != 0 { return reset(id, .internalError) }
    // At once, so that the fields need not be copied.
    sendFrames()
    planFlush()
    withExtendedLifetime(storage) {}
  }

  func reset(_ id: Int32, _ code: ErrorCode) {
    // HTTP/1.1 cannot reset one request.
    if plain != nil { return fail(HTTP2Error(.stopped, "The server dropped the connection.")) }
    guard !isClosed, let session else { return }
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code.rawValue)
    planFlush()
  }

  private static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
    guard let buffer, let flags, let pointer = source?.pointee.ptr else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    let stream = Unmanaged<ServerStream>.fromOpaque(pointer).takeUnretainedValue()
    let sent = stream.answerSent
    let count = min(length, stream.answer.count - sent)
    UnsafeMutableRawBufferPointer(start: buffer, count: count).copyBytes(from: stream.answer[sent..<sent + count])
    stream.answerSent = sent + count
    if stream.answerSent == stream.answer.count { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
  }

  /// Moves the frames that nghttp2 has ready into the transport.
  func sendFrames() {
    guard let session, let transport, isSpeaking, !isClosed else { return }
    depth += 1
    while true {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count > 0, let bytes else {
        if count < 0, closing == nil {
          closing = HTTP2Error(
            .protocolViolation, "HTTP/2 failed: \(String(cString: nghttp2_strerror(Int32(count)))).")
        }
        break
      }
      transport.append(bytes, count)
    }
    depth -= 1
    if depth == 0, let error = closing { fail(error) }
  }
}

/// Header fields laid out as nghttp2 reads them.
final class FieldStorage: @unchecked Sendable {
  // @unchecked Sendable because it is immutable and owns the memory that `entries` points into.

  let entries: [nghttp2_nv]
  private let memory: UnsafeMutablePointer<UInt8>

  init(_ fields: [HeaderField]) {
    let size = fields.reduce(1) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    self.memory = memory
    var next = memory
    entries = fields.map { field in
      let name = next
      for byte in field.name.utf8 {
        next.pointee = byte
        next += 1
      }
      let value = next
      for byte in field.value.utf8 {
        next.pointee = byte
        next += 1
      }
      return nghttp2_nv(
        name: name, value: value, namelen: field.name.utf8.count, valuelen: field.value.utf8.count,
        flags: field.indexing == .never ? Self.flags | UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : Self.flags)
    }
  }

  deinit { memory.deallocate() }

  /// nghttp2 need not copy: every block is encoded before the call that submits it returns.
  private static let flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
}
