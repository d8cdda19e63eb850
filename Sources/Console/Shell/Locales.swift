internal import Foundation
package import JSON
internal import Mustache
package import Model
package import Store

/// The texts of all languages in `Templates/locales`.
struct Locales: Sendable {
  /// By language tag.
  let texts: [String: Texts]

  static let fallback = "en"

  /// - Throws: `Problem` with line and column if a file is not JSON; Foundation's error if a file cannot be read.
  init(folder: String) throws {
    var texts: [String: Texts] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() where file.hasSuffix(".json") {
      let code = String(file.dropLast(5))
      let table = try JSONValue(parsing: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)")))
      texts[code] = Texts(code: code, table: table)
    }
    guard texts[Self.fallback] != nil else { throw CocoaError(.fileNoSuchFile) }
    self.texts = texts
  }

  /// The texts of a language, or English if there are none.
  subscript(code: String?) -> Texts {
    code.flatMap { texts[$0] } ?? texts[Self.fallback] ?? Texts(code: "en", table: [:])
  }

  /// The first available language of an `Accept-Language` field (RFC 9110 §12.5.4).
  func best(for field: String?) -> Texts {
    let wanted = (field ?? "").split(separator: ",").compactMap { part -> (code: String, weight: Double)? in
      let pieces = part.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      guard let code = pieces.first?.lowercased() else { return nil }
      let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      return weight > 0 ? (code, weight) : nil
    }
    for (code, _) in wanted.sorted(by: { $0.weight > $1.weight }) {
      // zh-CN, zh-SG, zh-Hans-SG and plain zh mean simplified characters.
      let simplified = code == "zh" || code.hasPrefix("zh-cn") || code.hasPrefix("zh-sg") || code.hasPrefix("zh-hans")
      let known = texts.keys.first { key in
        key.lowercased() == code || code.hasPrefix(key.lowercased() + "-") || (simplified && key == "zh-Hans")
      }
      if let known { return self[known] }
    }
    return self[nil]
  }
}

