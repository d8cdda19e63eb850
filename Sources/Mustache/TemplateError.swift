/// An error in a template, and its place.
public struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The template's name; its file is the name with `.mustache`.
  public let template: String
  /// From 1.
  public let line: Int
  /// From 1, in characters.
  public let column: Int
  /// What is wrong, and what was expected.
  public let message: String

  /// As `pushes/show.mustache:12:7: …`.
  public var description: String { "\(template).mustache:\(line):\(column): \(message)" }

  init(_ message: String, in template: String, source: [UInt8], at offset: Int) {
    self.init(message, at: Place(template: template, source: source, offset: offset))
  }

  init(_ message: String, at place: Place) {
    template = place.template
    (line, column) = place.lineAndColumn
    self.message = message
  }
}

/// The place of a tag, for errors while rendering. Every tag has one, and few are ever asked for: lines are counted then.
struct Place: Sendable {
  let template: String
  let source: [UInt8]
  let offset: Int

  /// Both from 1; the column in characters.
  var lineAndColumn: (line: Int, column: Int) {
    let before = source.prefix(offset)
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    return (line, String(decoding: before[start...], as: UTF8.self).count + 1)
  }

  /// As `line 12, column 7`.
  var text: String {
    let (line, column) = lineAndColumn
    return "line \(line), column \(column)"
  }
}
