/// The values of a route's variable segments.
package struct Parameters: Sendable, ExpressibleByDictionaryLiteral {
  private var pairs: [(name: String, value: String)] = []
  /// The segments that `*rest` took.
  package internal(set) var rest: [String] = []

  /// None.
  package init() {}

  /// The given values, for tests of handlers.
  package init(dictionaryLiteral elements: (String, String)...) {
    pairs = elements.map { (name: $0.0, value: $0.1) }
  }

  /// The value of `:name`, decoded; for `*name` its segments with slashes between.
  package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

  mutating func set(_ name: String, _ value: String) { pairs.append((name, value)) }
}
