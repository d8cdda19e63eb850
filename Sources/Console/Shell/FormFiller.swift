import Foundation

/// Writes what was typed into the form of a finished page, whatever form it is: no form has to know that it may come back.
struct FormFiller {
  private let html: [UInt8]
  private var output: [UInt8] = []
  /// The values that are left for each name, in their order.
  private var values: [String: [String]]
  /// Where the open `<details>` stand in the output, and whether something in them was filled in.
  private var folds: [(place: Int, isOpen: Bool)] = []

  /// Names of fields that say something about the page, not about what was typed.
  private static let hidden = [Revision.field]
  /// Never written into a page, and what nobody types.
  private static let untouched = ["password", "file", "submit", "button", "image", "reset"]

  /// The page with the form filled in.
  ///
  /// - Returns: the page as it is if it has no such form.
  static func fill(_ html: [UInt8], _ kept: KeptForm) -> [UInt8] {
    let forms = forms(of: html).map { form -> (form: (range: Range<Int>, action: String), score: Int) in
      let names = Set(MarkupTag.all(of: html, in: form.range).compactMap { $0.tag["name"] })
      let known = kept.form.all.filter { names.contains($0.name) }.count
      return (form, known == 0 ? 0 : known + (form.action == kept.action ? 1000 : 0))
    }
    guard let best = forms.max(by: { $0.score < $1.score }), best.score > 0 else { return html }
    var filler = FormFiller(html, kept.form)
    filler.output += html[..<best.form.range.lowerBound]
    filler.fill(best.form.range)
    return filler.output + html[best.form.range.upperBound...]
  }

  private init(_ html: [UInt8], _ form: Form) {
    self.html = html
    values = Dictionary(grouping: form.all, by: \.name).mapValues { $0.map { $0.value.replacing("\r\n", with: "\n") } }
  }

  private static func forms(of html: [UInt8]) -> [(range: Range<Int>, action: String)] {
    var forms: [(Range<Int>, String)] = []
    var open: (start: Int, action: String)?
    for (tag, range) in MarkupTag.all(of: html, in: 0..<html.count) {
      if tag.name == "form" {
        open = tag["method"] == "post" ? (range.lowerBound, tag["action"] ?? "") : nil
      } else if tag.name == "/form", let form = open {
        forms.append((form.start..<range.upperBound, form.action))
        open = nil
      }
    }
    return forms
  }

  private mutating func fill(_ part: Range<Int>) {
    var copied = part.lowerBound
    var select: (name: String, value: String?)?
    let tags = MarkupTag.all(of: html, in: part)
    for (index, (tag, range)) in tags.enumerated() where range.lowerBound >= copied {
      output += html[copied..<range.lowerBound]
      copied = range.upperBound
      switch tag.name {
      case "details": folds.append((output.count + "<details".utf8.count, tag.has("open")))
      case "/details": folds.removeLast(folds.isEmpty ? 0 : 1)
      case "select": select = tag["name"].map { ($0, take($0)) }
      case "/select": select = nil
      case "textarea":
        guard let value = tag["name"].flatMap({ take($0) }) else { break }
        output += html[range]
        let end = tags[index...].first { $0.tag.name == "/textarea" }?.range.lowerBound ?? range.upperBound
        let before = String(decoding: html[range.upperBound..<end], as: UTF8.self)
        // A line break behind the tag is no part of the text.
        let text = "\n" + MarkupTag.escaped(value)
        if before != text, before != MarkupTag.escaped(value) { unfold() }
        output += text.utf8
        copied = end
        continue
      case "option":
        guard let chosen = select?.value else { break }
        let end = tags[index...].dropFirst().first?.range.lowerBound ?? range.upperBound
        let text = MarkupTag.unescaped(String(decoding: html[range.upperBound..<end], as: UTF8.self))
        write(tag.with("selected", (tag["value"] ?? text) == chosen ? "" : nil), instead: tag)
        continue
      case "input":
        write(filled(tag), instead: tag)
        continue
      default: break
      }
      output += html[range]
    }
    output += html[copied..<part.upperBound]
  }

  private mutating func filled(_ tag: MarkupTag) -> MarkupTag {
    let type = tag["type"] ?? "text"
    guard let name = tag["name"], !Self.untouched.contains(type) else { return tag }
    switch type {
    case "radio", "checkbox":
      // What is not ticked is not sent: a name without a value is one that was not ticked.
      let isChosen = values[name]?.contains(tag["value"] ?? "on") ?? false
      guard type == "checkbox" || values[name] != nil else { return tag }
      return tag.with("checked", isChosen ? "" : nil)
    case "hidden":
      guard Self.hidden.contains(name) else { return tag }
      return take(name).map { tag.with("value", $0) } ?? tag
    default: return take(name).map { tag.with("value", $0) } ?? tag
    }
  }

