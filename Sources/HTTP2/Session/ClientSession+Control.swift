/// Frames of the connection, and the ends of requests.
extension ClientSession {
  /// Appends a frame; the caller writes its payload to the returned place.
  @discardableResult
  func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int32, length: Int) -> UnsafeMutablePointer<UInt8> {
    let out = output.room(FrameHeader.size + length)
    FrameHeader(length: length, type: type, flags: flags, stream: stream).write(to: out)
    output.advance(FrameHeader.size + length)
    return out + FrameHeader.size
  }

  /// Sends WINDOW_UPDATE.
  func grant(_ bytes: Int, stream: Int32) {
    BigEndian.write32(UInt32(bytes), to: frame(FrameType.windowUpdate, stream: stream, length: 4))
  }

  /// Sends PING. Only its acknowledgement makes a ``Notice/pong``.
  func ping() {
    pingNumber &+= 1
    let payload = frame(FrameType.ping, stream: 0, length: 8)
    BigEndian.write32(0, to: payload)
    BigEndian.write32(pingNumber, to: payload + 4)
  }

  /// Sends GOAWAY. The peer's streams were never processed: push is off.
  func sayGoodbye(_ code: ErrorCode) {
    let payload = frame(FrameType.goAway, stream: 0, length: 8)
    BigEndian.write32(0, to: payload)
    BigEndian.write32(code.rawValue, to: payload + 4)
  }

  /// Resets a stream (RST_STREAM) and ends its request with that result.
  func reset(_ slot: UnsafeMutablePointer<SlotTable.Slot>, _ code: ErrorCode, _ result: Answer.Result) {
    abandon(slot, code)
    end(slot, result)
  }

  /// Tells the peer that we do not need the rest of a stream, or do not send the rest of ours.
  func abandon(_ slot: UnsafeMutablePointer<SlotTable.Slot>, _ code: ErrorCode) {
    let stream = slot.pointee.streamID
    BigEndian.write32(code.rawValue, to: frame(FrameType.resetStream, stream: stream, length: 4))
    abandoned.insert(stream)
  }

  func end(_ slot: UnsafeMutablePointer<SlotTable.Slot>, _ result: Answer.Result) {
    ended.append(slots.remove(slot).answer(result))
  }

  /// Answers since the last call.
  func takeEnded() -> [Answer] {
    guard !ended.isEmpty else { return [] }
    var taken: [Answer] = []
    taken.reserveCapacity(ended.count)
    swap(&taken, &ended)
    return taken
  }
}
