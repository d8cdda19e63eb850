import Testing

/// An answer of a push service, and what the rules make of it.
struct AnswerRow: Sendable, CustomTestStringConvertible {
  let status: Int
  let body: String
  let reason: String
  /// The first word of the result, such as `final`.
  let kind: String
  var testDescription: String { "\(status) \(reason)" }

  init(_ status: Int, _ body: String, _ reason: String, _ kind: String) {
    (self.status, self.body, self.reason, self.kind) = (status, body, reason, kind)
  }
}
