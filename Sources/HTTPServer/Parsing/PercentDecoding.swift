/// Percent-decoding (RFC 3986 section 2.1) of untrusted bytes. By hand because Foundation's refuses what is no UTF-8, and
/// takes NUL.
enum PercentDecoding {
  /// Decodes a piece of a target or a form.
  ///
  /// - Parameter plusIsSpace: for `application/x-www-form-urlencoded`.
  /// - Returns: nil for a `%` without two hexadecimal digits, and for NUL.
  static func decode(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var iterator = bytes.makeIterator()
    while var byte = iterator.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = iterator.next().flatMap(ByteClass.hexadecimal),
          let low = iterator.next().flatMap(ByteClass.hexadecimal)
        else { return nil }
        byte = high << 4 | low
      } else if byte == UInt8(ascii: "+"), plusIsSpace {
        byte = 0x20
      }
      if byte == 0 { return nil }
      decoded.append(byte)
    }
    return decoded
  }

  /// Splits a path at its slashes first and then decodes each segment, so that `%2F` separates nothing. Several slashes
  /// are one, as for JPush and most servers: clients join addresses with one too many.
  ///
  /// - Returns: `[]` for `/`; nil for invalid escapes, NUL, text that is not UTF-8, and the segments `.` and `..` in
  /// any spelling.
  static func segments(ofPath path: UnsafeBufferPointer<UInt8>) -> [String]? {
    precondition(path.first == UInt8(ascii: "/"))
    if path.count == 1 { return [] }
    var segments: [String] = []
    segments.reserveCapacity(4)
    var start = 1
    while start <= path.count {
      var end = start
      var isEscaped = false
      while end < path.count, path[end] != UInt8(ascii: "/") {
        if path[end] == UInt8(ascii: "%") { isEscaped = true }
        end += 1
      }
      if end == start, end < path.count || segments.isEmpty {
        start = end + 1
        continue
      }
      let piece = UnsafeBufferPointer(rebasing: path[start..<end])
      let segment: String
      if isEscaped {
        guard let bytes = decode(piece, plusIsSpace: false), let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        segment = text
      } else {
        // The parser accepts ASCII only.
        segment = String(decoding: piece, as: UTF8.self)
      }
      if segment == "." || segment == ".." { return nil }
      segments.append(segment)
      start = end + 1
    }
    return segments
  }
}
