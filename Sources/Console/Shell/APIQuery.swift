import Calendar
import Foundation
import HTTPServer
import Model
import Simulator
import Text

/// Reads the query of a call and collects its problems.
struct APIQuery {
  /// The default page size.
  static let usual = 50
  static let limits = 1...500

  private let items: URLEncodedForm
  private(set) var problems: [Problem] = []

  init(_ request: Request) { items = request.queryItems }

  /// Refuses unknown and repeated parameters.
  static func check(_ items: URLEncodedForm, names: [String]) throws {
    if items.pairs.isEmpty { return }
    var problems: [Problem] = []
    var seen: Set<String> = []
    for pair in items.pairs {
      let shown = String(pair.name.prefix(60))
      if !names.contains(pair.name) {
        if let suggestion = Suggestion.closest(to: pair.name, among: names) {
          problems.append(
            Problem(
              shown, code: "query.unknown_similar", "Unknown query parameter. Did you mean “{suggestion}”?",
              ["suggestion": suggestion]))
        } else {
          problems.append(
            Problem(
              shown, code: "query.unknown", "Unknown query parameter. Known parameters: {known}.",
              ["known": names.isEmpty ? "none" : names.joined(separator: ", ")]))
        }
      } else if !seen.insert(pair.name).inserted {
        problems.append(Problem(shown, code: "query.twice", "This query parameter appears twice. Include it once."))
      }
    }
    if !problems.isEmpty { throw Problems(Array(problems.prefix(100))) }
  }

  /// The page of a list without filters.
  static func page(_ request: Request) throws -> (limit: Int, cursor: String?) {
    var query = APIQuery(request)
    let page = (query.limit(), query.cursor())
    try query.finish()
    return page
  }

  mutating func report(_ problem: Problem) { problems.append(problem) }

  /// Characters of a text, unless its filter says another number.
  private static let longest = 200

  /// Nil if absent. An empty text is a problem: it would filter nothing.
  mutating func text(_ name: String, limit: Int = longest) -> String? {
    guard let text = items[name] else { return nil }
    let problem = text.isEmpty ? Problem("", FieldMessage.empty) : TextLimit.characters(limit).problem(with: text)
    guard let problem else { return text }
    report(problem.under(name))
    return nil
  }

  /// A value of a closed list.
  mutating func choice<T: RawRepresentable<String> & CaseIterable>(_ name: String, as type: T.Type = T.self) -> T? {
    choice(name, T.allCases.map { ($0.rawValue, $0) })
  }

  mutating func choice<T>(_ name: String, _ choices: [(word: String, value: T)]) -> T? {
    guard let word = text(name) else { return nil }
    if let found = choices.first(where: { $0.word == word }) { return found.value }
    let words = choices.map(\.word).joined(separator: ", ")
    report(Problem(name, FieldMessage.expectedChoice, ["choices": words, "value": String(word.prefix(40))]))
    return nil
  }

  /// A time as RFC 3339.
  mutating func time(_ name: String) -> Date? {
    guard let text = text(name) else { return nil }
    if let date = Timestamp.parse(text) { return date }
    report(Problem(name, FieldMessage.notATime, ["value": String(text.prefix(40))]))
    return nil
  }

  /// A day in UTC, as on the pages, or a time as RFC 3339.
  ///
  /// - Parameter isEnd: of a day, its end is meant.
  mutating func day(_ name: String, isEnd: Bool = false) -> Date? {
    if let text = items[name], text.utf8.count == 10, let day = Timestamp.parse("\(text)T00:00:00Z") {
      return isEnd ? day.addingTimeInterval(86_400) : day
    }
    return time(name)
  }

  /// The page size.
  mutating func limit() -> Int { number("limit", in: Self.limits) ?? Self.usual }

  /// Nil if absent or invalid.
  mutating func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
    guard let text = text(name) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    report(
      Problem(
        name, FieldMessage.outOfRange,
        [
          "low": String(range.lowerBound), "high": String(range.upperBound), "value": String(text.prefix(40)),
        ]))
    return nil
  }

  /// How long the caller waits. Nil if absent or invalid.
  ///
  /// - Parameter limit: 5 minutes, as the message says.
  mutating func wait(upTo limit: Duration) -> Duration? {
    guard let text = text("wait") else { return nil }
    if let wait = TimeText.duration(text), wait <= limit { return wait }
    report(
      Problem(
        "wait", code: "simulator.wait", "Must be a duration of up to 5min, e.g. 500ms, 5s, or 1min, not “{value}”.",
        ["value": String(text.prefix(40))]))
    return nil
  }

  mutating func cursor() -> String? { text("cursor") }

  /// - Throws: all problems found.
  func finish() throws { if !problems.isEmpty { throw Problems(problems) } }
}
