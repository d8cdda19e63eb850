import Calendar
package import Foundation
package import JSON
import Text

extension JSONFields {
  /// A text without control characters (`lines`: but for line ends and tabs). An empty text counts as absent, as an
  /// empty field of a form does.
  ///
  /// - Parameter check: says what else is wrong with it.
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

  /// True or false.
  package func bool(_ name: String) -> Bool? {
    guard let value = value(name) else { return nil }
    return value.bool ?? mismatch(name, "boolean", value)
  }

  /// One of a closed list of words. An empty text is none of them.
  package func choice<T: RawRepresentable<String> & CaseIterable>(
    _ name: String, required: Bool = false, as type: T.Type = T.self
  ) -> T? {
    // Put together only for somebody who reads it.
    var choices: String { T.allCases.map(\.rawValue).joined(separator: ", ") }
    guard let value = value(name), !(required && value == "") else {
      if required { report(name, Problem("", FieldMessage.choose, ["choices": choices])) }
      return nil
    }
    guard let word = value.string else { return mismatch(name, "string", value) }
    guard let choice = T(rawValue: word) else {
      let arguments = ["choices": choices, "value": word.abbreviated(to: 40)]
      report(name, Problem("", FieldMessage.expectedChoice, arguments))
      return nil
    }
    return choice
  }

  /// A time (RFC 3339).
  package func time(_ name: String, required: Bool = false) -> Date? {
    guard let text = string(name, required: required, limit: .bytes(64)) else { return nil }
    if let date = Timestamp.parse(text) { return date }
    report(name, Problem("", FieldMessage.notATime, ["value": text]))
    return nil
  }

  /// An address of the web.
  package func address(_ name: String, limit: TextLimit = .bytes(2048)) -> String? {
    string(name, limit: limit) { text in
      let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
      let host = scheme.map { text.dropFirst($0.count).prefix { !"/?#".contains($0) } } ?? ""
      return host.isEmpty || text.contains(" ")
        ? Problem("", FieldMessage.notAnAddress, ["value": text.abbreviated(to: 60)]) : nil
    }
  }

  /// A list of texts, each only once; `check` says what is wrong with one.
  package func strings(
    _ name: String, atMost limit: Int, check: (String) -> Problem? = { _ in nil }
  ) -> [String] {
    elements(name, atMost: limit) { text throws(Problem) in
      if text.isEmpty { throw Problem("", FieldMessage.empty) }
      if let problem = check(text) { throw problem }
      return text
    }
  }

  /// A list of texts, each understood by `parse`, each value only once.
  package func elements<T: Hashable>(
    _ name: String, atMost limit: Int, _ parse: (String) throws(Problem) -> T
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
        guard let text = element.string else {
          throw Problem("", FieldMessage.expected, ["expected": "string", "found": element.typeName])
        }
        let parsed = try parse(text)
        return seen.insert(parsed).inserted ? parsed : nil
      } catch {
        report(name, error.under("[\(index)]"))
        return nil
      }
    }
  }

  /// An object whose members are not ours to judge.
  package func members(_ name: String) -> [String: JSONValue]? {
    guard let value = value(name) else { return nil }
    return value.object ?? mismatch(name, "object", value)
  }

  /// Takes note of a field that will mean something one day, and refuses anything but an empty one.
  package func notYet(_ name: String) {
    guard let value = value(name), ![[], [:], "", false].contains(value) else { return }
    report(name, Problem("", FieldMessage.notYet))
  }

  private static func controlCharacter(in text: String, lines: Bool) -> Problem? {
    // Most texts of an import by the million are plain.
    if text.isPlainASCII { return nil }
    for (index, scalar) in text.unicodeScalars.enumerated()
    where scalar.properties.generalCategory == .control && !(lines && "\n\r\t".unicodeScalars.contains(scalar)) {
      let arguments = ["character": scalar.codePoint, "position": String(index + 1)]
      return Problem("", FieldMessage.controlCharacter, arguments)
    }
    return nil
  }
}
