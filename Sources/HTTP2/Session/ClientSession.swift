/// The client's side of HTTP/2 (RFC 9113) between bytes and answers, without socket and clock.
///
/// ``output`` holds the bytes to send; ``receive(_:)`` takes received bytes, whose meaning waits in ``ended`` and
/// ``notices``. ``RequestEncoder`` writes requests from a template; nghttp2 decodes the header fields of answers.
final class ClientSession {
  enum Notice {
    case settings(isFirst: Bool)
    case pong
    case goAway(GoAway)
  }

  let configuration: ClientConfiguration
  let output = OutputBuffer(capacity: 81_920)
  var notices: [Notice] = []
  /// Answers of any status.
  var answeredCount = 0
  /// Frames since the last answer, or since ``ClientConnection`` last looked at the time, that are no part of one.
  var idleFrames = 0
  /// More in about a second is a flood.
  static let maximumIdleFrames = 20_000

  // Unchecked because only this class's methods access these, and none holds an access while it calls another. They
  // change several times for each push: run-time checks would take a twentieth of its cost.
  @exclusivity(unchecked) var ended: [Answer] = []
  @exclusivity(unchecked) var slots: SlotTable
  @exclusivity(unchecked) var encoder: RequestEncoder
  @exclusivity(unchecked) var decoder = HeaderDecoder()
  @exclusivity(unchecked) var splitter = FrameSplitter()
  var peer = PeerSettings()

  /// Wider than a stream id, so that it can exceed the last.
  private(set) var nextStreamID: Int64 = 1
  /// The connection's window: bytes of body that the peer takes on all streams together.
  var window = initialWindow
  /// Streams whose bodies wait for that window, in order.
  var waiting: [Int32] = []
  var waitingHead = 0
  /// Bytes received on all streams since the last WINDOW_UPDATE.
  var unreported = 0

  /// Whether the peer's first SETTINGS came.
  var hasSettings = false
  var isAcknowledged = false
  var goAway: GoAway?
  var pingNumber: UInt32 = 0
  var block = HeaderBlock()
  var abandoned = AbandonedStreams()

  static let initialWindow = 65_535
  /// Answers are small and read at once: a wide window avoids WINDOW_UPDATE frames.
  static let ownWindow = 16 << 20
  static let largestWindow = Int(Int32.max)

  /// - Parameter authority: the endpoint's.
  init(authority: String, configuration: ClientConfiguration) {
    self.configuration = configuration
    encoder = RequestEncoder(authority: authority)
    slots = SlotTable(maximumStreams: configuration.maximumStreams)
  }

  /// Whether a stream id is left.
  var hasStreamIDs: Bool { nextStreamID <= Int64(configuration.maximumStreamID) }

  /// Whether a stream id was never used by us.
  func isIdle(_ stream: Int32) -> Bool { stream & 1 == 0 || Int64(stream) >= nextStreamID }

