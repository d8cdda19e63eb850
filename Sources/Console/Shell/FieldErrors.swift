import JSON
import Mustache
import Model

struct FieldErrors: Error, Sendable {
  private(set) var byField: [String: [String]] = [:]

  init() {}

  init(_ problems: Problems, _ texts: Texts) {
    for problem in problems.all { add(problem.field, texts.text(problem)) }
  }

  mutating func add(_ field: String, _ text: String) {
    if byField[field]?.contains(text) != true { byField[field, default: []].append(text) }
  }

  var isEmpty: Bool { byField.isEmpty }

  /// Empty if the field has no error.
  subscript(field: String) -> String { byField[field]?.joined(separator: " ") ?? "" }

  func value(_ fields: [String]) -> Value {
    .object(Dictionary(fields.map { ($0, Value.string(self[$0])) }) { $1 })
  }

  /// Errors of no field of the form, shown above it.
  func others(_ fields: [String]) -> String? {
    let texts = byField.filter { !fields.contains($0.key) }.sorted { $0.key < $1.key }.flatMap(\.value)
    return texts.isEmpty ? nil : texts.joined(separator: " ")
  }
}

extension Form {
  /// The fields as submitted.
  func value(_ fields: [String]) -> Value {
    .object(Dictionary(fields.map { ($0, Value.string(raw($0))) }) { $1 })
  }
}
