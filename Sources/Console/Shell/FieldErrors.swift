import Foundation
import HTTPServer
import Model

struct FieldErrors: Error, Sendable {
  private(set) var byField: [String: [String]] = [:]

  init() {}

  init(_ problems: Problems, _ texts: Texts) {
    for problem in problems.all { add(problem.field, texts.onForm(problem)) }
  }

  mutating func add(_ field: String, _ text: String) {
    if byField[field]?.contains(text) != true { byField[field, default: []].append(text) }
  }

  var isEmpty: Bool { byField.isEmpty }

  /// Of the page that shows them.
  var status: Status { isEmpty ? .ok : .unprocessableContent }

  /// Empty if the field has no error.
  subscript(field: String) -> String { byField[field]?.sentences ?? "" }

  /// What belongs to no field of the form: stands above it.
  func others(_ fields: [String]) -> String? {
    let texts = byField.filter { !fields.contains($0.key) }.sorted { $0.key < $1.key }.flatMap(\.value)
    return texts.isEmpty ? nil : texts.sentences
  }
}

extension Texts {
  /// The problem's text beside a form, which calls its choices by their labels instead of the API's words.
  func onForm(_ problem: Problem) -> String {
    guard let choices = problem.arguments["choices"] else { return text(problem) }
    var arguments = problem.arguments
    arguments["choices"] = choices.components(separatedBy: ", ").map(label).joined(separator: ", ")
    return text(Problem(problem.field, code: problem.code, problem.template, arguments))
  }

  private func label(_ choice: String) -> String {
    if let environment = Environment(rawValue: choice) { return environment.word(self).capitalizedFirst }
    if let platform = Platform(rawValue: choice) { return self("platform.\(platform.rawValue)") }
    return ProviderKind(rawValue: choice)?.name ?? choice
  }
}
