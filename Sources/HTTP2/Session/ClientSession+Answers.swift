extension ClientSession {
  func receivedHeaders(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    let stream = frame.header.stream
    if slots.find(stream) == nil { try mayBeIgnored(stream) }
    var part = try unpadded(frame)
    if frame.header.has(FrameFlag.priority) {
      guard part.count >= 5 else { throw SessionFailure(.frameSizeError, "sent HEADERS too short for a priority") }
      part = UnsafeBufferPointer(rebasing: part[5...])
    }
    let endsStream = frame.header.has(FrameFlag.endStream)
    guard frame.header.has(FrameFlag.endHeaders) else {
      return block.open(stream, endsStream: endsStream, part)
    }
    try received(part, stream, endsStream)
  }

  func receivedContinuation(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    guard block.isOpen else { throw SessionFailure(.protocolError, "sent CONTINUATION without HEADERS") }
    try block.append(frame.payload)
    guard frame.header.has(FrameFlag.endHeaders) else { return }
    let (stream, endsStream) = (block.stream, block.endsStream)
    let bytes = block.close()
    // The closure needs its error type: this compiler's `withUnsafeBufferPointer` does not infer it.
    try bytes.withUnsafeBufferPointer { part throws(SessionFailure) in try received(part, stream, endsStream) }
  }

  private func received(
    _ part: UnsafeBufferPointer<UInt8>, _ stream: Int32, _ endsStream: Bool
  ) throws(SessionFailure) {
    guard let slot = slots.find(stream) else { return try decoder.skip(part) }
    // Most answers of many servers: only the 8th field of the static table, `:status 200`.
    if part.count == 1, part[0] == 0x88, slot.pointee.status == 0 {
      slot.pointee.status = 200
      if endsStream { complete(slot) }
      return
    }
    let old = slot.pointee.status
    var head = AnswerHead(
      trailerOf: old == 0 ? nil : old,
      keepsFieldsOfSuccess: configuration.keepsFieldsOfSuccess
        || slot.pointee.index < slot.pointee.batch.storage.keptAnswers)
    var rest = part
    while let field = try decoder.next(&rest) { head.add(field) }
    switch head.problem {
    case .malformed: return malformed(slot)
    case .tooLong: return reset(slot, .cancel, .unknown(.tooLong))
    case nil: break
    }
    if head.isTrailer {
      guard endsStream else { return malformed(slot) }
      if let fields = head.fields { slot.pointee.append(fields) }
    } else {
      guard head.status >= 100 else { return malformed(slot) }
      if head.status < 200 {
        // 1xx answers carry no final fields, and 101 does not exist in HTTP/2 (RFC 9113 §8.6).
        return try endsStream || head.status == 101 ? malformed(slot) : countIdle()
      }
      slot.pointee.status = head.status
      slot.pointee.fields = head.fields
      slot.pointee.contentLength = head.contentLength
    }
    if endsStream { complete(slot) }
  }

  func receivedData(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    let stream = frame.header.stream
    // Padding counts too (RFC 9113 §6.9.1), and so do bytes of streams that were reset.
    try countBytes(frame.payload.count)
    let part = try unpadded(frame)
    if part.isEmpty { try countIdle() }
    guard let slot = slots.find(stream) else { return try mayBeIgnored(stream) }
    guard slot.pointee.status != 0 else { return malformed(slot) }
    let endsStream = frame.header.has(FrameFlag.endStream)
    slot.pointee.unreported += frame.payload.count
    guard slot.pointee.unreported <= Self.initialWindow else {
      return reset(slot, .flowControlError, .unknown(.reset(.flowControlError)))
    }
    slot.pointee.bodyCount += part.count
    guard slot.pointee.bodyCount <= configuration.maximumAnswerBytes else {
      return reset(slot, .cancel, .unknown(.tooLong))
    }
    slot.pointee.body.append(contentsOf: part)
    if endsStream { return complete(slot) }
    if slot.pointee.unreported > Self.initialWindow / 2 {
      grant(slot.pointee.unreported, stream: stream)
      slot.pointee.unreported = 0
    }
  }

  /// Flow control of the whole connection.
  private func countBytes(_ count: Int) throws(SessionFailure) {
    unreported += count
    guard unreported <= Self.ownWindow else {
      throw SessionFailure(.flowControlError, "exceeded the connection's flow-control window")
    }
    if unreported > Self.ownWindow / 2 {
      grant(unreported, stream: 0)
      unreported = 0
    }
  }

  func receivedReset(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    let code = ErrorCode(rawValue: BigEndian.read32(try start(of: frame, length: 4)))
    let stream = frame.header.stream
    guard !isIdle(stream) else {
      throw SessionFailure(.protocolError, "reset stream \(stream), which was never opened")
    }
    guard let slot = slots.find(stream) else { return }
    // RFC 9113 §8.7: not processed, unless the answer has already begun.
    let isRefused = code == .refusedStream && slot.pointee.status == 0
    end(slot, isRefused ? .notProcessed : .unknown(.reset(code)))
  }

  private func complete(_ slot: UnsafeMutablePointer<SlotTable.Slot>) {
    let status = slot.pointee.status
    let announced = slot.pointee.contentLength
    if announced >= 0, announced != Int64(slot.pointee.bodyCount), status != 304,
      !slot.pointee.batch.storage.template.isHead
    {
      return malformed(slot)
    }
    // The peer answered without waiting for the request's end, and does not need it (RFC 9113 §8.1).
    if !slot.pointee.isSent { abandon(slot, .cancel) }
    answeredCount += 1
    idleFrames = 0
    let done = slots.remove(slot)
    let isBare = done.fields == nil && done.body.isEmpty
    ended.append(
      done.answer(
        .answered(
          status: status, detail: isBare ? nil : .init(fields: done.fields ?? HeaderList(), body: done.body))))
  }

  /// A malformed answer: an error of the stream alone (RFC 9113 §8.1.1).
  private func malformed(_ slot: UnsafeMutablePointer<SlotTable.Slot>) {
    reset(slot, .protocolError, .unknown(.reset(.protocolError)))
  }
}

extension SlotTable.Slot {
  fileprivate mutating func append(_ trailer: HeaderList) {
    if fields == nil { fields = trailer } else { fields?.append(trailer) }
  }
}
