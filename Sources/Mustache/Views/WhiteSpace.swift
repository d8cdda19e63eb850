/// Removes the white space of the templates' layout.
///
/// A run of white space with a line break is removed between two elements (`>` before it, `<` after it), and becomes
/// one blank elsewhere; other white space stays. `pre` and `textarea` are not touched.
struct WhiteSpace {
  /// Whether white space with a line break is pending.
  private var hasBreak = false
  /// The last byte written; nil at the start, 0 after a value.
  private var last: UInt8?
  /// The element inside which nothing is removed, by its place in ``openings``.
  private var keeping: Int?
  /// Whether the program's newest run of bytes must not grow; a section ends runs.
  private var isSealed = true

  private static let openings = ["<pre", "<textarea"].map { Array($0.utf8) }
  private static let closings = ["</pre", "</textarea"].map { Array($0.utf8) }

  /// Adds text of the template. `startsLine`: blanks at its start are its line's layout.
  mutating func text(_ bytes: [UInt8], startsLine: Bool, into program: inout Program) {
    var run: [UInt8] = []
    var index = keeping == nil && startsLine ? bytes.prefix { $0 == 0x20 || $0 == 0x09 }.count : 0
    while index < bytes.count {
      let byte = bytes[index]
      if keeping == nil, Self.isBlank(byte) {
        var end = index
        while end < bytes.count, Self.isBlank(bytes[end]) { end += 1 }
        // Blanks at the start of a line belong to the break before them.
        if hasBreak || bytes[index..<end].contains(UInt8(ascii: "\n")) {
          hasBreak = true
        } else {
          run += bytes[index..<end]
          last = byte
        }
        index = end
        continue
      }
      if hasBreak, !(last == nil || last == UInt8(ascii: ">")) || byte != UInt8(ascii: "<") {
        if last != nil { run.append(UInt8(ascii: " ")) }
      }
      hasBreak = false
      run.append(byte)
      last = byte
      index += 1
      noticeElement(bytes, at: index - 1)
    }
    append(run, into: &program)
  }

  /// Adds text of the language unchanged.
  mutating func raw(_ bytes: [UInt8], into program: inout Program) {
    append(bytes, into: &program)
    last = bytes.last ?? last
  }

  /// Call before a value.
  mutating func value(into program: inout Program) {
    if hasBreak, last != nil { append([UInt8(ascii: " ")], into: &program) }
    hasBreak = false
    last = 0
    isSealed = true
  }

  /// Call before a section that begins with `nodes`: markup removes a preceding break, text keeps a blank.
  mutating func boundary(before nodes: [Node], into program: inout Program) {
    if hasBreak, let last, !(last == UInt8(ascii: ">") && Self.beginsWithMarkup(nodes)) {
      append([UInt8(ascii: " ")], into: &program)
    }
    hasBreak = false
    isSealed = true
  }

  /// Call at the end of a section.
  mutating func close(into program: inout Program) {
    if hasBreak, last != UInt8(ascii: ">") { append([UInt8(ascii: " ")], into: &program) }
    hasBreak = false
    isSealed = true
  }

  /// Call after a section.
  mutating func seal() { isSealed = true }

  private mutating func append(_ bytes: [UInt8], into program: inout Program) {
    guard !bytes.isEmpty else { return }
    let start = program.bytes.count
    program.bytes += bytes
    if !isSealed, case .bytes(let from, let count)? = program.operations.last, from + count == start {
      program.operations[program.operations.count - 1] = .bytes(start: from, count: count + bytes.count)
    } else {
      program.operations.append(.bytes(start: start, count: bytes.count))
    }
    isSealed = false
  }

  private mutating func noticeElement(_ bytes: [UInt8], at index: Int) {
    if let element = keeping {
      if Self.ends(bytes, at: index, with: Self.closings[element]) { keeping = nil }
    } else {
      for element in 0..<Self.openings.count where Self.ends(bytes, at: index, with: Self.openings[element]) {
        keeping = element
      }
    }
  }

  /// Asked for every byte of every template when the console starts: most answers need one comparison.
  private static func ends(_ bytes: [UInt8], at index: Int, with text: [UInt8]) -> Bool {
    var (place, left) = (index, text.count)
    while left > 0, place >= 0, bytes[place] == text[left - 1] { (place, left) = (place - 1, left - 1) }
    return left == 0
  }

  private static func beginsWithMarkup(_ nodes: [Node]) -> Bool {
    for node in nodes {
      switch node {
      case .text(let bytes, _):
        guard let first = bytes.first(where: { !isBlank($0) }) else { continue }
        return first == UInt8(ascii: "<")
      case .section(let section): return beginsWithMarkup(section.nodes)
      case .block(let block): return beginsWithMarkup(block.nodes)
      case .partial, .parent: return true
      case .variable: return false
      }
    }
    return true
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
