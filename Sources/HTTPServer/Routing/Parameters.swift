/// The values of a route's variable segments.
public struct Parameters: Sendable, ExpressibleByDictionaryLiteral {
  private var pairs: [(name: String, value: String)] = []
  /// The segments that `*rest` took.
  public internal(set) var rest: [String] = []

  /// None.
  public init() {}

  /// The given values, for tests of handlers.
  public init(dictionaryLiteral elements: (String, String)...) {
    pairs = elements.map { (name: $0.0, value: $0.1) }
  }

  /// The value of `:name`, decoded; for `*name` its segments with slashes between.
  public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

  mutating func set(_ name: String, _ value: String) { pairs.append((name, value)) }
}
