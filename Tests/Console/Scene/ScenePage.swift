import Foundation
import JSON

/// A page as a browser reads it: its tags with their attributes, and the text behind each. Only as much of HTML as our
/// templates write.
struct ScenePage {
  struct Tag {
    let name: String
    let attributes: [String: String]
    /// Up to the next tag, with its entities read.
    var text: String

    var isEnd: Bool { name.hasPrefix("/") }
  }

  private(set) var tags: [Tag] = []

  init(_ answer: SceneAnswer) { self.init(answer.text) }

  init(_ html: String) {
    var rest = html.utf8[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      append(text: rest[..<open])
      let body = rest[rest.index(after: open)...]
      var quote: UInt8?
      let close =
        body.firstIndex { byte in
          if let mark = quote {
            if byte == mark { quote = nil }
            return false
          }
          if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
          return byte == UInt8(ascii: ">")
        } ?? body.endIndex
      tags.append(Self.tag(String(Substring(body[..<close]))))
      rest = close < body.endIndex ? body[body.index(after: close)...] : body[body.endIndex...]
    }
    append(text: rest)
  }

  private mutating func append(text: Substring.UTF8View) {
    guard !tags.isEmpty else { return }
    tags[tags.count - 1].text += Self.decoded(String(Substring(text)))
  }

  private static func tag(_ text: String) -> Tag {
    var rest = text[...]
    let name = String(rest.prefix { !$0.isWhitespace && $0 != ">" })
    rest = rest.dropFirst(name.count)
    var attributes: [String: String] = [:]
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "/" }
      let key = String(rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != "/" })
      if key.isEmpty { break }
      rest = rest.dropFirst(key.count)
      guard rest.first == "=" else {
        attributes[key.lowercased()] = ""
        continue
      }
      rest = rest.dropFirst()
      guard let quote = rest.first, quote == "\"" || quote == "'" else {
        let value = rest.prefix { !$0.isWhitespace }
        attributes[key.lowercased()] = decoded(String(value))
        rest = rest.dropFirst(value.count)
        continue
      }
      let value = rest.dropFirst().prefix { $0 != quote }
      attributes[key.lowercased()] = decoded(String(value))
      rest = rest.dropFirst(value.count + 2)
    }
    return Tag(name: name.lowercased(), attributes: attributes, text: "")
  }

  static func decoded(_ text: String) -> String {
    guard text.contains("&") else { return text }
    return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
      .replacing("&#39;", with: "'").replacing("&#x27;", with: "'").replacing("&amp;", with: "&")
  }

  // MARK: Questions

  /// Everything that can be read, one blank between the parts.
  var text: String {
    // A place where a word may be broken is no space, and before a comma there is none.
    tags.map { ($0.name == "wbr" || [",", "，"].contains($0.text.first) ? "" : " ") + $0.text }.joined()
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// What stands in the element with an id, tags inside left out.
  func text(id: String) -> String? {
    guard let start = tags.firstIndex(where: { $0.attributes["id"] == id }) else { return nil }
    let name = tags[start].name
    let end = tags[start...].firstIndex { $0.name == "/" + name } ?? tags.endIndex
    return tags[start..<end].map(\.text).joined().trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The message beside a field.
  func error(_ field: String) -> String { text(id: field + "-error") ?? "" }

  /// The fields that have a message.
  var failedFields: Set<String> {
    Set(
      tags.compactMap { tag in
        guard let id = tag.attributes["id"], id.hasSuffix("-error") else { return nil }
        return text(id: id)?.isEmpty == false ? String(id.dropLast("-error".count)) : nil
      })
  }

  /// What a browser would send for a field, nothing if there is no such field.
  func values(_ field: String) -> [String] {
    var values: [String] = []
    for (index, tag) in tags.enumerated() where tag.attributes["name"] == field {
      switch tag.name {
      case "input":
        let isChoice = ["radio", "checkbox"].contains(tag.attributes["type"])
        if !isChoice || tag.attributes["checked"] != nil { values.append(tag.attributes["value"] ?? "on") }
      case "textarea":
        // A browser leaves out the line end that stands right behind the tag.
        values.append(tag.text.hasPrefix("\n") ? String(tag.text.dropFirst()) : tag.text)
      case "select":
        let options = tags[index...].dropFirst().prefix { $0.name != "/select" }.filter { $0.name == "option" }
        if let chosen = options.first(where: { $0.attributes["selected"] != nil }) ?? options.first {
          values.append(chosen.attributes["value"] ?? chosen.text)
        }
      default: break
      }
    }
    return values
  }

  /// The texts of all elements with a class.
  func texts(class name: String) -> [String] {
    tags.filter { $0.attributes["class"]?.split(separator: " ").contains(Substring(name)) == true }.map(\.text)
  }

  /// Where forms go that change something.
  var forms: [Tag] { tags.filter { $0.name == "form" && $0.attributes["method"] == "post" } }

  /// Every address that leads on.
  var links: [String] { tags.filter { $0.name == "a" }.compactMap { $0.attributes["href"] } }
}
