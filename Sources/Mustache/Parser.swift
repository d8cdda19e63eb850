/// Parses a template into nodes.
struct Parser {
  private enum Closes {
    case nothing
    case section(name: String, Place)
    case block(name: String, Place)
    case parent(name: String, Place)
  }

  /// One tag, with its place in the source.
  private struct Tag {
    var kind: UInt8
    var content: String
    var start: Int
    var end: Int
  }

  private let source: [UInt8]
  private let name: String
  private var delimiters: Delimiters
  private var position = 0
  /// Where text begins that is not yet in a node.
  private var textStart = 0

  private init(_ source: [UInt8], name: String, delimiters: Delimiters) {
    self.source = source
    self.name = name
    self.delimiters = delimiters
  }

  static func parse(_ source: String, name: String, delimiters: Delimiters = Delimiters()) throws(TemplateError)
    -> [Node]
  {
    var parser = Parser(Array(source.utf8), name: name, delimiters: delimiters)
    return try parser.nodes(until: .nothing).nodes
  }

  private mutating func nodes(until closes: Closes) throws(TemplateError) -> (nodes: [Node], end: Tag) {
    var nodes: [Node] = []
    while let tag = try nextTag() {
      switch tag.kind {
      case UInt8(ascii: "!"):
        pass(tag, into: &nodes)
      case UInt8(ascii: "="):
        pass(tag, into: &nodes)
        try setDelimiters(tag)
      case UInt8(ascii: "#"), UInt8(ascii: "^"):
        nodes.append(try section(tag, &nodes))
      case UInt8(ascii: ">"):
        let line = pass(tag, into: &nodes)
        let indent = line.map { Array(source[$0.lowerBound..<tag.start]) } ?? []
        nodes.append(.partial(try reference(tag, indent: indent, isStandalone: line != nil)))
      case UInt8(ascii: "<"):
        nodes.append(try parent(tag, &nodes))
      case UInt8(ascii: "$"):
        var isInParent = false
        if case .parent = closes { isInParent = true }
        nodes.append(.block(try block(tag, &nodes, isInParent: isInParent)))
      case UInt8(ascii: "/"):
        return (try close(tag, closes, nodes), tag)
      default:
        take(textUpTo: tag.start, into: &nodes)
        nodes.append(.variable(Node.Name(tag.content), escaped: tag.kind == 0, place(tag.start)))
        resume(after: tag, nil)
      }
    }
    switch closes {
    case .nothing: break
    case .section(let name, let place), .block(let name, let place), .parent(let name, let place):
      throw error("“\(name)”, opened at \(place.text), is not closed: expected {{/\(name)}}", at: source.count)
    }
    take(textUpTo: source.count, into: &nodes)
    return (nodes, Tag(kind: 0, content: "", start: source.count, end: source.count))
  }

  private mutating func close(_ tag: Tag, _ closes: Closes, _ nodes: [Node]) throws(TemplateError) -> [Node] {
    var nodes = nodes
    switch closes {
    case .nothing:
      throw error("{{/\(tag.content)}} closes nothing", at: tag.start)
    case .section(let name, let place), .block(let name, let place), .parent(let name, let place):
      guard tag.content == name else {
        throw error(
          "{{/\(tag.content)}} does not close “\(name)”, opened at \(place.text)",
          at: tag.start)
      }
    }
    if case .parent = closes {
      // The parent's own tags decide whether it is alone on its line; text between them is ignored.
      textStart = tag.end
    } else {
      pass(tag, into: &nodes)
    }
    return nodes
  }

  private mutating func section(_ tag: Tag, _ nodes: inout [Node]) throws(TemplateError) -> Node {
    pass(tag, into: &nodes)
    let delimiters = delimiters
    let place = place(tag.start)
    let (inner, end) = try self.nodes(until: .section(name: tag.content, place))
    return .section(
      Node.Section(
        name: Node.Name(tag.content), inverted: tag.kind == UInt8(ascii: "^"), nodes: inner,
        source: String(decoding: source[tag.end..<end.start], as: UTF8.self), delimiters: delimiters, place: place))
  }

