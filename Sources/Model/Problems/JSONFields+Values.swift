import Calendar
package import Foundation
package import JSON
import Text

extension JSONFields {
  /// A text without control characters (`lines`: except line ends and tabs). An empty text counts as absent, like an
  /// empty field of a form.
  ///
  /// - Parameter check: returns further problems.
  package func string(
    _ name: String, required: Bool = false, limit: TextLimit = .characters(255), lines: Bool = false,
    check: (String) -> Problem? = { _ in nil }
  ) -> String? {
    guard let value = present(name, required: required) else { return nil }
    guard let text = value.string else { return mismatch(name, "string", value) }
    if text.isEmpty {
      if required { report(name, Problem("", FieldMessage.required)) }
      return nil
    }
    if let problem = limit.problem(with: text) ?? Self.controlCharacter(in: text, lines: lines) ?? check(text) {
      report(name, problem)
      return nil
    }
    return text
  }
  package func integer(
    _ name: String, required: Bool = false, in range: ClosedRange<Int> = 0...Int(Int32.max)
  ) -> Int? {
    guard let value = present(name, required: required) else { return nil }
    guard let number = value.integer else { return mismatch(name, "integer", value) }
    guard let number = Int(exactly: number), range.contains(number) else {
      let bounds = ["low": String(range.lowerBound), "high": String(range.upperBound), "value": String(number)]
      report(name, Problem("", FieldMessage.outOfRange, bounds))
      return nil
    }
    return number
  }

  package func bool(_ name: String) -> Bool? {
    guard let value = value(name) else { return nil }
    return value.bool ?? mismatch(name, "boolean", value)
  }

  /// One of a closed list of words; an empty text is invalid.
  package func choice<T: RawRepresentable<String> & CaseIterable>(
    _ name: String, required: Bool = false, as type: T.Type = T.self
  ) -> T? {
    // Built only for error messages.
    var choices: String { Self.words(of: T.self) }
    guard let value = value(name), !(required && value == "") else {
      if required { report(name, Problem("", FieldMessage.choose, ["choices": choices])) }
      return nil
    }
    guard let word = value.string else { return mismatch(name, "string", value) }
    guard let choice = T(rawValue: word) else {
      report(name, Self.unknown(word, among: choices))
      return nil
    }
    return choice
  }

  /// A list of such words, without duplicates.
  package func choices<T: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, atMost limit: Int, as type: T.Type = T.self
  ) -> [T] {
    elements(name, atMost: limit) { word throws(Problem) in
      if let choice = T(rawValue: word) { return choice }
      throw Self.unknown(word, among: Self.words(of: T.self))
    }
  }

  private static func words<T: RawRepresentable<String> & CaseIterable>(of type: T.Type) -> String {
    // Not by a key path, which is made anew for a type that the compiler does not know: imports reject many devices.
    type.allCases.map { $0.rawValue }.joined(separator: ", ")
  }

  private static func unknown(_ word: String, among choices: String) -> Problem {
    Problem("", FieldMessage.expectedChoice, ["choices": choices, "value": word.abbreviated(to: 40)])
  }

  package func time(_ name: String, required: Bool = false) -> Date? {
    guard let value = present(name, required: required) else { return nil }
    guard let text = value.string else { return mismatch(name, "string", value) }
    if let date = Timestamp.parse(text) { return date }
    // An empty text is no time either, although other fields take it as left out.
    let problem =
      text.isEmpty && required
      ? Problem("", FieldMessage.required)
      : Problem("", FieldMessage.notATime, ["value": text.abbreviated(to: 64)])
    report(name, problem)
    return nil
  }

  /// A web address.
  package func address(_ name: String, limit: TextLimit = .bytes(2048)) -> String? {
    string(name, limit: limit) { text in
      let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
      let host = scheme.map { text.dropFirst($0.count).prefix { !"/?#".contains($0) } } ?? ""
      return host.isEmpty || text.contains(" ")
        ? Problem("", FieldMessage.notAnAddress, ["value": text.abbreviated(to: 60)]) : nil
    }
  }

  /// A list of texts without duplicates; `check` returns a problem with one.
  package func strings(_ name: String, atMost limit: Int, check: (String) -> Problem? = { _ in nil }) -> [String] {
    elements(name, atMost: limit) { text throws(Problem) in
      if text.isEmpty { throw Problem("", FieldMessage.empty) }
      if let problem = check(text) { throw problem }
      return text
    }
  }

  /// A list of texts converted by `parse`, without duplicate values.
  package func elements<T: Hashable>(_ name: String, atMost limit: Int, _ parse: (String) throws(Problem) -> T) -> [T] {
    values(name, atMost: limit) { element throws(Problem) in
      guard let text = element.string else {
        throw Problem("", FieldMessage.expected, ["expected": "string", "found": element.typeName])
      }
      return try parse(text)
    }
  }

  /// A list of at least one row ID, without duplicates.
  package func ids(_ name: String, atMost limit: Int) -> [Int64] {
    if present(name, required: true)?.array?.isEmpty == true { report(name, Problem("", FieldMessage.emptyRequired)) }
    return values(name, atMost: limit) { element throws(Problem) in
      guard let id = element.integer, id > 0 else {
        throw Problem("", FieldMessage.expected, ["expected": "positive integer", "found": element.typeName])
      }
      return id
    }
  }

  private func values<T: Hashable>(
    _ name: String, atMost limit: Int, _ parse: (JSONValue) throws(Problem) -> T
  ) -> [T] {
    guard let value = value(name) else { return [] }
    guard let elements = value.array else { return mismatch(name, "array", value) ?? [] }
    if elements.count > limit {
      report(name, Problem("", FieldMessage.tooMany, ["limit": String(limit), "count": String(elements.count)]))
      return []
    }
    var seen: Set<T> = []
    return elements.enumerated().compactMap { index, element in
      do throws(Problem) {
        let parsed = try parse(element)
        return seen.insert(parsed).inserted ? parsed : nil
      } catch {
        report(name, error.under("[\(index)]"))
        return nil
      }
    }
  }

  /// An object whose members are not checked.
  package func members(_ name: String) -> [String: JSONValue]? {
    guard let value = value(name) else { return nil }
    return value.object ?? mismatch(name, "object", value)
  }

  private static func controlCharacter(in text: String, lines: Bool) -> Problem? {
    // Fast path for imports with millions of plain texts.
    if text.isPlainASCII { return nil }
    for (index, scalar) in text.unicodeScalars.enumerated()
    where scalar.properties.generalCategory == .control && !(lines && "\n\r\t".unicodeScalars.contains(scalar)) {
      let arguments = ["character": scalar.codePoint, "position": String(index + 1)]
      return Problem("", FieldMessage.controlCharacter, arguments)
    }
    return nil
  }
}