  /// The next value of a name; nil: none was sent.
  private mutating func take(_ name: String) -> String? {
    guard let first = values[name]?.first else { return nil }
    values[name]?.removeFirst()
    return first
  }

  private mutating func write(_ tag: MarkupTag, instead other: MarkupTag) {
    if tag != other { unfold() }
    output += tag.html.utf8
  }

  /// Opens what is folded around a changed field: nothing is to be sent unseen.
  private mutating func unfold() {
    for index in folds.indices.reversed() where !folds[index].isOpen {
      output.insert(contentsOf: " open".utf8, at: folds[index].place)
      folds[index].isOpen = true
      for inner in folds.indices where folds[inner].place > folds[index].place {
        folds[inner].place += " open".utf8.count
      }
    }
  }
}

/// A tag of HTML as our templates write it.
struct MarkupTag: Hashable {
  let name: String
  private var attributes: [Attribute] = []

  private struct Attribute: Hashable {
    let name: String
    var value: String
    /// Whether it has a value at all.
    var isPlain: Bool
  }

  subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

  func has(_ name: String) -> Bool { attributes.contains { $0.name == name } }

  /// - Parameter value: empty: an attribute without one; nil: none.
  func with(_ name: String, _ value: String?) -> MarkupTag {
    var tag = self
    let isPlain = value == "" && name != "value"
    guard let place = attributes.firstIndex(where: { $0.name == name }) else {
      if let value { tag.attributes.append(Attribute(name: name, value: value, isPlain: isPlain)) }
      return tag
    }
    if let value {
      tag.attributes[place] = Attribute(name: name, value: value, isPlain: isPlain)
    } else {
      tag.attributes.remove(at: place)
    }
    return tag
  }

  var html: String {
    "<\(name)" + attributes.map { $0.isPlain ? " \($0.name)" : " \($0.name)=\"\(Self.escaped($0.value))\"" }.joined()
      + ">"
  }

  /// The tags of a part, each with its place.
  static func all(of html: [UInt8], in part: Range<Int>) -> [(tag: MarkupTag, range: Range<Int>)] {
    var tags: [(MarkupTag, Range<Int>)] = []
    var index = part.lowerBound
    while let start = html[index..<part.upperBound].firstIndex(of: UInt8(ascii: "<")) {
      var (end, quote): (Int, UInt8?) = (start + 1, nil)
      while end < part.upperBound, quote != nil || html[end] != UInt8(ascii: ">") {
        if let mark = quote {
          if html[end] == mark { quote = nil }
        } else if html[end] == UInt8(ascii: "\"") || html[end] == UInt8(ascii: "'") {
          quote = html[end]
        }
        end += 1
      }
      guard end < part.upperBound else { break }
      tags.append((MarkupTag(html[(start + 1)..<end]), start..<(end + 1)))
      index = end + 1
    }
    return tags
  }

  private init(_ bytes: ArraySlice<UInt8>) {
    var rest = Substring(decoding: bytes, as: UTF8.self)
    name = rest.prefix { !$0.isWhitespace }.lowercased()
    rest = rest.drop { !$0.isWhitespace }
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "/" }
      let name = String(rest.prefix { !$0.isWhitespace && $0 != "=" })
      if name.isEmpty { return }
      rest = rest.dropFirst(name.count)
      guard rest.first == "=" else {
        attributes.append(Attribute(name: name, value: "", isPlain: true))
        continue
      }
      rest = rest.dropFirst()
      guard let quote = rest.first, quote == "\"" || quote == "'" else {
        let value = rest.prefix { !$0.isWhitespace }
        attributes.append(Attribute(name: name, value: Self.unescaped(String(value)), isPlain: false))
        rest = rest.dropFirst(value.count)
        continue
      }
      let value = rest.dropFirst().prefix { $0 != quote }
      attributes.append(Attribute(name: name, value: Self.unescaped(String(value)), isPlain: false))
      rest = rest.dropFirst(value.count + 2)
    }
  }

  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  static func unescaped(_ text: String) -> String {
    guard text.contains("&") else { return text }
    return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
      .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
  }
}
