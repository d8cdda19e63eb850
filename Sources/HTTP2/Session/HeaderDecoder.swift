import CNGHTTP2

/// Decodes header blocks (HPACK, RFC 7541) with nghttp2.
struct HeaderDecoder: ~Copyable {
  private let inflater: OpaquePointer?

  /// Fails only for lack of memory; then decoding the first block fails.
  init() {
    var inflater: OpaquePointer?
    self.inflater = nghttp2_hd_inflate_new(&inflater) == 0 ? inflater : nil
  }

  deinit { nghttp2_hd_inflate_del(inflater) }

  /// The next field of a block, which is advanced; nil at its end. A block must be read to its end. The field is valid
  /// until the next call.
  func next(_ block: inout UnsafeBufferPointer<UInt8>) throws(SessionFailure) -> nghttp2_nv? {
    guard let inflater else { throw SessionFailure(.internalError, "could not be decoded: out of memory") }
    var field = nghttp2_nv()
    while true {
      var flags: Int32 = 0
      let count = nghttp2_hd_inflate_hd2(inflater, &field, &flags, block.baseAddress, block.count, 1)
      guard count >= 0 else {
        throw SessionFailure(.compressionError, "sent header fields that cannot be decompressed")
      }
      block = UnsafeBufferPointer(rebasing: block[count...])
      if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 { return field }
      if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
        nghttp2_hd_inflate_end_headers(inflater)
        return nil
      }
      guard count > 0 else {
        throw SessionFailure(.compressionError, "sent header fields that cannot be decompressed")
      }
    }
  }

  /// Decodes and drops a block: the tables of both sides must stay equal (RFC 9113 §4.3).
  func skip(_ block: UnsafeBufferPointer<UInt8>) throws(SessionFailure) {
    var rest = block
    while try next(&rest) != nil {}
  }
}

/// A header block that comes in more than one frame (RFC 9113 §6.10).
struct HeaderBlock {
  /// 0 if none is open.
  private(set) var stream: Int32 = 0
  private(set) var endsStream = false
  private(set) var bytes: [UInt8] = []
  private var frames = 0

  /// More than any answer needs, and little enough to hold for a peer that never ends.
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

  /// Forgets the block and returns it.
  mutating func close() -> [UInt8] {
    defer { self = HeaderBlock() }
    return bytes
  }
}