/// The texts of one language.
package struct Texts: Sendable {
  let code: String
  /// What templates name `t`.
  let language: ViewLanguage
  private let flat: [String: String]

  /// - Parameter table: as `Templates/locales` has it.
  package init(code: String, table: JSONValue) {
    self.code = code
    var flat: [String: String] = [:]
    Self.flatten(table, "", &flat)
    self.flat = flat
    var views: [String: ViewLanguage.Text] = [:]
    Self.collect(table, "", &views)
    // Enough for English and Chinese. Languages with more plural forms need a case here.
    language = ViewLanguage(code: code, texts: views) { $0 == 1 ? "one" : "other" }
  }

  /// Collects the texts for views. An object with `other` is one text with plural forms.
  private static func collect(_ value: JSONValue, _ path: String, _ texts: inout [String: ViewLanguage.Text]) {
    if let text = value.string { texts[path] = .plain(text) }
    guard let members = value.object else { return }
    if members["other"]?.string != nil { texts[path] = .plural(members.compactMapValues(\.string)) }
    for (key, member) in members { collect(member, path.isEmpty ? key : "\(path).\(key)", &texts) }
  }

  private static func flatten(_ value: JSONValue, _ path: String, _ flat: inout [String: String]) {
    if let text = value.string { flat[path] = text }
    for (key, member) in value.object ?? [:] { flatten(member, path.isEmpty ? key : "\(path).\(key)", &flat) }
  }

  var keys: Set<String> { Set(flat.keys) }

  /// The text with `{name}` placeholders filled in. An unknown key is shown as it is: visible, and harmless.
  func callAsFunction(_ key: String, _ arguments: [String: String] = [:]) -> String {
    let text = flat[key] ?? key
    return arguments.isEmpty ? text : filled(text, key, arguments)
  }

  private func filled(_ text: String, _ code: String, _ arguments: [String: String]) -> String {
    var text = text
    // Tables have a blank after a place because most values end in a digit or a letter. A date ends in 日, which takes
    // none before another character.
    for (name, value) in arguments where value.unicodeScalars.last.map(Self.isHan) ?? false {
      while let place = text.firstRange(of: "{\(name)} "),
        text[place.upperBound...].unicodeScalars.first.map(Self.isHan) ?? false
      {
        text.replaceSubrange(place, with: "{\(name)}")
      }
    }
    return Problem("", code: code, text, arguments.mapValues(Direction.isolated)).text
  }

  private static func isHan(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isIdeographic }

  /// `<key>.one` or `<key>.other`, with `{count}` filled in.
  func callAsFunction(_ key: String, count: Int, _ arguments: [String: String] = [:]) -> String {
    let form = count == 1 && flat[key + ".one"] != nil ? ".one" : ".other"
    return self(key + form, arguments.merging(["count": count.grouped]) { $1 })
  }

  /// The text as it stands in the table; nil: there is none.
  package func known(_ key: String) -> String? { flat[key] }

  /// The problem's text in this language, or in English if the table lacks its code.
  package func text(_ problem: Problem) -> String {
    let key = "messages." + problem.code
    guard let template = (problem.isOne ? flat[key + ".one"] : nil) ?? flat[key] else {
      // The sources' English needs no other words, only the dates and numbers of pages.
      let arguments = problem.arguments.reduce(into: problem.arguments) { $0[$1.key] = written($1.value, $1.key) }
      return Problem("", code: problem.code, Self.curled(problem.template), arguments).text
    }
    return filled(template, problem.code, arguments(of: problem))
  }

  /// A sentence that the engine stored; in English if the table lacks it.
  package func recorded(_ text: String) -> String { RecordedSentence.problem(text).map { self.text($0) } ?? text }

  /// Why secrets cannot be saved.
  package func text(_ mismatch: SealingMismatch) -> String {
    text(Problem("", code: mismatch == .missing ? "sealing.missing" : "sealing.other", mismatch.description))
  }

  /// Why a push was not accepted.
  package func cause(_ reason: Reason) -> String { flat["messages." + reason.causeCode] ?? Self.curled(reason.cause) }
  /// What to do about it.
  package func remedy(_ reason: Reason) -> String {
    flat["messages." + reason.remedyCode] ?? Self.curled(reason.remedy)
  }

  /// With the apostrophes of pages: terminals and programs get the sources' straight ones. Quotes in examples, such as
  /// `'news' in topics`, stay.
  private static func curled(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "'")) else { return text }
    var characters = Array(text)
    for place in characters.indices.dropFirst().dropLast()
    where characters[place] == "'" && characters[place - 1].isLetter && characters[place + 1].isLetter {
      characters[place] = "’"
    }
    return String(characters)
  }

  /// Arguments of problems that may be dates.
  private static let dates: Set = ["begin", "date", "due", "end", "first", "limit", "new", "old"]
  /// Arguments of problems that may be numbers.
  private static let numbers: Set = ["count", "excess", "limit", "size"]

  /// A problem's argument as pages write dates, numbers and weekdays.
  private func written(_ value: String, _ name: String) -> String {
    if name == "weekdays" { return list(value.components(separatedBy: ", ").map { flat["when.\($0)"] ?? $0 }) }
    if Self.numbers.contains(name), let number = Int(value) { return number.grouped }
    return Self.dates.contains(name) ? localized(value) : value
  }

  /// A problem's arguments in this language: dates, lists, words of the API such as `production`, and the remedy that
  /// goes with a reason. Names and values stay as they are.
  private func arguments(of problem: Problem) -> [String: String] {
    var arguments = problem.arguments
    for (name, value) in arguments {
      switch name {
      case "environment", "environments":
        arguments[name] = list(value.components(separatedBy: ", ").map { flat["words.\($0)"] ?? $0 })
      case "choices", "keys", "known", "scopes", "topics", "types":
        arguments[name] = list(value.components(separatedBy: ", "))
      // An option of a command takes the API's words.
      case "weekdays" where problem.field.hasPrefix("--"): arguments[name] = list(value.components(separatedBy: ", "))
      case "state": arguments[name] = flat["state.\(value)"] ?? value
      case "own_role", "needed_role": arguments[name] = flat["roles.\(value)"] ?? value
      case "unit": arguments[name] = flat["when.every_\(value)"] ?? value
      case "kind", "new", "old":
        arguments[name] = flat["certificates.kinds.\(value.replacing(" ", with: "_"))"] ?? localized(value)
      default: arguments[name] = written(value, name)
      }
    }
    if let reason = arguments["reason"], arguments["remedy"] != nil { arguments["remedy"] = remedy(Reason.of(reason)) }
    return arguments
  }
}
