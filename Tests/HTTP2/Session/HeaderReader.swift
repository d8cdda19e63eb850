import CNGHTTP2

@testable import HTTP2

/// A server's side of HPACK: nghttp2's.
final class HeaderReader {
  struct Unreadable: Error {
    let words: String
  }

  private var inflater: OpaquePointer?

  init() { nghttp2_hd_inflate_new(&inflater) }

  deinit { nghttp2_hd_inflate_del(inflater) }

  /// The server announces another size for its table, and the client has acknowledged it.
  func resize(_ size: UInt32) { nghttp2_hd_inflate_change_table_size(inflater, Int(size)) }

  /// The fields of a block as `name: value`.
  func read(_ block: [UInt8]) throws -> [String] {
    var fields: [String] = []
    var rest = block[...]
    while true {
      var field = nghttp2_nv()
      var flags: Int32 = 0
      let count = rest.withUnsafeBufferPointer {
        nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
      }
      guard count >= 0 else { throw Unreadable(words: String(cString: nghttp2_strerror(Int32(count)))) }
      rest = rest.dropFirst(count)
      if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
        let (name, value) = (
          UnsafeBufferPointer(start: field.name, count: field.namelen),
          UnsafeBufferPointer(start: field.value, count: field.valuelen)
        )
        fields.append(String(decoding: name, as: UTF8.self) + ": " + String(decoding: value, as: UTF8.self))
      }
      if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
      }
    }
  }
}
