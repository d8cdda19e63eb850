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

  /// A line of a template as far as it does not depend on what comes before it.
  struct Squeezed: Sendable {
    /// The white space at its start that is not its line's layout, and whether it has a line break.
    private(set) var lead: [UInt8] = []
    private(set) var leadHasBreak = false
    /// The rest, without white space of the layout.
    private(set) var body: [UInt8] = []
    /// Whether white space with a line break follows the body.
    private(set) var hasBreak = false
    /// The element that is open at the end, by its place in ``openings``.
    private(set) var keeping: Int?

    /// - Parameter startsLine: blanks at the start are the layout of a line.
    init(_ bytes: [UInt8], startsLine: Bool) {
      var start = 0
      if startsLine { while start < bytes.count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 } }
      var index = start
      while index < bytes.count, WhiteSpace.isBlank(bytes[index]) {
        if bytes[index] == UInt8(ascii: "\n") { leadHasBreak = true }
        index += 1
      }
      if index > start { lead = Array(bytes[start..<index]) }
      squeeze(bytes, from: index)
    }

    /// - Parameter keeping: the element that is open at the start.
    init(_ bytes: [UInt8], keeping: Int) {
      self.keeping = keeping
      squeeze(bytes, from: 0)
    }

    private mutating func squeeze(_ bytes: [UInt8], from start: Int) {
      body.reserveCapacity(bytes.count - start)
      var index = start
      while index < bytes.count {
        let byte = bytes[index]
        if keeping == nil, WhiteSpace.isBlank(byte) {
          let first = index
          while index < bytes.count, WhiteSpace.isBlank(bytes[index]) {
            if bytes[index] == UInt8(ascii: "\n") { hasBreak = true }
            index += 1
          }
          if !hasBreak { body += bytes[first..<index] }
          continue
        }
        if hasBreak, body.last != UInt8(ascii: ">") || byte != UInt8(ascii: "<") { body.append(UInt8(ascii: " ")) }
        hasBreak = false
        body.append(byte)
        noticeElement(bytes, at: index)
        index += 1
      }
    }

    private mutating func noticeElement(_ bytes: [UInt8], at index: Int) {
      if let element = keeping {
        if Self.ends(bytes, at: index, with: WhiteSpace.closings[element]) { keeping = nil }
        return
      }
      keeping = WhiteSpace.openings.firstIndex { Self.ends(bytes, at: index, with: $0) }
    }

    private static func ends(_ bytes: [UInt8], at index: Int, with text: [UInt8]) -> Bool {
      var (place, left) = (index, text.count)
      while left > 0, place >= 0, bytes[place] == text[left - 1] { (place, left) = (place - 1, left - 1) }
      return left == 0
    }
  }

  /// Adds text of the template.
  mutating func text(_ line: Node.Line, into program: inout Program) {
    let squeezed = keeping.map { Squeezed(line.bytes, keeping: $0) } ?? line.squeezed
    if !squeezed.lead.isEmpty {
      // Blanks at the start of a line belong to the break before them.
      if hasBreak || squeezed.leadHasBreak {
        hasBreak = true
      } else {
        append(squeezed.lead, into: &program)
        last = squeezed.lead.last
      }
    }
    guard let first = squeezed.body.first else { return }
    if hasBreak, let last, last != UInt8(ascii: ">") || first != UInt8(ascii: "<") {
      append([UInt8(ascii: " ")], into: &program)
    }
    append(squeezed.body, into: &program)
    (last, hasBreak, keeping) = (squeezed.body.last, squeezed.hasBreak, squeezed.keeping)
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

  private static func beginsWithMarkup(_ nodes: [Node]) -> Bool {
    for node in nodes {
      switch node {
      case .text(let line):
        guard let first = line.squeezed.body.first else { continue }
        return first == UInt8(ascii: "<")
      case .section(let section): return beginsWithMarkup(section.nodes)
      case .block(let block): return beginsWithMarkup(block.nodes)
      case .partial, .parent: return true
      case .variable: return false
      }
    }
    return true
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
