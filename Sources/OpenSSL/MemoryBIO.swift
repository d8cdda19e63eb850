import COpenSSL
import Foundation

/// An OpenSSL memory buffer for the duration of `body`.
enum MemoryBIO {
  static func reading<Value>(_ bytes: some DataProtocol, _ body: (OpaquePointer) -> Value?) -> Value? {
    let bytes = Array(bytes)
    guard bytes.count <= Int(Int32.max) else { return nil }
    return bytes.withUnsafeBytes { buffer in
      // An empty buffer may have no address, and a length of -1 would mean "up to the next NUL".
      guard let bio = buffer.isEmpty ? pki_memory_bio() : BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
      else { return nil }
      defer { BIO_free(bio) }
      return body(bio)
    }
  }

  /// The bytes that `body` writes; nil if it returns false.
  static func written(by body: (OpaquePointer) -> Bool) -> Data? {
    guard let bio = pki_memory_bio() else { return nil }
    defer { BIO_free(bio) }
    guard body(bio) else { return nil }
    var contents = Data(count: Int(clamping: BIO_ctrl_pending(bio)))
    let count = contents.withUnsafeMutableBytes { BIO_read(bio, $0.baseAddress, Int32(clamping: $0.count)) }
    return contents.prefix(max(0, Int(count)))
  }
}

/// The output of an `i2d_…` function.
func derEncoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> Data? {
  var bytes: UnsafeMutablePointer<UInt8>?
  let count = write(&bytes)
  guard count > 0, let bytes else { return nil }
  defer { pki_free(bytes) }
  return Data(bytes: bytes, count: Int(count))
}

/// The result of a `d2i_…` function, if it consumes all bytes.
func derDecoded(
  _ bytes: some DataProtocol,
  _ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) -> OpaquePointer?,
  free: (OpaquePointer) -> Void
) -> OpaquePointer? {
  let bytes = Array(bytes)
  return bytes.withUnsafeBufferPointer { buffer in
    var position = buffer.baseAddress
    guard let base = position, let value = read(&position, buffer.count) else { return nil }
    guard position == base + buffer.count else {
      free(value)
      return nil
    }
    return value
  }
}
