import Testing

/// What a test of the structure looks at.
enum Rule {
  case folder, fileName, role, wording, templateColumns, codeLines
}

/// A place that does not keep a rule: a folder's path, or the name of a file, wherever it lies.
struct Violation: Hashable, CustomStringConvertible {
  let place: String
  let what: String
  var description: String { "\(place): \(what)" }
}

/// The one list of what does not keep the rules yet.
///
/// An entry whose place keeps its rule by now fails the tests: remove it. No entry is added for new code.
enum KnownExceptions {
  static let all: [(rule: Rule, place: String)] = [
    // Holds two numbers, which the tests of every room use.
    (.fileName, "Dates.swift")
  ]

  /// Expects no violations but those that are listed, and no listed place without one.
  static func expectNone(
    but rule: Rule, _ violations: some Sequence<Violation>, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let entries = all.filter { $0.rule == rule }
    func covers(_ place: String, _ violation: Violation) -> Bool {
      place.hasSuffix("/") ? violation.place.hasPrefix(place) : violation.place == place
    }
    let new = violations.filter { violation in !entries.contains { covers($0.place, violation) } }
    #expect(new.isEmpty, "\(new.map(\.description).sorted().joined(separator: "\n"))", sourceLocation: sourceLocation)
    for entry in entries where !violations.contains(where: { covers(entry.place, $0) }) {
      Issue.record("\(entry.place) keeps the rule now: remove its entry", sourceLocation: sourceLocation)
    }
  }
}
