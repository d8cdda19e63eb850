import CNGHTTP2
import Reactor

extension ClientConnection {
  /// Fields added to every request from now on, as `authorization`.
  public func setSharedFields(_ fields: [HeaderField]) {
    precondition(loop.isCurrent)
    self.fields.shared = FieldStorage(fields)
  }

  /// Sends requests of a batch, at most as many as ``claimCapacity()`` said.
  ///
  /// - Returns: how many were taken, from `first` on. Each of them ends in one ``Answer``; the others are not ours.
  public func submit(_ batch: RequestBatch, from first: Int, count: Int) -> Int {
    precondition(loop.isCurrent && first >= 0 && first + count <= batch.count)
    guard state == .open, let session, let transport else { return 0 }
    isVerified = false
    isSubmitting = true
    defer { isSubmitting = false }
    let deadline = EventLoop.now() + configuration.requestTimeout.nanoseconds
    let room = min(count, limit - slots.used)
    var taken = 0
    while taken < room, state == .open {
      if !transport.hasRoom {
        transport.flushRecords()
        guard transport.hasRoom, state == .open else {
          hadNoRoom = true
          break
        }
      }
      guard start(batch, first + taken, deadline, session, transport) else { break }
      taken += 1
    }
    return taken
  }

  /// Sends what was submitted. Not done by ``submit(_:from:count:)``, so that several batches share a TLS record.
  public func flush() {
    precondition(loop.isCurrent)
    transport?.flush()
    report()
  }

  private func start(
    _ batch: RequestBatch, _ index: Int, _ deadline: UInt64, _ session: OpaquePointer, _ transport: SecureTransport
  ) -> Bool {
    let storage = batch.storage
    let (bodyOffset, bodyLength) = fields.prepare(storage, storage.items[index])
    let slot = slots.insert(
      SlotTable.Slot(batch: batch, index: index, deadline: deadline, start: transport.appended))
    let hasBody = bodyLength < 0 ? storage.commonBodyCount > 0 : bodyLength > 0
    // The offset of an own body is found again by the reading callback.
    slot.pointee.bodyOffset = bodyLength < 0 ? -1 : bodyOffset
    let stream: Int32
    if hasBody {
      var provider = nghttp2_data_provider(
        source: nghttp2_data_source(ptr: UnsafeMutableRawPointer(slot)), read_callback: Self.readBody)
      stream = nghttp2_submit_request(session, nil, fields.entries, fields.count, &provider, slot)
    } else {
      stream = nghttp2_submit_request(session, nil, fields.entries, fields.count, nil, slot)
    }
    guard stream > 0 else {
      _ = slots.remove(slot)
      // Out of stream ids (NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE), or out of memory: a new connection helps with both.
      state = .draining
      return false
    }
    slot.pointee.streamID = stream
    if stream >= configuration.maximumStreamID - 1 { state = .draining }
    // At once: nothing stays in nghttp2's queue, and the fields need not be copied.
    sendFrames()
    return true
  }

  private static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
    guard let buffer, let flags, let slot = source?.pointee.ptr?.assumingMemoryBound(to: SlotTable.Slot.self) else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    let storage = slot.pointee.batch.storage
    let body: UnsafeMutableRawPointer
    let size: Int
    if slot.pointee.bodyOffset < 0 {
      (body, size) = (storage.commonBody, storage.commonBodyCount)
    } else {
      body = storage.bytes + slot.pointee.bodyOffset
      size = Int(storage.items[slot.pointee.index].bodyLength)
    }
    // `length` is what frame size and flow control allow: often less than the rest of the body.
    let sent = slot.pointee.bodySent
    let count = min(length, size - sent)
    UnsafeMutableRawPointer(buffer).copyMemory(from: body + sent, byteCount: count)
    slot.pointee.bodySent = sent + count
    if sent + count == size { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
  }

  /// Moves the frames that nghttp2 has ready into the transport.
  func sendFrames() {
    guard let session, let transport, !transport.isClosed else { return }
    depth += 1
    while true {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count > 0, let bytes else {
        if count < 0, closing == nil {
          let words = String(cString: nghttp2_strerror(Int32(count)))
          closing = HTTP2Error(.protocolViolation, "HTTP/2 to \(endpoint.authority) failed: \(words).")
        }
        break
      }
      transport.append(bytes, count)
    }
    depth -= 1
    if depth == 0, let error = closing { fail(error) }
  }
}
