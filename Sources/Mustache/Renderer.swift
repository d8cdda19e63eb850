/// Writes nodes filled with values into one buffer.
struct Renderer {
  private var output: [UInt8] = []
  private var stack: [Value]
  private let library: TemplateLibrary
  /// Blocks of descendants, the outermost first: it wins.
  private var overrides: [[Node.Block]] = []
  private var indent: [UInt8] = []
  /// Whether the next output begins a line.
  private var isAtLineStart = false
  private var depth = 0

  /// The nesting limit of templates: endless recursion is an error, not a crash.
  private static let depthLimit = 256

  init(_ library: TemplateLibrary, _ value: Value) {
    self.library = library
    stack = [value]
    output.reserveCapacity(16 * 1024)
  }

  static func render(_ nodes: [Node], _ value: Value, _ library: TemplateLibrary) throws(TemplateError) -> [UInt8] {
    var renderer = Renderer(library, value)
    try renderer.write(nodes)
    return renderer.output
  }

  private mutating func write(_ nodes: [Node]) throws(TemplateError) {
    for node in nodes {
      switch node {
      case .text(let line):
        if isAtLineStart, line.bytes.first != UInt8(ascii: "\n") { writeIndent() }
        output += line.bytes
        isAtLineStart = !indent.isEmpty && line.bytes.last == UInt8(ascii: "\n")
      case .variable(let name, let escaped, let place):
        guard let value = try find(name, place) else { continue }
        if isAtLineStart { writeIndent() }
        try write(value, escaped: escaped, place)
      case .section(let section): try write(section)
      case .partial(let reference): try write(reference, blocks: [])
      case .parent(let reference, let blocks): try write(reference, blocks: blocks)
      case .block(let block): try write(block)
      }
    }
  }

  private mutating func writeIndent() {
    output += indent
    isAtLineStart = false
  }

  private mutating func write(_ value: Value, escaped: Bool, _ place: Place) throws(TemplateError) {
    switch value {
    case .null: break
    case .bool(let flag): output += (flag ? "true" : "false").utf8
    case .integer(let number): output += String(number).utf8
    case .double(let number):
      if let whole = Int64(exactly: number) { output += String(whole).utf8 } else { output += String(number).utf8 }
    case .string(let text): escaped ? write(escaping: text) : (output += text.utf8)
    case .list, .object:
      throw TemplateError("a list or an object cannot be written as text", at: place)
    case .lambda(let make):
      let text = try nested(make(""), Delimiters(), place)
      escaped ? text.withUnsafeBufferPointer { write(escaping: $0) } : (output += text)
    }
  }

  private mutating func write(escaping text: String) {
    var text = text
    text.withUTF8 { write(escaping: $0) }
  }

  private mutating func write(escaping bytes: UnsafeBufferPointer<UInt8>) {
    var text = Output(capacity: bytes.count)
    text.write(escaping: bytes)
    output += text.array
  }

  /// Renders the result of a lambda.
  private mutating func nested(_ source: String, _ delimiters: Delimiters, _ place: Place) throws(TemplateError)
    -> [UInt8]
  {
    let nodes = try Parser.parse(source, name: place.template, delimiters: delimiters)
    let before = output
    output = []
    try enter(place) { (renderer) throws(TemplateError) in try renderer.write(nodes) }
    defer { output = before }
    return output
  }

  /// The value of a name: the innermost context that has its first part decides (specification: dotted names do not
  /// fall back).
  private func find(_ name: Node.Name, _ place: Place) throws(TemplateError) -> Value? {
    guard let first = name.parts.first else { return stack.last }
    for context in stack.reversed() {
      guard var value = context[first] else { continue }
      for part in name.parts.dropFirst() {
        guard let member = value[part] else { return try missing(name, place) }
        value = member
      }
      return value
    }
    return try missing(name, place)
  }

  private func missing(_ name: Node.Name, _ place: Place) throws(TemplateError) -> Value? {
    guard library.missingKey == .error else { return nil }
    throw TemplateError("there is no value “\(name.text)”", at: place)
  }

  private mutating func write(_ section: Node.Section) throws(TemplateError) {
    if let block = section.name.block {
      guard try isFilled(.given(block, section.place)) != section.inverted else { return }
      return try write(section.nodes)
    }
    let value = try find(section.name, section.place) ?? .null
    guard value.isTrue != section.inverted else { return }
    if section.inverted { return try write(section.nodes) }
    switch value {
    case .list(let values):
      for value in values {
        stack.append(value)
        try write(section.nodes)
        stack.removeLast()
      }
    case .lambda(let make):
      output += try nested(make(section.source), section.delimiters, section.place)
    default:
      stack.append(value)
      try write(section.nodes)
      stack.removeLast()
    }
  }

  private mutating func write(_ reference: Node.Reference, blocks: [Node.Block]) throws(TemplateError) {
    let name: String
    switch reference.target {
    case .fixed(let fixed): name = fixed
    case .dynamic(let variable):
      guard case .string(let found)? = try find(variable, reference.place) else { return }
      name = found
    }
    guard let template = library.templates[name] else {
      guard library.missingKey == .error else { return }
      throw TemplateError("there is no template “\(name)”", at: reference.place)
    }
    let outerIndent = indent
    let outerLineStart = isAtLineStart
    if reference.isStandalone {
      indent += reference.indent
      isAtLineStart = !indent.isEmpty
    }
    if !blocks.isEmpty { overrides.append(blocks) }
    try enter(reference.place) { (renderer) throws(TemplateError) in try renderer.write(template.nodes) }
    if !blocks.isEmpty { overrides.removeLast() }
    indent = outerIndent
    isAtLineStart = reference.isStandalone ? !indent.isEmpty : outerLineStart && isAtLineStart
  }

  private mutating func write(_ block: Node.Block) throws(TemplateError) {
    var nodes = block.nodes
    for blocks in overrides {
      if let override = blocks.first(where: { $0.name == block.name }) {
        nodes = override.nodes
        break
      }
    }
    guard block.form != .inline else { return try write(nodes) }
    let outer = indent
    indent += block.indent
    isAtLineStart = !indent.isEmpty
    try write(nodes)
    indent = outer
    isAtLineStart = block.form == .lines && !indent.isEmpty
  }

  /// Whether the block writes something. Nothing of it is kept.
  private func isFilled(_ block: Node.Block) throws(TemplateError) -> Bool {
    var probe = self
    (probe.output, probe.indent, probe.isAtLineStart) = ([], [], false)
    try probe.write(block)
    return !probe.output.isEmpty
  }

  private mutating func enter(
    _ place: Place, _ body: (inout Renderer) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    guard depth < Self.depthLimit else {
      throw TemplateError("templates are nested more than \(Self.depthLimit) levels deep here", at: place)
    }
    depth += 1
    try body(&self)
    depth -= 1
  }
}
