/// Cuts what comes in, in pieces of any size, into whole frames. Frames that lie whole in one piece are not copied.
struct FrameSplitter: ~Copyable {
  struct Frame {
    let header: FrameHeader
    /// Valid until the next call.
    let payload: UnsafeBufferPointer<UInt8>
  }

  /// The longest payload: SETTINGS_MAX_FRAME_SIZE as it is if nothing is said (RFC 9113 §6.5.2).
  static let maximumLength = 16_384

  /// The beginning of a frame whose end has not come yet.
  private let carried: UnsafeMutablePointer<UInt8>
  private var carriedCount = 0

  init() { carried = .allocate(capacity: FrameHeader.size + Self.maximumLength) }

  deinit { carried.deallocate() }

  /// The next frame of `input`, which is shortened by what was used; nil if the rest has to come first.
  mutating func next(_ input: inout UnsafeBufferPointer<UInt8>) throws(SessionFailure) -> Frame? {
    if carriedCount > 0 { return try nextCarried(&input) }
    guard let start = input.baseAddress, input.count >= FrameHeader.size else {
      carry(&input, upTo: FrameHeader.size)
      return nil
    }
    let header = FrameHeader(start)
    try Self.check(header)
    let size = FrameHeader.size + header.length
    guard input.count >= size else {
      carry(&input, upTo: size)
      return nil
    }
    input = UnsafeBufferPointer(rebasing: input[size...])
    return Frame(
      header: header, payload: UnsafeBufferPointer(start: start + FrameHeader.size, count: header.length))
  }

  private mutating func nextCarried(
    _ input: inout UnsafeBufferPointer<UInt8>
  ) throws(SessionFailure) -> Frame? {
    carry(&input, upTo: FrameHeader.size)
    guard carriedCount >= FrameHeader.size else { return nil }
    let header = FrameHeader(carried)
    try Self.check(header)
    let size = FrameHeader.size + header.length
    carry(&input, upTo: size)
    guard carriedCount == size else { return nil }
    carriedCount = 0
    return Frame(
      header: header, payload: UnsafeBufferPointer(start: carried + FrameHeader.size, count: header.length))
  }

  private mutating func carry(_ input: inout UnsafeBufferPointer<UInt8>, upTo size: Int) {
    let count = min(input.count, size - carriedCount)
    guard count > 0, let start = input.baseAddress else { return }
    (carried + carriedCount).update(from: start, count: count)
    carriedCount += count
    input = UnsafeBufferPointer(rebasing: input[count...])
  }

  private static func check(_ header: FrameHeader) throws(SessionFailure) {
    guard header.length <= maximumLength else {
      throw SessionFailure(.frameSizeError, "sent a frame of \(header.length) bytes")
    }
  }
}
