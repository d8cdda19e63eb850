import Model

/// A word of the API, such as `active`, which a language other than English says as pages do.
struct PageWord: Sendable, CustomStringConvertible {
  let description: String
  /// The key in `Templates/locales`.
  let key: String

  /// - Parameter prefix: of the keys of words of its kind, such as `state.`.
  init(_ word: String, _ prefix: String) { (description, key) = (word, prefix + word) }

  init(_ environment: Environment) { self.init(environment.rawValue, "words.") }
}

/// What to do about a reason.
struct Remedy: Sendable, CustomStringConvertible {
  let reason: Reason
  var description: String { reason.remedy }

  init(_ reason: Reason) { self.reason = reason }
}

/// A sentence of a room below, or one that it stored: written in English alone.
struct EnglishSentence: Sendable, CustomStringConvertible {
  let description: String

  init(_ text: String) { description = text }
}