  /// Writes preface, SETTINGS, and the connection's window (RFC 9113 §3.4).
  func begin() {
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    preface.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { output.append(start, bytes.count) }
    }
    let payload = frame(FrameType.settings, stream: 0, length: 12)
    for (place, setting) in [
      (PeerSettings.enablePushID, UInt32(0)), (PeerSettings.maximumHeaderListID, UInt32(AnswerHead.maximumSize)),
    ].enumerated() {
      payload[place * 6] = 0
      payload[place * 6 + 1] = UInt8(setting.0)
      BigEndian.write32(setting.1, to: payload + place * 6 + 2)
    }
    grant(Self.ownWindow - Self.initialWindow, stream: 0)
  }

  /// Writes a request, and as much of its body as the windows allow.
  ///
  /// - Returns: false if the stream ids are used up: a new connection is needed.
  func submit(_ batch: RequestBatch, _ index: Int, deadline: UInt64) -> Bool {
    guard hasStreamIDs else { return false }
    while !slots.isFree(Int32(truncatingIfNeeded: nextStreamID)) {
      nextStreamID += 2
      guard hasStreamIDs else { return false }
    }
    let stream = Int32(truncatingIfNeeded: nextStreamID)
    nextStreamID += 2
    let start = output.appended
    let storage = batch.storage
    let item = storage.items[index]
    storage.notes?.left(index, id: item.id)
    let bodyLength = storage.bodyLength(item)
    let bodyFits = bodyLength <= min(window, peer.initialWindow, peer.maximumFrameSize)
    let most = encoder.prepare(storage, item)
    let out = output.room(FrameHeader.size * 2 + most + (bodyFits ? bodyLength : 0))
    let (end, bodyOffset) = encoder.write(storage, item, to: out + FrameHeader.size)
    let size = end - out - FrameHeader.size
    let endOfStream = bodyLength == 0 ? FrameFlag.endStream : 0
    guard size <= peer.maximumFrameSize else {
      splitBlock(Array(UnsafeBufferPointer(start: out + FrameHeader.size, count: size)), stream, endOfStream)
      remember(batch, index, deadline, start, stream, bodyOffset, bodyLength)
      return true
    }
    FrameHeader(
      length: size, type: FrameType.headers, flags: FrameFlag.endHeaders | endOfStream, stream: stream
    ).write(to: out)
    guard bodyFits, bodyLength > 0 else {
      output.advance(FrameHeader.size + size)
      remember(batch, index, deadline, start, stream, bodyOffset, bodyLength)
      return true
    }
    FrameHeader(length: bodyLength, type: FrameType.data, flags: FrameFlag.endStream, stream: stream).write(to: end)
    storage.body(item, at: bodyOffset).copy(to: end + FrameHeader.size)
    output.advance(FrameHeader.size * 2 + size + bodyLength)
    window -= bodyLength
    let slot = slots.insert(
      SlotTable.Slot(
        batch: batch, index: index, deadline: deadline, start: start, streamID: stream,
        window: peer.initialWindow - bodyLength))
    slot.pointee.bodySent = bodyLength
    return true
  }

  /// Keeps a request without a body, or whose body is not sent yet.
  private func remember(
    _ batch: RequestBatch, _ index: Int, _ deadline: UInt64, _ start: UInt64, _ stream: Int32, _ bodyOffset: Int,
    _ bodyLength: Int
  ) {
    let slot = slots.insert(
      SlotTable.Slot(
        batch: batch, index: index, deadline: deadline, start: start, streamID: stream, window: peer.initialWindow))
    slot.pointee.bodyOffset = bodyOffset
    if bodyLength > 0 { sendBody(slot) }
  }

  /// Splits a header block that is longer than a frame may be (RFC 9113 §6.10).
  private func splitBlock(_ block: [UInt8], _ stream: Int32, _ endOfStream: UInt8) {
    var rest = block[...]
    var type = FrameType.headers
    while !rest.isEmpty {
      let part = rest.prefix(peer.maximumFrameSize)
      rest = rest.dropFirst(part.count)
      let flags = (rest.isEmpty ? FrameFlag.endHeaders : 0) | (type == FrameType.headers ? endOfStream : 0)
      let payload = frame(type, flags: flags, stream: stream, length: part.count)
      for (place, byte) in part.enumerated() { payload[place] = byte }
      type = FrameType.continuation
    }
  }
}

/// The server's SETTINGS (RFC 9113 §6.5.2).
struct PeerSettings {
  private(set) var headerTableSize: UInt32 = 4096
  private(set) var maximumStreams: UInt32 = .max
  private(set) var initialWindow = 65_535
  private(set) var maximumFrameSize = 16_384

  static let headerTableSizeID: UInt16 = 1
  static let enablePushID: UInt16 = 2
  static let maximumStreamsID: UInt16 = 3
  static let initialWindowID: UInt16 = 4
  static let maximumFrameSizeID: UInt16 = 5
  static let maximumHeaderListID: UInt16 = 6

  /// Applies one setting; unknown ones are ignored.
  mutating func apply(_ id: UInt16, _ value: UInt32) throws(SessionFailure) {
    switch id {
    case Self.headerTableSizeID: headerTableSize = value
    case Self.enablePushID:
      guard value == 0 else { throw SessionFailure(.protocolError, "enabled server push: ENABLE_PUSH \(value)") }
    case Self.maximumStreamsID: maximumStreams = value
    case Self.initialWindowID:
      guard value <= Int32.max else {
        throw SessionFailure(.flowControlError, "announced an INITIAL_WINDOW_SIZE of \(value)")
      }
      initialWindow = Int(value)
    case Self.maximumFrameSizeID:
      guard (16_384...16_777_215).contains(value) else {
        throw SessionFailure(.protocolError, "announced a MAX_FRAME_SIZE of \(value)")
      }
      maximumFrameSize = Int(value)
    default: break
    }
  }
}
