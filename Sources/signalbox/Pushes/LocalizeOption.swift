import Arguments
import JSON
import Model
import Text

/// `--localize zh-Hans:title=…`: one text of a push in one more language.
enum LocalizeOption {
  struct Text: Sendable {
    let language: String
    let part: String
    let text: String
  }

  private static let parts = ["title", "subtitle", "body"]

  static let option = Option(
    repeated: "localize", "language:part=text",
    "A text for devices in another language, e.g. zh-Hans:title=你好. The part is title, subtitle, or body."
  ) { text throws(BadValue) in
    guard let mark = text.firstIndex(of: "="), let colon = text[..<mark].firstIndex(of: ":"), colon > text.startIndex
    else { throw BadValue("is not language:part=text") }
    let part = String(text[text.index(after: colon)..<mark])
    guard parts.contains(part) else { throw BadValue("has the part “\(part)”: use title, subtitle, or body") }
    return Text(language: String(text[..<colon]), part: part, text: String(text[text.index(after: mark)...]))
  }

  static let file = Option<String?>(
    "localizations", "file",
    "A file with the texts in other languages as JSON, e.g. {\"de\": {\"title\": \"Hallo\"}}; - for standard input.")

  /// The member `localizations` of a notification; nil: there are none.
  ///
  /// - Throws: wrong usage, or what ails the file.
  static func json(_ values: Parsed, read: (String) throws -> JSONValue) throws -> JSONValue? {
    var found: [String: JSONValue] = [:]
    if let path = values[file] {
      let json = try read(path)
      guard let members = json.object else { throw CommandFailure("\(path): Expected a JSON object.") }
      found = members
    }
    for text in values[option] {
      var texts = found[text.language]?.object ?? [:]
      guard texts.updateValue(.string(text.text), forKey: text.part) == nil else {
        throw CommandFailure.usage("There are two texts for \(text.language):\(text.part).")
      }
      found[text.language] = .object(texts)
    }
    return found.isEmpty ? nil : .object(found)
  }
}
