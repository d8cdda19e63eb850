/// A compiled template: its output, in order.
indirect enum Node: Sendable {
  case text(Line)
  case variable(Name, escaped: Bool, Place)
  case section(Section)
  case partial(Reference)
  case parent(Reference, blocks: [Block])
  case block(Block)

  /// At most one line of the template's own text.
  struct Line: Sendable {
    let bytes: [UInt8]
    /// Whether a line of the template begins here.
    let startsLine: Bool
    /// Worked out once, because a component is bound wherever a page uses it.
    let squeezed: WhiteSpace.Squeezed

    init(_ bytes: [UInt8], startsLine: Bool) {
      (self.bytes, self.startsLine) = (bytes, startsLine)
      squeezed = WhiteSpace.Squeezed(bytes, startsLine: startsLine)
    }
  }

  /// The content of a section, and its source for lambdas. Beyond the specification, `{{#$name}}` asks for a block.
  struct Section: Sendable {
    var name: Name
    var inverted: Bool
    var nodes: [Node]
    var source: String
    var delimiters: Delimiters
    var place: Place
  }

  /// Another template, by a fixed name or by a name found in the data (`{{>*name}}`).
  struct Reference: Sendable {
    enum Target: Sendable {
      case fixed(String)
      case dynamic(Name)
    }
    var target: Target
    /// White space before a tag that is alone on its line: prepended to each line of the other template.
    var indent: [UInt8]
    var isStandalone: Bool
    var place: Place
  }

  /// A part of a template that a descendant may replace.
  struct Block: Sendable {
    enum Form: Sendable {
      /// Between other text.
      case inline
      /// Opening and closing tag are alone together on one line.
      case line
      /// The opening tag ends its line.
      case lines
    }
    var name: String
    var nodes: [Node]
    /// Prepended to each line of the content.
    var indent: [UInt8]
    var form: Form
    var place: Place

    /// What a descendant gave for the block of this name; nothing if none did.
    static func given(_ name: String, _ place: Place) -> Block {
      Block(name: name, nodes: [], indent: [], form: .inline, place: place)
    }
  }

  /// The name of a value: `.`, or its dotted parts.
  struct Name: Sendable, Hashable {
    let parts: [String]
    /// The key of a text of the language, if the name is one of `t.…`.
    let textKey: String?

    init(_ text: String) {
      parts = text == "." ? [] : text.split(separator: ".").map(String.init)
      textKey = parts.first == "t" ? parts.dropFirst().joined(separator: ".") : nil
    }

    var text: String { parts.isEmpty ? "." : parts.joined(separator: ".") }

    /// The block that a section is about, if its name is one of `$…`: the section is there if that block writes
    /// something.
    var block: String? {
      guard let first = parts.first, first.hasPrefix("$"), parts.count == 1 else { return nil }
      return String(first.dropFirst())
    }
  }
}

struct Delimiters: Sendable, Hashable {
  var open = Array("{{".utf8)
  var close = Array("}}".utf8)
}

extension [Node] {
  /// The nodes without `indent` at the start of their lines.
  func dedented(by indent: [UInt8]) -> [Node] {
    guard !indent.isEmpty else { return self }
    return map { node in
      switch node {
      case .text(let line) where line.startsLine && line.bytes.starts(with: indent):
        return .text(Node.Line(Array<UInt8>(line.bytes.dropFirst(indent.count)), startsLine: true))
      case .section(var section):
        section.nodes = section.nodes.dedented(by: indent)
        return .section(section)
      case .partial(var reference):
        reference.indent = reference.indent.without(indent)
        return .partial(reference)
      case .parent(var reference, let blocks):
        reference.indent = reference.indent.without(indent)
        return .parent(reference, blocks: blocks)
      case .block(var block):
        block.indent = block.indent.without(indent)
        return .block(block)
      case .text, .variable: return node
      }
    }
  }

  /// The white space before the first line.
  var leadingIndent: [UInt8] {
    switch first {
    case .text(let line) where line.startsLine: Array<UInt8>(line.bytes.prefix { $0 == 0x20 || $0 == 0x09 })
    case .block(let block) where block.form != .inline: block.indent
    default: []
    }
  }
}

extension [UInt8] {
  fileprivate func without(_ prefix: [UInt8]) -> [UInt8] {
    starts(with: prefix) ? Array(dropFirst(prefix.count)) : self
  }
}
