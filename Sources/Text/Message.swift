/// A text for people that can be said in another language.
///
/// Written as a string with interpolations: `"App \(id) not found."` is the English sentence, its key `App {1} not found.`
/// is constant, and a translation puts the values where its language wants them.
package struct Message: Sendable {
  /// The English text with `{1}`, `{2}` … for what varies.
  package let key: String
  private let values: [any Sendable]
  /// What English says of one thing, if ``key`` is a plural. Other languages have their forms in their tables.
  private let one: (any Sendable)?

  /// A text with a number of things.
  ///
  /// - Parameters:
  ///   - one: for exactly one.
  ///   - other: for any other number; its key is the one to translate.
  package init(count: Int, one: Message, other: Message) {
    (key, values) = (other.key, other.values)
    self.one = count == 1 ? one : nil
  }

  private init(key: String, values: [any Sendable]) { (self.key, self.values, one) = (key, values, nil) }

  /// The text in a language; nil: in English.
  package func text(in translation: (any Translation)?) -> String {
    if let sentence = translation?.sentence(key) { return filling(sentence, in: translation) }
    // English, or only places, which have their own words.
    return (one as? Message)?.text(in: translation) ?? filling(key, in: translation)
  }

  /// One pass: what looks like a place in a value is not replaced.
  private func filling(_ sentence: String, in translation: (any Translation)?) -> String {
    guard !values.isEmpty else { return sentence }
    var filled = ""
    var rest = sentence[...]
    while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")) {
      filled += rest[..<open]
      rest = rest[open...]
      guard let close = rest.utf8.firstIndex(of: UInt8(ascii: "}")) else { break }
      let place = rest[rest.index(after: open)..<close]
      if let number = Int(place), values.indices.contains(number - 1) {
        let (value, after) = (values[number - 1], rest[rest.index(after: close)...].first)
        var text = Self.text(of: value, in: translation)
        // A sentence within a sentence does not end before it. Names keep what they end with.
        let stop: Character? = after == "。" || after == "；" ? "。" : after == "." || after == ";" ? "." : nil
        if !(value is String), stop != nil, text.last == stop { text.removeLast() }
        filled += text
      } else {
        filled += rest[open...close]
      }
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }

  private static func text(of value: any Sendable, in translation: (any Translation)?) -> String {
    if let text = value as? String { return text }
    if let message = value as? Message { return message.text(in: translation) }
    return translation?.text(of: value) ?? "\(value)"
  }
}

extension Message: CustomStringConvertible, Hashable {
  /// In English.
  package var description: String { text(in: nil) }

  package static func == (one: Message, other: Message) -> Bool { one.description == other.description }
  package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension Message: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) { self.init(key: text, values: []) }
  package init(stringInterpolation text: StringInterpolation) { self.init(key: text.key, values: text.values) }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var key = ""
    fileprivate var values: [any Sendable] = []

    package init(literalCapacity: Int, interpolationCount: Int) { key.reserveCapacity(literalCapacity) }
    package mutating func appendLiteral(_ literal: String) { key += literal }
    package mutating func appendInterpolation(_ value: some CustomStringConvertible & Sendable) { append(value) }
    package mutating func appendInterpolation(_ error: any Error) { append(error) }

    private mutating func append(_ value: any Sendable) {
      values.append(value)
      key += "{\(values.count)}"
    }
  }
}

/// A language other than English.
package protocol Translation: Sendable {
  /// The sentence for an English one, with the same places; nil: there is none.
  func sentence(_ key: String) -> String?
  /// A value that has words of its own, such as an error; nil: it stands as it is.
  func text(of value: any Sendable) -> String?
}
