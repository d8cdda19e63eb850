import Foundation
import JSON
import Mustache
import Model

/// The texts of every language that `Templates/locales` holds.
struct Locales: Sendable {
  /// Every language by its tag.
  let texts: [String: Texts]

  static let fallback = "en"

  /// Reads the tables.
  ///
  /// - Throws: `Problem` with line and column for a file that is no JSON; what Foundation throws for one that is not
  ///   readable.
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

  /// The texts of a language, English for one that is not there.
  subscript(code: String?) -> Texts {
    code.flatMap { texts[$0] } ?? texts[Self.fallback] ?? Texts(code: "en", table: [:])
  }

  /// The first language of an `Accept-Language` field (RFC 9110 section 12.5.4) that is there.
  func best(for field: String?) -> Texts {
    let wanted = (field ?? "").split(separator: ",").compactMap { part -> (code: String, weight: Double)? in
      let pieces = part.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      guard let code = pieces.first?.lowercased() else { return nil }
      let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      return weight > 0 ? (code, weight) : nil
    }
    for (code, _) in wanted.sorted(by: { $0.weight > $1.weight }) {
      // zh-CN and zh-Hans-SG read simplified characters, as does plain zh.
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
struct Texts: Sendable {
  /// Language tag.
  let code: String
  /// What templates name `t`.
  let language: ViewLanguage
  private let flat: [String: String]

  init(code: String, table: JSONValue) {
    self.code = code
    var flat: [String: String] = [:]
    Self.flatten(table, "", &flat)
    self.flat = flat
    var views: [String: ViewLanguage.Text] = [:]
    Self.collect(table, "", &views)
    // English and Chinese; a language with more forms says here which number has which.
    language = ViewLanguage(code: code, texts: views) { $0 == 1 ? "one" : "other" }
  }

  /// Texts as views take them: an object with `other` is one text with plural forms.
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

  /// Every key with its text.
  var keys: Set<String> { Set(flat.keys) }

  /// A text with `{name}` filled in. A key that is not there shows as itself: seen at once, and harmless.
  func callAsFunction(_ key: String, _ arguments: [String: String] = [:]) -> String {
    Problem("", code: key, flat[key] ?? key, arguments).text
  }

  /// The text for a number: `<key>.one` or `<key>.other`, with `{count}` filled in.
  func callAsFunction(_ key: String, count: Int, _ arguments: [String: String] = [:]) -> String {
    let form = count == 1 && flat[key + ".one"] != nil ? ".one" : ".other"
    return self(key + form, arguments.merging(["count": count.grouped]) { $1 })
  }

  /// What is known under a key, nil if nothing is.
  func known(_ key: String) -> String? { flat[key] }

  /// A problem in this language; in English if its table lacks the code.
  func text(_ problem: Problem) -> String { flat["messages." + problem.code].map(problem.filling) ?? problem.text }
}
