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
  subscript(field: String) -> String { byField[field]?.sentences ?? "" }

  /// What belongs to no field of the form: stands above it.
  func others(_ fields: [String]) -> String? {
    let texts = byField.filter { !fields.contains($0.key) }.sorted { $0.key < $1.key }.flatMap(\.value)
    return texts.isEmpty ? nil : texts.sentences
  }
}