  private mutating func parent(_ tag: Tag, _ nodes: inout [Node]) throws(TemplateError) -> Node {
    let place = place(tag.start)
    let lineStart = startOfLine(tag.start)
    take(textUpTo: tag.start, into: &nodes)
    resume(after: tag, nil)
    let (inner, end) = try self.nodes(until: .parent(name: tag.content, place))
    var blocks: [Node.Block] = []
    for case .block(let block) in inner { blocks.append(block) }
    let after = endOfLine(end.end)
    let isStandalone = lineStart != nil && after != nil
    var indent: [UInt8] = []
    if isStandalone, let lineStart, let after {
      indent = Array(source[lineStart..<tag.start])
      // The white space is already in the preceding text node: turn it into the parent's indentation.
      if !indent.isEmpty, Self.isIndent(nodes.last, indent) { nodes.removeLast() }
      position = after
      textStart = after
    }
    return .parent(try reference(tag, indent: indent, isStandalone: isStandalone), blocks: blocks)
  }

  private mutating func block(_ tag: Tag, _ nodes: inout [Node], isInParent: Bool) throws(TemplateError) -> Node.Block {
    let place = place(tag.start)
    let lineStart = startOfLine(tag.start)
    let lineEnd = endOfLine(tag.end)
    let endsLine = lineEnd != nil && lineEnd != source.count && (lineStart != nil || isInParent)
    let own = lineStart.map { Array(source[$0..<tag.start]) } ?? []
    take(textUpTo: endsLine ? lineStart ?? tag.start : tag.start, into: &nodes)
    if endsLine, let lineEnd {
      position = lineEnd
      textStart = lineEnd
    } else {
      resume(after: tag, nil)
    }
    let (inner, end) = try self.nodes(until: .block(name: tag.content, place))
    if endsLine {
      let intrinsic = inner.leadingIndent
      return Node.Block(
        name: tag.content, nodes: inner.dedented(by: intrinsic), indent: inner.isEmpty ? own : intrinsic, form: .lines,
        place: place)
    }
    if lineStart != nil, endOfLine(end.end) != nil, inner.isEmpty {
      if !own.isEmpty, Self.isIndent(nodes.last, own) { nodes.removeLast() }
      return Node.Block(name: tag.content, nodes: inner, indent: own, form: .line, place: place)
    }
    return Node.Block(name: tag.content, nodes: inner, indent: [], form: .inline, place: place)
  }

  private func reference(_ tag: Tag, indent: [UInt8], isStandalone: Bool) throws(TemplateError) -> Node.Reference {
    var target = Node.Reference.Target.fixed(tag.content)
    if tag.content.hasPrefix("*") {
      let name = tag.content.dropFirst().drop { $0 == " " }
      guard !name.isEmpty else { throw error("a dynamic name needs the name of a value behind *", at: tag.start) }
      target = .dynamic(Node.Name(String(name)))
    }
    return Node.Reference(target: target, indent: indent, isStandalone: isStandalone, place: place(tag.start))
  }

  private mutating func setDelimiters(_ tag: Tag) throws(TemplateError) {
    let parts = tag.content.split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
    guard parts.count == 2, !tag.content.contains("=") else {
      throw error("expected two delimiters without “=”, e.g. {{=<% %>=}}", at: tag.start)
    }
    delimiters = Delimiters(open: Array(parts[0].utf8), close: Array(parts[1].utf8))
  }

  /// Adds the text before `end` as one node per line.
  private mutating func take(textUpTo end: Int, into nodes: inout [Node]) {
    var start = textStart
    while start < end {
      let newline = source[start..<end].firstIndex(of: UInt8(ascii: "\n"))
      let stop = newline.map { $0 + 1 } ?? end
      let startsLine = start == 0 || source[start - 1] == UInt8(ascii: "\n")
      nodes.append(.text(Node.Line(Array(source[start..<stop]), startsLine: startsLine)))
      start = stop
    }
    textStart = max(textStart, end)
  }

