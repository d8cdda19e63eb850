import JSON
import Text

/// Reads an object of a JPush request. Null counts as absent; a key that JPush does not have is refused by its name.
///
/// A key that JPush's libraries offer and that cannot change who gets what is accepted and named; what would reach other
/// people, show another text or come at another time is refused.
struct JPushFields {
  typealias Refusals = [String: (code: JPushCode, why: String)]

  /// Such as `notification.ios`; empty for the body.
  let path: String
  let members: [String: JSONValue]
  /// Paths of the keys that have no effect.
  let unused: [String]

  /// - Parameters:
  ///   - known: the keys that are read.
  ///   - idle: keys without effect.
  ///   - refused: keys that JPush has and Signalbox does not, each with its code and the reason. Libraries write some of
  ///     them into every request: with a value that asks for nothing they have no effect either.
  ///   - moved: keys that stand elsewhere, each with its right place.
  /// - Throws: ``JPushError``: 1003 unless it is an object, 1009 for an unknown key.
  init(
    _ value: JSONValue, at path: String = "", known: Set<String>, idle: Set<String> = [], refused: Refusals = [:],
    moved: [String: String] = [:]
  ) throws(JPushError) {
    guard let object = value.object else {
      throw JPushError(.invalid, "\(path.isEmpty ? "The body" : path) must be a JSON object.", field: path)
    }
    self.path = path
    members = object.filter { $0.value != .null }
    var unused: [String] = []
    for (name, value) in members.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
      let shown = path.isEmpty ? name : "\(path).\(name)"
      if idle.contains(name) || refused[name] != nil && Self.asksForNothing(value) {
        unused.append(shown)
      } else if let refusal = refused[name] {
        throw JPushError(refusal.code, "\(shown): \(refusal.why)", field: shown)
      } else {
        let right = moved[name] ?? Self.suggestion(for: name, among: known)
        throw JPushError(.unknownKey, Self.unknown(shown, right: right), field: shown)
      }
    }
    self.unused = unused
  }

  /// Why a key is refused that JPush does not have. Removing a slip would lose what it was written for.
  static func unknown(_ shown: String, right: String?) -> String {
    let advice = right.map { "Use “\($0)”." } ?? "Remove this key."
    return "\(shown.abbreviated(to: 100)) is not supported. \(advice)"
  }

  static func suggestion(for name: String, among known: some Sequence<String>) -> String? {
    Suggestion.closest(to: name, among: known.sorted())
  }

  /// False, empty, or an object of nothing else.
  private static func asksForNothing(_ value: JSONValue) -> Bool {
    switch value {
    case false, 0, "", .null: true
    case .object(let members): members.values.allSatisfy(asksForNothing)
    case .array(let values): values.isEmpty
    default: false
    }
  }

  subscript(name: String) -> JSONValue? { members[name] }

  /// Those of some keys that are there.
  func members(of keys: [String]) -> [String: JSONValue] { members.filter { keys.contains($0.key) } }

  func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  func invalid(_ name: String, _ text: String) -> JPushError {
    JPushError(.invalid, "\(place(name)) \(text)", field: place(name))
  }

  /// Nil if absent or empty.
  func text(_ name: String) throws(JPushError) -> String? {
    guard let value = members[name] else { return nil }
    guard let text = value.string else { throw invalid(name, "must be a string.") }
    return text.isEmpty ? nil : text
  }

  func integer(_ name: String, in range: ClosedRange<Int64>) throws(JPushError) -> Int64? {
    guard let value = members[name] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      let limits = range == Int64.min...Int64.max ? "" : " from \(range.lowerBound) to \(range.upperBound)"
      throw invalid(name, "must be a whole number\(limits).")
    }
    return number
  }

  /// JPush's clients send true, 1 and "true".
  func flag(_ name: String) throws(JPushError) -> Bool? {
    guard let value = members[name] else { return nil }
    switch value {
    case true, 1, "true": return true
    case false, 0, "false": return false
    default: throw invalid(name, "must be true or false.")
    }
  }

  func object(_ name: String) throws(JPushError) -> [String: JSONValue]? {
    guard let value = members[name] else { return nil }
    guard let object = value.object else { throw invalid(name, "must be a JSON object.") }
    return object
  }

  /// A list of texts; empty if absent.
  func texts(_ name: String, atMost limit: Int, check: (String) -> Problem?) throws(JPushError) -> [String] {
    guard let value = members[name] else { return [] }
    guard let array = value.array else { throw invalid(name, "value must be JSON Array format!") }
    guard array.count <= limit else { throw invalid(name, "has \(array.count) values; at most \(limit) are allowed.") }
    var texts: [String] = []
    for element in array {
      guard let text = element.string else { throw invalid(name, "must contain strings only.") }
      if let problem = check(text) {
        throw JPushError(
          .invalid, "Invalid \(name) value “\(text.abbreviated(to: 60))”: \(problem.text)", field: place(name))
      }
      texts.append(text)
    }
    return texts
  }
}
