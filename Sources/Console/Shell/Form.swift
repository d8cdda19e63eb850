import Foundation
import HTTPServer

/// What a person sent with a form, urlencoded or multipart.
struct Form: Sendable {
  private var fields: [(name: String, value: String)] = []
  private var files: [FormData.Item] = []

  init() {}

  /// Made by hand, for what is not a form but is read like one.
  init(_ fields: [(name: String, value: String)]) { self.fields = fields }

  /// Reads a request's form.
  ///
  /// - Throws: 415 for another content type; 400 and 413 as the readers say.
  init(_ request: Request) async throws {
    if request.mediaType == "multipart/form-data" {
      // The route bounds the whole; a list of devices is one large part.
      let data = try await FormData(request, limits: MultipartLimits(partBytes: .max))
      for item in data.items where item.part.fileName == nil {
        fields.append((item.part.name, String(decoding: item.bytes, as: UTF8.self)))
      }
      files = data.items.filter { $0.part.fileName?.isEmpty == false }
    } else if request.mediaType != nil || request.header("Content-Length") ?? "0" != "0" {
      fields = try await request.form().pairs.map { ($0.name, $0.value) }
    }
  }

  /// A field without blanks around it; empty if it was not sent.
  subscript(name: String) -> String { raw(name).trimmingCharacters(in: .whitespacesAndNewlines) }

  /// A field as it was sent, with the line ends of this machine.
  func raw(_ name: String) -> String {
    (fields.first { $0.name == name }?.value ?? "").replacing("\r\n", with: "\n")
  }

  /// Every value of a field, as of checkboxes.
  func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// Whether a field was sent, be it empty.
  func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// The file that was chosen, nil if none was.
  func file(_ name: String) -> FormData.Item? { files.first { $0.part.name == name } }

  /// Every field, in its order.
  var all: [(name: String, value: String)] { fields }

  /// Words separated by blanks, commas or line ends. One that has such a character in it stands in quotes.
  func words(_ name: String) -> [String] { Self.names(in: raw(name), separators: Self.wordSeparators) }

  /// Parts separated by commas or line ends, blanks inside kept. One that has such a character in it stands in quotes.
  func parts(_ name: String) -> [String] { Self.names(in: raw(name), separators: Self.partSeparators) }

  private static let wordSeparators = ", \n\t，、;"
  private static let partSeparators = ",\n，;"

  /// Names as ``words(_:)`` reads them, each on a line.
  static func words(_ names: [String]) -> String { list(names, between: "\n", separators: wordSeparators) }

  /// Names as ``parts(_:)`` reads them.
  static func parts(_ names: [String]) -> String { list(names, between: ", ", separators: partSeparators) }

  private static func list(_ names: [String], between: String, separators: String) -> String {
    names.map { name in
      let isPlain = !name.hasPrefix("\"") && !name.contains { separators.contains($0) }
      return isPlain ? name : "\"\(name.replacing("\"", with: "\"\""))\""
    }.joined(separator: between)
  }

  private static func names(in text: String, separators: String) -> [String] {
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

  /// A name in quotes, with those inside doubled, and where it ends; nil if it is not quoted as a whole.
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
