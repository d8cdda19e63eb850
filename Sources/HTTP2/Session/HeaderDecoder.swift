import CNGHTTP2

/// Unpacks header blocks (HPACK, RFC 7541); the work is nghttp2's.
struct HeaderDecoder: ~Copyable {
  private let inflater: OpaquePointer?

  /// Fails only for lack of memory; then the first block does.
  init() {
    var inflater: OpaquePointer?
    self.inflater = nghttp2_hd_inflate_new(&inflater) == 0 ? inflater : nil
  }

  deinit { nghttp2_hd_inflate_del(inflater) }

  /// The next field of a block, which is shortened by what was used; nil at its end. A block that was begun must be
  /// taken to its end. The field is valid until the next call.
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

  /// Unpacks a block that nobody wants: the tables of both sides must stay the same (RFC 9113 §4.3).
  func skip(_ block: UnsafeBufferPointer<UInt8>) throws(SessionFailure) {
    var rest = block
    while try next(&rest) != nil {}
  }
}
