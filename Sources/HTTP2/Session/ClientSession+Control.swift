/// Frames of the connection, and the ends of requests.
extension ClientSession {
  /// Appends a frame whose payload the caller writes to what is returned.
  @discardableResult
  func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int32, length: Int) -> UnsafeMutablePointer<UInt8> {
    let out = output.room(FrameHeader.size + length)
    FrameHeader(length: length, type: type, flags: flags, stream: stream).write(to: out)
    output.advance(FrameHeader.size + length)
    return out + FrameHeader.size
  }

  /// Allows the peer to send more (WINDOW_UPDATE).
  func grant(_ bytes: Int, stream: Int32) {
    BigEndian.write32(UInt32(bytes), to: frame(FrameType.windowUpdate, stream: stream, length: 4))
  }

  /// Asks for a sign of life. Only its answer makes a ``Notice/pong``.
  func ping() {
    pingNumber &+= 1
    let payload = frame(FrameType.ping, stream: 0, length: 8)
    BigEndian.write32(0, to: payload)
    BigEndian.write32(pingNumber, to: payload + 4)
  }

  /// Says that we go, and why. No stream of the peer's was ever processed: push is off.
  func sayGoodbye(_ code: ErrorCode) {
    let payload = frame(FrameType.goAway, stream: 0, length: 8)
    BigEndian.write32(0, to: payload)
    BigEndian.write32(code.rawValue, to: payload + 4)
  }

  /// Gives up a stream (RST_STREAM), and its request with that result.
  func reset(_ slot: UnsafeMutablePointer<SlotTable.Slot>, _ code: ErrorCode, _ result: Answer.Result) {
    abandon(slot, code)
    end(slot, result)
  }

  /// Tells the peer that we do not want the rest of a stream, or do not send the rest of ours.
  func abandon(_ slot: UnsafeMutablePointer<SlotTable.Slot>, _ code: ErrorCode) {
    let stream = slot.pointee.streamID
    BigEndian.write32(code.rawValue, to: frame(FrameType.resetStream, stream: stream, length: 4))
    abandoned.insert(stream)
  }

  /// Ends a request.
  func end(_ slot: UnsafeMutablePointer<SlotTable.Slot>, _ result: Answer.Result) {
    ended.append(slots.remove(slot).answer(result))
  }

  /// What has ended since the last time.
  func takeEnded() -> [Answer] {
    guard !ended.isEmpty else { return [] }
    var taken: [Answer] = []
    taken.reserveCapacity(ended.count)
    swap(&taken, &ended)
    return taken
  }
}
