/// Numbers that name requests.
enum RequestNumber {
  private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  static func random() -> UInt64 { UInt64.random(in: .min ... .max) }

  /// The next of a series that does not repeat (SplitMix64: a bijection of a counter).
  static func next(after state: inout UInt64) -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed &>> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed &>> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed &>> 31
  }

  /// Thirteen characters: a string of that size needs no memory of its own.
  static func text(_ number: UInt64) -> String {
    String(unsafeUninitializedCapacity: 13) { bytes in
      for index in 0..<13 { bytes[index] = digits[Int(number &>> UInt64(index * 5) & 31)] }
      return 13
    }
  }

  static func write(_ number: UInt64, to bytes: UnsafeMutablePointer<UInt8>) {
    digits.withUnsafeBufferPointer { digits in
      for index in 0..<13 { bytes[index] = digits[Int(number &>> UInt64(index * 5) & 31)] }
    }
  }

  static func accepted(_ text: String?) -> String? {
    guard let text, (1...64).contains(text.utf8.count),
      text.utf8.allSatisfy({ byte in
        ByteClass.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
          || byte == UInt8(ascii: ".")
      })
    else { return nil }
    return text
  }
}
