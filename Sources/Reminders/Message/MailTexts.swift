internal import Foundation
import JSON
package import Mustache
internal import Model

/// The texts of mails in every language that `Templates/mail/locales` holds.
package struct MailTexts: Sendable {
  package struct Language: Sendable {
    package let code: String
    /// The value of `t` in templates.
    package let value: Value
    private let flat: [String: String]

    init(code: String, table: JSONValue) {
      self.code = code
      var flat: [String: String] = [:]
      value = Self.flatten(table, "", &flat)
      self.flat = flat
    }

    private static func flatten(_ json: JSONValue, _ path: String, _ flat: inout [String: String]) -> Value {
      if let text = json.string {
        flat[path] = text
        return .string(text)
      }
      var members: [String: Value] = [:]
      for (key, member) in json.object ?? [:] {
        members[key] = flatten(member, path.isEmpty ? key : "\(path).\(key)", &flat)
      }
      return .object(members)
    }

    package var keys: Set<String> { Set(flat.keys) }

    /// A text with `{name}` filled in; an unknown key stands for itself.
    package func callAsFunction(_ key: String, _ arguments: [String: String] = [:]) -> String {
      Problem("", code: key, flat[key] ?? key, arguments).text
    }

    /// The text for a number: `<key>.one` or `<key>.other`, with `{count}` filled in.
    func callAsFunction(_ key: String, count: Int, _ arguments: [String: String] = [:]) -> String {
      self("\(key).\(count == 1 ? "one" : "other")", arguments.merging(["count": "\(count)"]) { $1 })
    }

    /// What is known under a key.
    func known(_ key: String) -> String? { flat[key] }
  }

  /// Every language by its tag.
  package let languages: [String: Language]

  /// Reads the tables.
  ///
  /// - Throws: `Problem` for invalid JSON; Foundation's errors for an unreadable file.
  package init(folder: String) throws {
    var languages: [String: Language] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".json") {
      let code = String(file.dropLast(5))
      let table = try JSONValue(parsing: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)")))
      languages[code] = Language(code: code, table: table)
    }
    guard languages["en"] != nil else { throw CocoaError(.fileNoSuchFile) }
    self.languages = languages
  }

  /// A language, or English.
  package subscript(code: String) -> Language {
    languages[code] ?? languages["en"] ?? Language(code: "en", table: [:])
  }
}
