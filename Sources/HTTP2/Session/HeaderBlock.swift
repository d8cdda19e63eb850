/// A header block that comes in more than one frame (RFC 9113 §6.10).
struct HeaderBlock {
  /// 0 if none is open.
  private(set) var stream: Int32 = 0
  private(set) var endsStream = false
  private(set) var bytes: [UInt8] = []
  private var frames = 0

  /// More than any answer needs, and little enough to be held for a peer that never ends.
  static let maximumBytes = 65_536
  static let maximumFrames = 32

  var isOpen: Bool { stream != 0 }

  mutating func open(_ stream: Int32, endsStream: Bool, _ part: UnsafeBufferPointer<UInt8>) {
    self.stream = stream
    self.endsStream = endsStream
    bytes = Array(part)
    frames = 1
  }

  mutating func append(_ part: UnsafeBufferPointer<UInt8>) throws(SessionFailure) {
    frames += 1
    guard frames <= Self.maximumFrames, bytes.count + part.count <= Self.maximumBytes else {
      throw SessionFailure(.enhanceYourCalm, "sent an endless header block")
    }
    bytes += part
  }

  /// Forgets it, and returns what it was.
  mutating func close() -> [UInt8] {
    defer { self = HeaderBlock() }
    return bytes
  }
}
