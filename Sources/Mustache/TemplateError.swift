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
    let before = source.prefix(offset)
    line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
    column = String(decoding: before[start...], as: UTF8.self).count + 1
    self.template = template
    self.message = message
  }

  init(_ message: String, at place: Place) {
    template = place.template
    line = place.line
    column = place.column
    self.message = message
  }
}

/// The place of a tag, for errors while rendering.
struct Place: Sendable {
  let template: String
  let line: Int
  let column: Int

  init(template: String, source: [UInt8], offset: Int) {
    let error = TemplateError("", in: template, source: source, at: offset)
    self.template = template
    line = error.line
    column = error.column
  }
}
