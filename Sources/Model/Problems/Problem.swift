/// One thing wrong with one field of what somebody sent us, in a form that can be translated.
package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
  /// Where: a path as `audience.tag[3]`, empty for the whole.
  package var field: String
  /// Which message, as `alias.too_long`: the key under which other languages keep their text.
  package let code: String
  /// The English sentence, with `{name}` where an argument stands: what is wrong and what to do.
  package let template: String
  /// What the text is filled with. Never a secret.
  package let arguments: [String: String]

  /// Creates a problem. `template` is the one place where the English sentence stands.
  package init(_ field: String, code: String, _ template: String, _ arguments: [String: String] = [:]) {
    self.field = field
    self.code = code
    self.template = template
    self.arguments = arguments
  }

  /// The English sentence, filled in.
  package var text: String { filling(template) }

  /// Another language's sentence, filled in. In one pass: what an argument says is never taken for a placeholder.
  package func filling(_ template: String) -> String {
    // Most sentences have nothing to fill in.
    guard template.utf8.contains(UInt8(ascii: "{")) else { return template }
    var filled = ""
    var rest = template[...]
    while let open = rest.firstIndex(of: "{") {
      filled += rest[..<open]
      rest = rest[open...]
      guard let close = rest.firstIndex(of: "}") else { break }
      let name = String(rest[rest.index(after: open)..<close])
      filled += arguments[name] ?? "{\(name)}"
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }

  /// The same problem, seen from outside: `under("audience")` turns `tag[3]` into `audience.tag[3]`.
  package func under(_ prefix: String) -> Problem {
    var problem = self
    problem.field = field.isEmpty ? prefix : field.hasPrefix("[") ? prefix + field : "\(prefix).\(field)"
    return problem
  }

  /// As `audience.tag[3]: A tag may have at most 40 bytes; this one has 52.`
  package var description: String { field.isEmpty ? text : "\(field): \(text)" }
}

/// Everything wrong with one request, at least one problem.
package struct Problems: Error, Sendable, Hashable, CustomStringConvertible {
  /// In the order of the fields.
  package let all: [Problem]

  /// - Precondition: `all` is not empty.
  package init(_ all: [Problem]) {
    precondition(!all.isEmpty)
    self.all = all
  }

  /// One line for each.
  package var description: String { all.map(\.description).joined(separator: "\n") }
}
