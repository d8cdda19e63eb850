/// Streams that we gave up lately: what the peer sent before it heard of it is no mistake of its (RFC 9113 §5.1).
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

  /// Whether it may have been given up. Of older ones nothing is known, and nothing held against the peer.
  func mayContain(_ stream: Int32) -> Bool { isFull || streams.contains(stream) }
}
