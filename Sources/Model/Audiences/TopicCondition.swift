/// Which topics a device must be subscribed to, as `'A' in topics && ('B' in topics || 'C' in topics)`.
///
/// Parentheses come first, then operators from left to right without precedence (docs/protocols.md §3.3).
package indirect enum TopicCondition: Sendable, Hashable {
  case topic(String)
  case not(TopicCondition)
  case both(TopicCondition, TopicCondition)
  case either(TopicCondition, TopicCondition)

  /// The most topics of a condition.
  package static let limit = 5
  /// Characters of a condition, so that parentheses cannot nest without end.
  private static let lengthLimit = 10_000

  /// - Returns: nil for a text that is no condition, or that names too many topics.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.lengthLimit, let tokens = Self.tokens(text) else { return nil }
    var reader = Reader(tokens: tokens[...])
    guard let condition = reader.expression(), reader.tokens.isEmpty, condition.count <= Self.limit else { return nil }
    self = condition
  }

  /// Whether a device with these topics gets the message.
  package func holds(_ topics: some Collection<String>) -> Bool {
    switch self {
    case .topic(let name): topics.contains(name)
    case .not(let condition): !condition.holds(topics)
    case .both(let one, let other): one.holds(topics) && other.holds(topics)
    case .either(let one, let other): one.holds(topics) || other.holds(topics)
    }
  }

  /// Whether it can be the name of a topic: `[a-zA-Z0-9-_.~%]{1,900}`.
  package static func isTopic(_ name: some StringProtocol) -> Bool {
    (1...900).contains(name.utf8.count)
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.~%".contains($0)) }
  }

  private var count: Int {
    switch self {
    case .topic: 1
    case .not(let condition): condition.count
    case .both(let one, let other), .either(let one, let other): one.count + other.count
    }
  }

  private enum Token: Equatable {
    case name(String)
    case word(String)
  }

  private static func tokens(_ text: String) -> [Token]? {
    var tokens: [Token] = []
    var rest = text[...]
    while let first = rest.first {
      if first.isWhitespace {
        rest.removeFirst()
      } else if first == "'" || first == "\"" {
        let name = rest.dropFirst().prefix { $0 != first }
        guard Self.isTopic(name), name.endIndex < rest.endIndex else { return nil }
        tokens.append(.name(String(name)))
        rest = rest[rest.index(after: name.endIndex)...]
      } else if let word = ["&&", "||", "!", "(", ")"].first(where: rest.hasPrefix) {
        tokens.append(.word(word))
        rest = rest.dropFirst(word.count)
      } else {
        let word = rest.prefix { $0.isLetter }
        guard word == "in" || word == "topics" else { return nil }
        tokens.append(.word(String(word)))
        rest = rest.dropFirst(word.count)
      }
    }
    return tokens
  }

  private struct Reader {
    var tokens: ArraySlice<Token>
    private var depth = 0

    init(tokens: ArraySlice<Token>) { self.tokens = tokens }

    mutating func expression() -> TopicCondition? {
      guard var left = operand() else { return nil }
      while let operation = tokens.first, operation == .word("&&") || operation == .word("||") {
        tokens.removeFirst()
        guard let right = operand() else { return nil }
        left = operation == .word("&&") ? .both(left, right) : .either(left, right)
      }
      return left
    }

    private mutating func operand() -> TopicCondition? {
      depth += 1
      defer { depth -= 1 }
      guard depth <= 100, let first = tokens.popFirst() else { return nil }
      switch first {
      case .name(let name):
        guard tokens.popFirst() == .word("in"), tokens.popFirst() == .word("topics") else { return nil }
        return .topic(name)
      case .word("!"): return operand().map { .not($0) }
      case .word("("):
        guard let inner = expression(), tokens.popFirst() == .word(")") else { return nil }
        return inner
      case .word: return nil
      }
    }
  }
}
