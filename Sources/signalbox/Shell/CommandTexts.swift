import Certificates
import Console
import Delivery
import Foundation
import JSON
import Model
import Providers
import Reactor
import Store
import Synchronization
import Text

/// What commands say in a language other than English.
///
/// `Templates/commands/<language>.json` has the help, the messages, and the errors of the rooms below, each by its
/// English sentence. What pages say as well comes from the console's table: a text `@state.active` stands there under
/// that key, and errors that have a code stand there under the code.
final class CommandTexts: Translation {
  private let sentences: [String: String]
  /// The longest first: a shorter one might take a part for a value.
  private let errors: [(english: String, text: String)]
  private let folder: String
  private let code: String
  /// Nil until something needs it: it is the larger table.
  private let page = Mutex<Texts?>(nil)

  /// Nil for English: if the environment asks for no other language, or its tables are not there.
  init?(_ environment: [String: String]) {
    guard let code = UserLocale.language(environment),
      let folder = try? Resources.find(environment["SIGNALBOX_RESOURCES"]) + "/Templates",
      let content = FileManager.default.contents(atPath: "\(folder)/commands/\(code).json"),
      let table = try? JSONValue(parsing: content)
    else { return nil }
    func texts(_ name: String) -> [String: String] { (table[name]?.object ?? [:]).compactMapValues(\.string) }
    (self.code, self.folder) = (code, folder)
    sentences = texts("help").merging(texts("messages")) { $1 }
    errors = texts("errors").map { (english: $0, text: $1) }.sorted { one, other in
      (other.english.utf8.count, one.english) < (one.english.utf8.count, other.english)
    }
  }

  /// The console's texts in this language.
  private var texts: Texts {
    page.withLock { page in
      if let page { return page }
      // Without the file, problems stay English.
      let content = FileManager.default.contents(atPath: "\(folder)/locales/\(code).json") ?? Data()
      let texts = Texts(code: code, table: (try? JSONValue(parsing: content)) ?? [:])
      page = texts
      return texts
    }
  }

  func sentence(_ key: String) -> String? { sentences[key].flatMap(resolved) }

  private func resolved(_ text: String) -> String? {
    text.hasPrefix("@") ? texts.known(String(text.dropFirst())) : text
  }

  /// A sentence that was written in English: as pages have it, or one of `errors`.
  private func recorded(_ text: String) -> String {
    let known = texts.recorded(text)
    return known == text ? error(text) : known
  }

  func cause(_ reason: Reason) -> String { texts.cause(reason) }
  func remedy(_ reason: Reason) -> String { texts.remedy(reason) }

  func text(of value: any Sendable) -> String? {
    switch value {
    case let failure as CommandFailure: failure.message.text(in: self)
    case let problem as Problem: text(problem)
    case let problems as Problems: problems.all.map { text($0) }.joined(separator: "\n")
    // Its fields are those of a form.
    case let problem as FileProblem: texts.text(problem.problem)
    case let failure as HostFailure: text(failure.problem)
    case let mismatch as SealingMismatch: texts.text(mismatch)
    case let line as RejectedLine:
      Message("line \(line.line): ").text(in: self)
        + line.problems.dropLast().map { text($0).withoutFullStop + "；" }.joined()
        + (line.problems.last.map { text($0) } ?? "")
    case let refusal as ServiceRefusal where Reason.of(refusal.reason).isKnown: text(of: Reason.of(refusal.reason))
    case let reason as Reason: "\(reason.code)：\(texts.cause(reason))\(texts.remedy(reason))"
    case let environment as Environment: texts.known("words.\(environment.rawValue)")
    case let word as PageWord: texts.known(word.key)
    case let remedy as Remedy: texts.remedy(remedy.reason)
    case let sentence as EnglishSentence: recorded(sentence.description)
    case let error as any Error: recorded("\(error)")
    default: nil
    }
  }

  private func text(_ problem: Problem) -> String {
    guard !problem.field.isEmpty else { return texts.text(problem) }
    // A path of the API stays; a name of the command line has a blank.
    let field = problem.field.contains(" ") ? sentence(problem.field) ?? problem.field : problem.field
    return "\(field)：\(texts.text(problem))"
  }

  /// An error of a room below, which knows English alone; it and its parts stay as they are where the table lacks them.
  private func error(_ english: String) -> String {
    for (pattern, text) in errors {
      guard let found = RecordedSentence.arguments(english[...], pattern) else { continue }
      return Problem("", code: "", resolved(text) ?? english, found.mapValues { error($0) }).text
    }
    return english
  }
}

/// A word of the API, such as `active`, which a language other than English says as pages do.
struct PageWord: Sendable, CustomStringConvertible {
  let description: String
  /// The key in `Templates/locales`.
  let key: String

  /// - Parameter prefix: of the keys of words of its kind, such as `state.`.
  init(_ word: String, _ prefix: String) { (description, key) = (word, prefix + word) }

  init(_ environment: Environment) { self.init(environment.rawValue, "words.") }
}

/// What to do about a reason.
struct Remedy: Sendable, CustomStringConvertible {
  let reason: Reason
  var description: String { reason.remedy }

  init(_ reason: Reason) { self.reason = reason }
}

/// A sentence of a room below, or one that it stored: written in English alone.
struct EnglishSentence: Sendable, CustomStringConvertible {
  let description: String

  init(_ text: String) { description = text }
}

/// The language that somebody reads, from the environment.
enum UserLocale {
  /// `zh-Hans`, or nil for English: what there are tables for.
  ///
  /// As POSIX has it (Base Definitions §8.2): the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty. As
  /// gettext has it, `LANGUAGE` is a list of preferences that counts unless that locale is `C`.
  static func language(_ environment: [String: String]) -> String? {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
    guard let locale = names.first(where: { !$0.isEmpty }), isReadable(locale) else { return nil }
    let list = (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init)
    // What comes after English in a list is never needed: English is always there.
    let wanted = list.first { isSimplifiedChinese($0) || $0.hasPrefix("en") } ?? (list.isEmpty ? locale : "en")
    return isSimplifiedChinese(wanted) ? "zh-Hans" : nil
  }

  /// Whether it has a language, and can show its characters: `zh_CN.GBK` would show UTF-8 as gibberish.
  private static func isReadable(_ locale: String) -> Bool {
    let parts = locale.split(separator: "@")[0].split(separator: ".", maxSplits: 1).map { $0.lowercased() }
    guard let name = parts.first, !["c", "posix"].contains(name) else { return false }
    return parts.count == 1 || parts[1].replacing("-", with: "") == "utf8"
  }

  /// `zh`, `zh_CN`, `zh_SG`, `zh-Hans…`; not `zh_TW`, `zh_HK`, or `zh_Hant_…`.
  private static func isSimplifiedChinese(_ locale: String) -> Bool {
    let name = locale.prefix { $0 != "." && $0 != "@" }.lowercased()
    let parts = name.split { $0 == "_" || $0 == "-" }
    guard parts.first == "zh" else { return false }
    return parts.count == 1 || ["cn", "sg", "hans"].contains(parts[1])
  }
}