  /// Whether the node is nothing but this white space at the start of a line.
  private static func isIndent(_ node: Node?, _ indent: [UInt8]) -> Bool {
    guard case .text(let line)? = node else { return false }
    return line.startsLine && line.bytes == indent
  }

  /// Takes the text before a tag, and continues after it: after its whole line, if it is alone there.
  ///
  /// - Returns: that line.
  @discardableResult
  private mutating func pass(_ tag: Tag, into nodes: inout [Node]) -> Range<Int>? {
    let line = standalone(tag)
    take(textUpTo: line?.lowerBound ?? tag.start, into: &nodes)
    resume(after: tag, line)
    return line
  }

  private mutating func resume(after tag: Tag, _ line: Range<Int>?) {
    position = line?.upperBound ?? tag.end
    textStart = position
  }

  /// The whole line of a tag that is alone on it, with its line break.
  private func standalone(_ tag: Tag) -> Range<Int>? {
    guard let start = startOfLine(tag.start), let end = endOfLine(tag.end) else { return nil }
    return start..<end
  }

  /// The start of the line if only white space precedes `offset`.
  private func startOfLine(_ offset: Int) -> Int? {
    var start = offset
    while start > 0, source[start - 1] == 0x20 || source[start - 1] == 0x09 { start -= 1 }
    return start == 0 || source[start - 1] == UInt8(ascii: "\n") ? start : nil
  }

  /// The start of the next line if only white space follows `offset`.
  private func endOfLine(_ offset: Int) -> Int? {
    var end = offset
    while end < source.count, source[end] == 0x20 || source[end] == 0x09 { end += 1 }
    if end == source.count { return end }
    if source[end] == UInt8(ascii: "\n") { return end + 1 }
    if source[end] == UInt8(ascii: "\r"), end + 1 < source.count, source[end + 1] == UInt8(ascii: "\n") {
      return end + 2
    }
    return nil
  }

  private mutating func nextTag() throws(TemplateError) -> Tag? {
    guard let start = find(delimiters.open, from: position) else { return nil }
    var cursor = start + delimiters.open.count
    while cursor < source.count, WhiteSpace.isBlank(source[cursor]) { cursor += 1 }
    guard cursor < source.count else { throw unclosed(start) }
    var kind = source[cursor]
    var close = delimiters.close
    if kind == UInt8(ascii: "{") {
      close = Array("}".utf8) + close
    } else if kind == UInt8(ascii: "=") {
      close = Array("=".utf8) + close
    }
    let sigils = "!=#^>/<$&{".utf8
    if sigils.contains(kind) { cursor += 1 } else { kind = 0 }
    guard let end = find(close, from: cursor) else { throw unclosed(start) }
    var content = source[cursor..<end]
    while let first = content.first, WhiteSpace.isBlank(first) { content.removeFirst() }
    while let last = content.last, WhiteSpace.isBlank(last) { content.removeLast() }
    let text = String(decoding: content, as: UTF8.self)
    if kind != UInt8(ascii: "!"), text.isEmpty { throw error("a tag needs a name", at: start) }
    let isName = kind != UInt8(ascii: "!") && kind != UInt8(ascii: "=")
    if isName, !text.hasPrefix("*"), text.utf8.contains(where: WhiteSpace.isBlank) {
      throw error("“\(text)” is not a name: it contains white space", at: start)
    }
    position = end + close.count
    return Tag(kind: kind, content: text, start: start, end: position)
  }

  private func unclosed(_ start: Int) -> TemplateError {
    error("the tag is not closed: expected \(String(decoding: delimiters.close, as: UTF8.self))", at: start)
  }

  private func find(_ pattern: [UInt8], from start: Int) -> Int? {
    guard source.count >= pattern.count, let first = pattern.first else { return nil }
    var index = start
    while index + pattern.count <= source.count {
      if source[index] == first, source[index..<index + pattern.count].elementsEqual(pattern) { return index }
      index += 1
    }
    return nil
  }

  private func place(_ offset: Int) -> Place { Place(template: name, source: source, offset: offset) }

  private func error(_ message: String, at offset: Int) -> TemplateError {
    TemplateError(message, in: name, source: source, at: offset)
  }
}
