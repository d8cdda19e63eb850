/// One problem with one field of an input, in a translatable form.
package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
  /// A path such as `audience.tag[3]`; empty for the whole input.
  package var field: String
  /// The message's code, such as `alias.too_long`: the key of translations.
  package let code: String
  /// The English sentence with `{name}` for arguments: what is wrong and what to do.
  package let template: String
  /// Never a secret.
  package let arguments: [String: String]
  /// Whether ``template`` is said of exactly one thing; a translation may have a sentence of its own for that.
  package let isOne: Bool

  package init(
    _ field: String, code: String, _ template: String, _ arguments: [String: String] = [:], isOne: Bool = false
  ) {
    (self.field, self.code, self.template, self.arguments, self.isOne) = (field, code, template, arguments, isOne)
  }

  /// The English sentence with its arguments.
  package var text: String { filling(template) }

  /// A translated sentence with its arguments. One pass: placeholders inside arguments are not replaced.
  package func filling(_ template: String) -> String {
    // Most sentences have no arguments.
    guard template.utf8.contains(UInt8(ascii: "{")) else { return template }
    var filled = ""
    var rest = template[...]
    while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")) {
      filled += rest[..<open]
      rest = rest[open...]
      guard let close = rest.utf8.firstIndex(of: UInt8(ascii: "}")) else { break }
      let name = String(rest[rest.index(after: open)..<close])
      filled += arguments[name] ?? "{\(name)}"
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }

  /// Prefixes the path: `under("audience")` turns `tag[3]` into `audience.tag[3]`.
  package func under(_ prefix: String) -> Problem {
    var problem = self
    problem.field = field.isEmpty ? prefix : field.hasPrefix("[") ? prefix + field : "\(prefix).\(field)"
    return problem
  }

  /// As `audience.tag[3]: A tag may have at most 40 bytes; this one has 52.`
  package var description: String { field.isEmpty ? text : "\(field): \(text)" }
}

/// All problems of one request, at least one.
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

/// A closed list of sentences for people. The raw value is the code of translations; `english` is the only place of the
/// English sentence, with `{name}` for arguments.
///
/// Conformers are enums, so that tests hold all of their sentences against the translations.
package protocol MessageSet: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
  var english: String { get }
  /// The English sentence for exactly one thing, and the argument that counts; nil: `english` is right for any number.
  var singular: (argument: String, english: String)? { get }
}

extension MessageSet {
  package var code: String { rawValue }
  package var singular: (argument: String, english: String)? { nil }
}

extension Problem {
  /// Creates a problem with one of the catalogue's sentences.
  package init(_ field: String, _ message: some MessageSet, _ arguments: [String: String] = [:]) {
    let one = message.singular.flatMap { arguments[$0.argument] == "1" ? $0.english : nil }
    self.init(field, code: message.rawValue, one ?? message.english, arguments, isOne: one != nil)
  }
}
