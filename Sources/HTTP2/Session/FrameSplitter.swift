/// Cuts received bytes into whole frames. Frames that lie in one piece are not copied.
struct FrameSplitter: ~Copyable {
  struct Frame {
    let header: FrameHeader
    /// Valid until the next call.
    let payload: UnsafeBufferPointer<UInt8>
  }

  /// The longest payload: the default SETTINGS_MAX_FRAME_SIZE (RFC 9113 §6.5.2).
  static let maximumLength = 16_384

  /// The beginning of an incomplete frame.
  private let carried: UnsafeMutablePointer<UInt8>
  private var carriedCount = 0

  init() { carried = .allocate(capacity: FrameHeader.size + Self.maximumLength) }

  deinit { carried.deallocate() }

  /// The next frame of `input`, which is advanced; nil if more bytes are needed.
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

/// The nine bytes before every frame (RFC 9113 §4.1).
struct FrameHeader {
  static let size = 9

  let length: Int
  let type: UInt8
  let flags: UInt8
  let stream: Int32

  init(length: Int, type: UInt8, flags: UInt8 = 0, stream: Int32) {
    self.length = length
    self.type = type
    self.flags = flags
    self.stream = stream
  }

  init(_ bytes: UnsafePointer<UInt8>) {
    length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    type = bytes[3]
    flags = bytes[4]
    stream = Int32(truncatingIfNeeded: BigEndian.read32(bytes + 5) & 0x7FFF_FFFF)
  }

  func write(to bytes: UnsafeMutablePointer<UInt8>) {
    bytes[0] = UInt8(truncatingIfNeeded: length >> 16)
    bytes[1] = UInt8(truncatingIfNeeded: length >> 8)
    bytes[2] = UInt8(truncatingIfNeeded: length)
    bytes[3] = type
    bytes[4] = flags
    BigEndian.write32(UInt32(bitPattern: stream), to: bytes + 5)
  }

  func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
}

/// Types of frames (RFC 9113 §6).
enum FrameType {
  static let data: UInt8 = 0
  static let headers: UInt8 = 1
  static let priority: UInt8 = 2
  static let resetStream: UInt8 = 3
  static let settings: UInt8 = 4
  static let pushPromise: UInt8 = 5
  static let ping: UInt8 = 6
  static let goAway: UInt8 = 7
  static let windowUpdate: UInt8 = 8
  static let continuation: UInt8 = 9
}

/// Flags of frames (RFC 9113 §6).
enum FrameFlag {
  static let endStream: UInt8 = 1
  static let acknowledged: UInt8 = 1
  static let endHeaders: UInt8 = 4
  static let padded: UInt8 = 8
  static let priority: UInt8 = 32
}

enum BigEndian {
  static func read16(_ bytes: UnsafePointer<UInt8>) -> UInt16 { UInt16(bytes[0]) << 8 | UInt16(bytes[1]) }

  static func read32(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
    UInt32(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt32.self))
  }

  static func write32(_ value: UInt32, to bytes: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(bytes).storeBytes(of: value.bigEndian, as: UInt32.self)
  }
}

/// The peer broke HTTP/2 in a way that ends the connection (RFC 9113 §5.4.1).
struct SessionFailure: Error, Equatable {
  /// Sent in GOAWAY.
  let code: ErrorCode
  /// What the peer did, as the rest of a sentence that begins with its name.
  let message: String

  init(_ code: ErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }
}
