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
  static let lengthLimit = 10_000
  /// Characters of a topic's name.
  package static let nameLimit = 900

  /// - Returns: nil for a text that is no condition, or that names too many topics.
  package init?(_ text: String) {
    guard let condition = Self.parsed(text), condition.topics.count <= Self.limit else { return nil }
    self = condition
  }

  /// With any number of topics.
  private static func parsed(_ text: String) -> TopicCondition? {
    guard text.utf8.count <= lengthLimit, let tokens = tokens(text) else { return nil }
    var reader = Reader(tokens: tokens[...])
    guard let condition = reader.expression(), reader.tokens.isEmpty else { return nil }
    return condition
  }

  /// Why FCM would refuse a condition; nil if it would not.
  package static func problem(with text: String) -> Problem? {
    guard let condition = parsed(text) else {
      let plain = text.replacing("/topics/", with: "")
      let isPrefixed = plain != text && parsed(plain) != nil
      return isPrefixed
        ? Problem("", TopicMessage.prefixed, ["condition": plain.count <= 200 ? plain : "'news' in topics"])
        : Problem("", TopicMessage.badCondition)
    }
    guard condition.topics.count > limit else { return nil }
    return Problem("", TopicMessage.tooMany, ["count": String(condition.topics.count), "limit": String(limit)])
  }

  /// Why a text cannot be the name of a topic; nil if it can.
  package static func problem(withTopic name: String) -> Problem? {
    isTopic(name) ? nil : Problem("", TopicMessage.badName)
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
    (1...nameLimit).contains(name.utf8.count)
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.~%".contains($0)) }
  }

  /// The names, in the order of the text.
  package var topics: [String] {
    switch self {
    case .topic(let name): [name]
    case .not(let condition): condition.topics
    case .both(let one, let other), .either(let one, let other): one.topics + other.topics
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

/// Messages about FCM topics and pushes to them.
package enum TopicMessage: String, MessageSet {
  case badName = "topic.bad_name"
  case badCondition = "topic.bad_condition"
  case prefixed = "topic.prefixed"
  case tooMany = "topic.too_many"
  case alone = "topic.alone"
  case platforms = "topic.platforms"
  case badge = "topic.badge"

  package var english: String {
    switch self {
    case .badName:
      """
      The name of a topic has 1 to 900 letters (a–z, A–Z), digits and characters of - _ . ~ %. Leave out /topics/.
      """
    case .badCondition: "This is not a condition. Write it like 'news' in topics && ('en' in topics || 'de' in topics)."
    case .prefixed: "A condition names topics without /topics/. Write: {condition}"
    case .tooMany: "This condition names {count} topics, but FCM allows at most {limit}."
    case .alone: "A push goes to a topic, to a condition, or to devices, not to several of them."
    case .platforms: "Only FCM knows who subscribed to a topic. Choose Android alone."
    case .badge: "FCM gets one message for all subscribers, so no badge is counted for each. Enter a number."
    }
  }
}
