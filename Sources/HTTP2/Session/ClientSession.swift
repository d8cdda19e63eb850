/// The client's side of HTTP/2 (RFC 9113) between bytes and answers, without socket and clock.
///
/// What is to be sent stands in ``output``; what came is given to ``receive(_:)``, and what it meant stands in
/// ``ended`` and ``notices`` until somebody takes it. Requests are written from a template by ``RequestEncoder``;
/// the header fields of answers are unpacked by nghttp2.
final class ClientSession {
  /// What came besides answers.
  enum Notice {
    case settings(isFirst: Bool)
    /// Our PING was answered.
    case pong
    case goAway(GoAway)
  }

  let configuration: ClientConfiguration
  let output = OutputBuffer(capacity: 81_920)
  var notices: [Notice] = []
  /// How many requests were answered, whatever the status.
  var answeredCount = 0

  // Unchecked: these are changed several times for each push, by methods of this class alone that hold no access to
  // one of them while they call each other. The checks at run time would be a twentieth of what a push costs.
  @exclusivity(unchecked) var ended: [Answer] = []
  @exclusivity(unchecked) var slots: SlotTable
  @exclusivity(unchecked) var encoder: RequestEncoder
  @exclusivity(unchecked) var decoder = HeaderDecoder()
  @exclusivity(unchecked) var splitter = FrameSplitter()
  var peer = PeerSettings()

  /// The number of the next stream. Wider than a stream's number, to be able to stand above the last.
  private(set) var nextStreamID: Int64 = 1
  /// How many bytes of body the peer takes on all streams together.
  var window = initialWindow
  /// Streams whose bodies wait for that window, in the order in which they came.
  var waiting: [Int32] = []
  var waitingHead = 0
  /// Bytes that came on all streams since the peer was last given room.
  var unreported = 0

  /// The peer's first SETTINGS came.
  var hasSettings = false
  var isAcknowledged = false
  var goAway: GoAway?
  var pingNumber: UInt32 = 0
  var block = HeaderBlock()
  var abandoned = AbandonedStreams()

  static let initialWindow = 65_535
  /// Answers are small and read at once: a wide window for the whole connection spares WINDOW_UPDATE frames.
  static let ownWindow = 16 << 20
  static let largestWindow = Int(Int32.max)

  /// - Parameter authority: the endpoint's.
  init(authority: String, configuration: ClientConfiguration) {
    self.configuration = configuration
    encoder = RequestEncoder(authority: authority)
    slots = SlotTable(maximumStreams: configuration.maximumStreams)
  }

  /// Whether a number is left for another stream.
  var hasStreamIDs: Bool { nextStreamID <= Int64(configuration.maximumStreamID) }

  /// Whether a stream of that number was never ours to be answered.
  func isIdle(_ stream: Int32) -> Bool { stream & 1 == 0 || Int64(stream) >= nextStreamID }

  // MARK: Sending

  /// Writes the connection's beginning: preface, SETTINGS, and room for answers (RFC 9113 §3.4).
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

  /// Writes a request, and as much of its body as the peer has room for.
  ///
  /// - Returns: false if the numbers of streams are used up: a new connection is needed.
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
    let bodyLength = item.bodyLength < 0 ? storage.commonBodyCount : Int(item.bodyLength)
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
    let body = item.bodyLength < 0 ? storage.commonBody : storage.bytes + bodyOffset
    UnsafeMutableRawPointer(end + FrameHeader.size).copyMemory(from: body, byteCount: bodyLength)
    output.advance(FrameHeader.size * 2 + size + bodyLength)
    window -= bodyLength
    let slot = slots.insert(
      SlotTable.Slot(
        batch: batch, index: index, deadline: deadline, start: start, streamID: stream,
        window: peer.initialWindow - bodyLength))
    slot.pointee.bodySent = bodyLength
    return true
  }

  /// Keeps a request whose body is still to be sent, or that has none.
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

  /// A header block that is longer than a frame may be (RFC 9113 §6.10).
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
