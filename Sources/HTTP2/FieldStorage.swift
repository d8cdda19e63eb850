import CNGHTTP2

/// Header fields laid out as nghttp2 reads them.
final class FieldStorage: @unchecked Sendable {
  // @unchecked because: immutable; it owns the memory that `entries` points into.

  let entries: [nghttp2_nv]
  private let memory: UnsafeMutablePointer<UInt8>

  init(_ fields: [HeaderField]) {
    let size = fields.reduce(1) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    self.memory = memory
    var next = memory
    entries = fields.map { field in
      let name = next
      for byte in field.name.utf8 {
        next.pointee = byte
        next += 1
      }
      let value = next
      for byte in field.value.utf8 {
        next.pointee = byte
        next += 1
      }
      return nghttp2_nv(
        name: name, value: value, namelen: field.name.utf8.count, valuelen: field.value.utf8.count,
        flags: field.indexing == .never ? Self.flags | UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : Self.flags)
    }
  }

  deinit { memory.deallocate() }

  /// nghttp2 need not copy: every block is packed before the call that submits it returns.
  private static let flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
}
