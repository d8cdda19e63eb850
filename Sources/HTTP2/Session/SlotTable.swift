/// The open streams of one connection, kept for when the connection is lost.
///
/// A ring: the place of a stream follows from its id. A place whose stream takes long is skipped, and with it an id
/// (RFC 9113 §5.1.1 allows gaps).
struct SlotTable: ~Copyable {
  struct Slot {
    let batch: RequestBatch
    let index: Int
    let deadline: UInt64
    /// Where in the connection's output the request begins.
    let start: UInt64
    let streamID: Int32
    /// Bytes of body that the peer takes on this stream; negative after it reduced the window (RFC 9113 §6.9.2).
    var window: Int
    /// Where in the batch's memory the request's own body is.
    var bodyOffset = 0
    var bodySent = 0
    /// The body waits for the connection's window.
    var isWaiting = false
    /// 0 until the final header fields came.
    var status = 0
    var fields: HeaderList?
    var body: [UInt8] = []
    /// Bytes of the answer's body.
    var bodyCount = 0
    /// -1: not stated.
    var contentLength: Int64 = -1
    /// Bytes received since the last WINDOW_UPDATE.
    var unreported = 0

    func answer(_ result: Answer.Result) -> Answer { Answer(batch: batch, index: index, result: result) }
  }

  private let slots: UnsafeMutablePointer<Slot>
  /// The stream in each place, 0 for none.
  private let streams: UnsafeMutablePointer<Int32>
  private let mask: Int
  private(set) var used = 0

  /// - Parameter maximumStreams: the most concurrent streams. There are more places, so that a free one is found soon.
  init(maximumStreams: Int) {
    var capacity = 16
    while capacity < maximumStreams + maximumStreams / 4 { capacity *= 2 }
    mask = capacity - 1
    slots = .allocate(capacity: capacity)
    streams = .allocate(capacity: capacity)
    streams.initialize(repeating: 0, count: capacity)
  }

  deinit {
    for place in 0...mask where streams[place] != 0 { (slots + place).deinitialize(count: 1) }
    slots.deallocate()
    streams.deallocate()
  }

  private func place(_ stream: Int32) -> Int { Int(stream >> 1) & mask }

  /// The open stream of that id. 0 is none: it stands in every free place.
  func find(_ stream: Int32) -> UnsafeMutablePointer<Slot>? {
    let place = place(stream)
    return streams[place] == stream && stream != 0 ? slots + place : nil
  }

  func isFree(_ stream: Int32) -> Bool { streams[place(stream)] == 0 }

  /// Takes the place of the slot's stream, which must be free. The pointer stays valid until it is removed.
  mutating func insert(_ slot: consuming Slot) -> UnsafeMutablePointer<Slot> {
    let stream = slot.streamID
    let place = place(stream)
    streams[place] = stream
    (slots + place).initialize(to: slot)
    used += 1
    return slots + place
  }

  mutating func remove(_ slot: UnsafeMutablePointer<Slot>) -> Slot {
    streams[slot - slots] = 0
    used -= 1
    return slot.move()
  }

  /// The occupied places, oldest stream first.
  var all: [UnsafeMutablePointer<Slot>] {
    guard used > 0 else { return [] }
    return (0...mask).filter { streams[$0] != 0 }.sorted { streams[$0] < streams[$1] }.map { slots + $0 }
  }
}

/// Streams that we reset lately: what the peer sent before it learned of it is no violation (RFC 9113 §5.1).
struct AbandonedStreams {
  private var streams: [Int32] = []
  private var next = 0
  private var isFull: Bool { streams.count == Self.capacity }

  static let capacity = 1024

  mutating func insert(_ stream: Int32) {
    guard isFull else { return streams.append(stream) }
    streams[next] = stream
    next = (next + 1) % Self.capacity
  }

  /// Whether the stream may have been reset by us. Older ones are forgotten and get the benefit of the doubt.
  func mayContain(_ stream: Int32) -> Bool { isFull || streams.contains(stream) }
}
