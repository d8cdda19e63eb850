extension ClientSession {
  /// Sends as much of the rest of a body as the windows allow.
  func sendBody(_ slot: UnsafeMutablePointer<SlotTable.Slot>) {
    let length = slot.pointee.bodyLength
    let stream = slot.pointee.streamID
    while slot.pointee.bodySent < length {
      let sent = slot.pointee.bodySent
      // A WINDOW_UPDATE for the stream or new SETTINGS resume it.
      guard slot.pointee.window > 0 else { return }
      guard window > 0 else { return wait(slot) }
      let count = min(length - sent, slot.pointee.window, window, peer.maximumFrameSize)
      let flags = sent + count == length ? FrameFlag.endStream : 0
      let payload = frame(FrameType.data, flags: flags, stream: stream, length: count)
      slot.pointee.requestBody.copy(from: sent, count: count, to: payload)
      slot.pointee.bodySent = sent + count
      slot.pointee.window -= count
      window -= count
    }
  }

  private func wait(_ slot: UnsafeMutablePointer<SlotTable.Slot>) {
    guard !slot.pointee.isWaiting else { return }
    slot.pointee.isWaiting = true
    // Streams that ended while they waited are removed together.
    if waiting.count > 4 * configuration.maximumStreams {
      waiting.removeFirst(waitingHead)
      waitingHead = 0
      waiting.removeAll { slots.find($0) == nil }
    }
    waiting.append(slot.pointee.streamID)
  }

  /// Resumes the bodies that waited for the connection's window.
  private func sendWaiting() {
    while waitingHead < waiting.count, window > 0 {
      let slot = slots.find(waiting[waitingHead])
      waitingHead += 1
      guard let slot, slot.pointee.isWaiting else { continue }
      slot.pointee.isWaiting = false
      sendBody(slot)
    }
    if waitingHead == waiting.count {
      waiting.removeAll(keepingCapacity: true)
      waitingHead = 0
    }
  }

  /// WINDOW_UPDATE (RFC 9113 §6.9).
  func receivedWindowUpdate(_ frame: FrameSplitter.Frame) throws(SessionFailure) {
    let stream = frame.header.stream
    let payload = try start(of: frame, length: 4)
    let increment = Int(BigEndian.read32(payload) & 0x7FFF_FFFF)
    if stream == 0 {
      guard increment > 0 else { throw SessionFailure(.protocolError, "sent a WINDOW_UPDATE of 0") }
      window += increment
      guard window <= Self.largestWindow else {
        throw SessionFailure(.flowControlError, "overflowed the connection's flow-control window")
      }
      return sendWaiting()
    }
    guard !isIdle(stream) else {
      throw SessionFailure(.protocolError, "sent a WINDOW_UPDATE for stream \(stream), which was never opened")
    }
    // The peer may still mention a stream that has ended.
    guard let slot = slots.find(stream) else { return }
    guard increment > 0 else { return reset(slot, .protocolError, .unknown(.reset(.protocolError))) }
    slot.pointee.window += increment
    guard slot.pointee.window <= Self.largestWindow else {
      return reset(slot, .flowControlError, .unknown(.reset(.flowControlError)))
    }
    sendBody(slot)
  }

  /// Changes the windows of all open streams (RFC 9113 §6.9.2); ``sendBodies()`` resumes the bodies.
  func changeWindows(by difference: Int) throws(SessionFailure) {
    for slot in slots.all {
      slot.pointee.window += difference
      guard slot.pointee.window <= Self.largestWindow else {
        throw SessionFailure(.flowControlError, "overflowed a stream's flow-control window with its SETTINGS")
      }
    }
  }

  func sendBodies() {
    for slot in slots.all { sendBody(slot) }
  }
}

extension SlotTable.Slot {
  fileprivate var requestBody: RequestBody { batch.storage.body(batch.storage.items[index], at: bodyOffset) }
  fileprivate var bodyLength: Int { batch.storage.bodyLength(batch.storage.items[index]) }

  var isSent: Bool { bodySent == bodyLength }
}
