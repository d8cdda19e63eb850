/// Which bytes may stand where (RFC 9110 section 5.6, RFC 9112 section 3). Bit masks in constants: no table is loaded,
/// and every byte costs the same.
enum ByteClass {
  /// `tchar` of RFC 9110 section 5.6.2: methods and field names.
  @inline(__always)
  static func isToken(_ byte: UInt8) -> Bool {
    // ! # $ % & ' * + - . 0-9
    if byte < 64 { return (0x03FF_6CFA_0000_0000 as UInt64) &>> UInt64(byte) & 1 == 1 }
    // A-Z ^ _ ` a-z | ~
    if byte < 128 { return (0x57FF_FFFF_C7FF_FFFE as UInt64) &>> UInt64(byte &- 64) & 1 == 1 }
    return false
  }

  /// `field-vchar`, space and tab: no other control byte, so no NUL, CR or LF.
  @inline(__always)
  static func isFieldValue(_ byte: UInt8) -> Bool { (byte >= 0x20 && byte != 0x7F) || byte == 0x09 }

  /// Visible ASCII that browsers send in a target. Not `"`, `#`, `<`, `>`, which end an address elsewhere, nor `\\`,
  /// which some servers read as `/`.
  @inline(__always)
  static func isTarget(_ byte: UInt8) -> Bool {
    if byte < 64 { return (0xAFFF_FFF2_0000_0000 as UInt64) &>> UInt64(byte) & 1 == 1 }
    if byte < 128 { return (0x7FFF_FFFF_EFFF_FFFF as UInt64) &>> UInt64(byte &- 64) & 1 == 1 }
    return false
  }

  /// Letters, digits, `-`, `.`, `_`, `~`: stricter than `reg-name`, because real host names have no commas and percent
  /// signs and other servers read them differently.
  @inline(__always)
  static func isHostName(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "~")
  }

  @inline(__always)
  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
  }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  @inline(__always)
  static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte &- 0x30
    case 0x41...0x46: byte &- 0x37
    case 0x61...0x66: byte &- 0x57
    default: nil
    }
  }

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}

extension StringProtocol where SubSequence == Substring {
  func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let quick = utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { theirs in
        for index in mine.indices where ByteClass.lowercased(mine[index]) != ByteClass.lowercased(theirs[index]) {
          return false
        }
        return true
      }
    }
    return (quick ?? nil) ?? zip(utf8, other.utf8).allSatisfy { ByteClass.lowercased($0) == ByteClass.lowercased($1) }
  }

  /// Without spaces and tabs at both ends (`OWS` of RFC 9110).
  package var trimmedOfSpace: SubSequence {
    var text = self[...]
    while let first = text.utf8.first, first == 0x20 || first == 0x09 { text = text.dropFirst() }
    while let last = text.utf8.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
    return text
  }
}
