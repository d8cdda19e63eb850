/// Where in its HTML the next value of a template stands.
struct MarkupPlace {
  private enum State {
    case text, tag
    case quoted(UInt8)
    /// In an element that takes no others.
    case plain
  }

  private var state = State.text
  /// The newest tag, as far as it was read.
  private var tag: [UInt8] = []
  /// How the plain element ends, and how much of that was just read.
  private var (end, ending): ([UInt8], Int) = ([], 0)

  private static let plain = ["title", "textarea", "option", "script", "style", "svg", "pre"].map { Array($0.utf8) }

  private static let auto = Array(#" dir="auto""#.utf8)

  /// Whether a value here must be isolated: an element may stand here, and the one around does not do it.
  var isolates: Bool { if case .text = state { !Self.isAuto(tag) } else { false } }

  private static func isAuto(_ tag: [UInt8]) -> Bool {
    tag.indices.contains { tag[$0...].starts(with: auto) }
  }

  mutating func read(_ bytes: [UInt8]) {
    for byte in bytes { read(byte) }
  }

  private mutating func read(_ byte: UInt8) {
    switch state {
    case .text:
      if byte == UInt8(ascii: "<") { (state, tag) = (.tag, []) }
    case .tag:
      switch byte {
      case UInt8(ascii: ">"):
        let name = Array(tag.prefix { !WhiteSpace.isBlank($0) })
        state = Self.plain.contains(name) ? .plain : .text
        (end, ending) = (Array("</".utf8) + name, 0)
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        state = .quoted(byte)
        tag.append(byte)
      default: tag.append(byte)
      }
    case .quoted(let quote):
      tag.append(byte)
      if byte == quote { state = .tag }
    case .plain:
      ending = byte == end[ending] ? ending + 1 : byte == end[0] ? 1 : 0
      if ending == end.count { (state, tag) = (.tag, end) }
    }
  }
}
