import Foundation
import HTTPServer
import JSON

/// A submitted form, urlencoded or multipart.
struct Form: Sendable {
  private var fields: [(name: String, value: String)] = []
  private var files: [FormData.Item] = []

  init() {}

  /// For values that are read like a form, but were not submitted as one.
  init(_ fields: [(name: String, value: String)]) { self.fields = fields }

  /// - Throws: 415 for another content type; 400 and 413 from the readers.
  init(_ request: Request) async throws {
    if request.mediaType == "multipart/form-data" {
      // The route limits the whole body; a pasted list of devices is one large part.
      let data = try await FormData(request, limits: MultipartLimits(partBytes: .max))
      for item in data.items where item.part.fileName == nil {
        fields.append((item.part.name, String(decoding: item.bytes, as: UTF8.self)))
      }
      files = data.items.filter { $0.part.fileName?.isEmpty == false }
    } else if request.mediaType != nil || request.header("Content-Length") ?? "0" != "0" {
      fields = try await request.form().pairs.map { ($0.name, $0.value) }
    }
  }

  /// The trimmed text of a field; empty if absent.
  subscript(name: String) -> String { raw(name).trimmingCharacters(in: .whitespacesAndNewlines) }

  /// The untrimmed text of a field, with `\n` as line ends.
  func raw(_ name: String) -> String {
    (fields.first { $0.name == name }?.value ?? "").replacing("\r\n", with: "\n")
  }

  /// All values of a field, e.g. of checkboxes.
  func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// Whether the field was sent, even if empty.
  func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  var hasFiles: Bool { !files.isEmpty }

  /// Nil if no file was chosen.
  func file(_ name: String) -> FormData.Item? { files.first { $0.part.name == name } }

  /// All fields in their order.
  var all: [(name: String, value: String)] { fields }

  /// Values separated by blanks, commas or line ends. A value that contains one of these is quoted. A JSON array, as it
  /// is copied from a program, is read too.
  func words(_ name: String) -> [String] { Self.names(in: raw(name), separators: Self.wordSeparators) }

  /// Values separated by commas or line ends; blanks inside are kept. A value that contains a separator is quoted.
  func parts(_ name: String) -> [String] { Self.names(in: raw(name), separators: Self.partSeparators) }

  private static let wordSeparators = ", \n\t，、;"
  private static let partSeparators = ",\n，;"

  /// The inverse of ``words(_:)``, one value per line.
  static func words(_ names: [String]) -> String { list(names, between: "\n", separators: wordSeparators) }

  /// The inverse of ``parts(_:)``.
  static func parts(_ names: [String]) -> String { list(names, between: ", ", separators: partSeparators) }

  private static func list(_ names: [String], between: String, separators: String) -> String {
    names.map { name in
      let isPlain = !name.hasPrefix("\"") && !name.hasPrefix("[") && !name.contains { separators.contains($0) }
      return isPlain ? name : "\"\(name.replacing("\"", with: "\"\""))\""
    }.joined(separator: between)
  }

  private static func names(in text: String, separators: String) -> [String] {
    if let names = jsonArray(text) { return names }
    var names: [String] = []
    var rest = text[...]
    while true {
      rest = rest.drop { separators.contains($0) || $0.isWhitespace }
      if rest.isEmpty { return names }
      if let (name, end) = quoted(rest, separators) {
        if !name.isEmpty { names.append(name) }
        rest = rest[end...]
      } else {
        let name = rest.prefix { !separators.contains($0) }
        names.append(name.trimmingCharacters(in: .whitespaces))
        rest = rest[name.endIndex...]
      }
    }
  }

  /// The texts and numbers of a JSON array; nil: another text.
  private static func jsonArray(_ text: String) -> [String]? {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.hasPrefix("["), text.hasSuffix("]") else { return nil }
    let items = (try? JSONValue(parsing: Array(text.utf8)))?.array  // nil: not JSON
    let names = items?.compactMap { $0.string ?? $0.integer.map { String($0) } }
    return names?.count == items?.count ? names?.filter { !$0.isEmpty } : nil
  }

  /// A quoted value, with doubled quotes inside, and its end; nil if the value is not quoted as a whole.
  private static func quoted(_ text: Substring, _ separators: String) -> (name: String, end: Substring.Index)? {
    guard text.first == "\"" else { return nil }
    var name = ""
    var rest = text.dropFirst()
    while let quote = rest.firstIndex(of: "\"") {
      name += rest[..<quote]
      rest = rest[rest.index(after: quote)...]
      if rest.first == "\"" {
        name += "\""
        rest = rest.dropFirst()
      } else {
        let after = rest.drop { $0 == " " }
        return after.isEmpty || separators.contains(after[after.startIndex]) ? (name, rest.startIndex) : nil
      }
    }
    return nil
  }
}
