/// The direction of texts that people write: Arabic and Hebrew run from right to left, and so does what stands behind a
/// control character for it. Between other words such a text must be isolated, or it changes their order.
public enum Direction {
  /// Whether a part of the UTF-8 text runs from right to left, or contains a control character of directions.
  public static func turns(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    for index in bytes.indices where bytes[index] >= 0xD6 {
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0
      let third = index + 2 < bytes.count ? bytes[index + 2] : 0
      switch bytes[index] {
      case 0xD6: if next >= 0x90 { return true }  // Hebrew from U+0590
      case 0xD7...0xDF: return true
      case 0xE0: if (0xA0...0xA3).contains(next) { return true }  // up to U+08FF
      case 0xE2:
        // U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069
        if next == 0x80, third == 0x8E || third == 0x8F || (0xAA...0xAE).contains(third) { return true }
        if next == 0x81, (0xA6...0xA9).contains(third) { return true }
      case 0xEF:
        // The presentation forms U+FB1D to U+FDFF and U+FE70 to U+FEFE; U+FEFF is no letter.
        if next == 0xAC, third >= 0x9D { return true }
        if (0xAD...0xB7).contains(next) || (next == 0xB9 && third >= 0xB0) || next == 0xBA { return true }
        if next == 0xBB, third < 0xBF { return true }
      case 0xF0: if (next == 0x90 && third >= 0xA0) || next == 0x9E { return true }
      default: break
      }
    }
    return false
  }

  /// The text, isolated by control characters if it turns: for what becomes a part of a sentence.
  public static func isolated(_ text: String) -> String {
    var text = text
    guard text.withUTF8({ turns($0) }) else { return text }
    return "\u{2068}\(text)\u{2069}"
  }
}

extension Output {
  /// Isolates what was written since there were `start` bytes if a part of it runs from right to left.
  mutating func isolate(from start: Int) {
    guard Direction.turns(written(from: start)) else { return }
    insert("<bdi>", at: start)
    write("</bdi>" as StaticString)
  }
}
