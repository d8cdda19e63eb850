extension ClientSession {
  /// Processes received bytes. After a failure the connection is unusable; the GOAWAY for the peer is in ``output``.
  func receive(_ bytes: UnsafeBufferPointer<UInt8>) throws(SessionFailure) {
    var rest = bytes
    do {
      while let frame = try splitter.next(&rest) { try handle(frame) }
    } catch {
      sayGoodbye(error.code)
      throw error
    }
  }

  @inline(__always)
  private func handle(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    let type = frame.header.type
    if !hasSettings || block.isOpen { try checkOrder(frame.header) }
    switch type {
    case FrameType.headers: try receivedHeaders(frame)
    case FrameType.data: try receivedData(frame)
    default: try handleControl(frame)
    }
  }

  private func checkOrder(_ header: FrameHeader) throws(SessionFailure) {
    if block.isOpen {
      guard header.type == FrameType.continuation, header.stream == block.stream else {
        throw SessionFailure(.protocolError, "sent another frame between HEADERS and CONTINUATION")
      }
    } else {
      guard header.type == FrameType.settings, !header.has(FrameFlag.acknowledged) else {
        throw SessionFailure(.protocolError, "did not start with SETTINGS")
      }
    }
  }

  /// Counts a frame that is no part of an answer.
  func countIdle() throws(SessionFailure) {
    idleFrames += 1
    guard idleFrames <= Self.maximumIdleFrames else {
      throw SessionFailure(.enhanceYourCalm, "sent \(Self.maximumIdleFrames) frames without an answer")
    }
  }

  private func handleControl(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    try countIdle()
    switch frame.header.type {
    case FrameType.continuation: try receivedContinuation(frame)
    case FrameType.resetStream: try receivedReset(frame)
    case FrameType.settings: try receivedSettings(frame)
    case FrameType.ping: try receivedPing(frame)
    case FrameType.goAway: try receivedGoAway(frame)
    case FrameType.windowUpdate: try receivedWindowUpdate(frame)
    case FrameType.priority: try receivedPriority(frame)
    case FrameType.pushPromise: throw SessionFailure(.protocolError, "sent a PUSH_PROMISE, which was refused")
    // Unknown types are ignored (RFC 9113 §4.1).
    default: break
    }
  }

  /// The payload of a frame with a fixed length.
  func start(of frame: FrameSplitter.Frame, length: Int) throws(SessionFailure) -> UnsafePointer<UInt8> {
    guard frame.payload.count == length, let start = frame.payload.baseAddress else {
      throw SessionFailure(
        .frameSizeError, "sent a frame of type \(frame.header.type) with \(frame.payload.count) bytes")
    }
    return start
  }

  /// A payload without its padding (RFC 9113 §6.1).
  func unpadded(_ frame: FrameSplitter.Frame) throws(SessionFailure) -> UnsafeBufferPointer<UInt8> {
    guard frame.header.has(FrameFlag.padded) else { return frame.payload }
    guard let first = frame.payload.first else {
      throw SessionFailure(.frameSizeError, "sent a padded frame without a pad length")
    }
    guard Int(first) < frame.payload.count else {
      throw SessionFailure(.protocolError, "sent a frame with more padding than payload")
    }
    return UnsafeBufferPointer(rebasing: frame.payload[1..<frame.payload.count - Int(first)])
  }

  private func mustBeOfConnection(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    guard frame.header.stream == 0 else {
      throw SessionFailure(.protocolError, "sent a frame of type \(frame.header.type) on stream \(frame.header.stream)")
    }
  }

  /// A frame of a stream that is not open: allowed if we reset it, or the peer announced not to serve it.
  func mayBeIgnored(_ stream: Int32) throws(SessionFailure) {
    guard !isIdle(stream) else {
      throw SessionFailure(.protocolError, "answered on stream \(stream), which was never opened")
    }
    if let goAway, stream > goAway.lastStreamID { return }
    guard abandoned.mayContain(stream) else {
      throw SessionFailure(.streamClosed, "continued stream \(stream), which had ended")
    }
  }

  // MARK: Frames of the connection

  private func receivedSettings(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    try mustBeOfConnection(frame)
    if frame.header.has(FrameFlag.acknowledged) {
      guard frame.payload.isEmpty else {
        throw SessionFailure(.frameSizeError, "acknowledged SETTINGS with \(frame.payload.count) bytes")
      }
      guard !isAcknowledged else { throw SessionFailure(.protocolError, "acknowledged SETTINGS that were never sent") }
      isAcknowledged = true
      return
    }
    guard frame.payload.count % 6 == 0 else {
      throw SessionFailure(.frameSizeError, "sent SETTINGS of \(frame.payload.count) bytes")
    }
    let window = peer.initialWindow
    // In order (RFC 9113 §6.5.3): a table may become smaller and larger again in one frame.
    for offset in stride(from: 0, to: frame.payload.count, by: 6) {
      guard let entry = frame.payload.baseAddress.map({ $0 + offset }) else { break }
      let id = BigEndian.read16(entry)
      try peer.apply(id, BigEndian.read32(entry + 2))
      if id == PeerSettings.headerTableSizeID { encoder.resizeTable(peer.headerTableSize) }
    }
    let difference = peer.initialWindow - window
    if difference != 0 { try changeWindows(by: difference) }
    // Before the bodies continue: some servers apply the new windows only when they receive this.
    self.frame(FrameType.settings, flags: FrameFlag.acknowledged, stream: 0, length: 0)
    if difference > 0 { sendBodies() }
    notices.append(.settings(isFirst: !hasSettings))
    hasSettings = true
  }

  private func receivedPing(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    try mustBeOfConnection(frame)
    let payload = try start(of: frame, length: 8)
    if frame.header.has(FrameFlag.acknowledged) {
      if BigEndian.read32(payload) == 0, BigEndian.read32(payload + 4) == pingNumber { notices.append(.pong) }
      return
    }
    self.frame(FrameType.ping, flags: FrameFlag.acknowledged, stream: 0, length: 8).update(from: payload, count: 8)
  }

  private func receivedGoAway(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    try mustBeOfConnection(frame)
    guard frame.payload.count >= 8, let payload = frame.payload.baseAddress else {
      throw SessionFailure(.frameSizeError, "sent a GOAWAY of \(frame.payload.count) bytes")
    }
    let last = Int32(truncatingIfNeeded: BigEndian.read32(payload) & 0x7FFF_FFFF)
    guard last <= goAway?.lastStreamID ?? .max else {
      throw SessionFailure(.protocolError, "raised the last stream ID in a second GOAWAY")
    }
    let received = GoAway(
      lastStreamID: last, code: ErrorCode(rawValue: BigEndian.read32(payload + 4)),
      debugData: Array(frame.payload[8...]))
    goAway = received
    for slot in slots.all where slot.pointee.streamID > last { end(slot, .notProcessed) }
    notices.append(.goAway(received))
  }

  private func receivedPriority(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    guard frame.header.stream != 0 else { throw SessionFailure(.protocolError, "sent PRIORITY on stream 0") }
    _ = try start(of: frame, length: 5)
  }
}
