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

  /// Reads one; the reserved bit is passed over (RFC 9113 §4.1).
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

/// Numbers as the network has them.
enum BigEndian {
  static func read16(_ bytes: UnsafePointer<UInt8>) -> UInt16 { UInt16(bytes[0]) << 8 | UInt16(bytes[1]) }

  static func read32(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
    UInt32(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt32.self))
  }

  static func write32(_ value: UInt32, to bytes: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(bytes).storeBytes(of: value.bigEndian, as: UInt32.self)
  }
}
