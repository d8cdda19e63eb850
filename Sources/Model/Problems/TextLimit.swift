/// How long a text may be.
package enum TextLimit: Sendable, Hashable {
  /// As a person counts.
  case characters(Int)
  /// In UTF-8.
  case bytes(Int)

  func problem(with text: String) -> Problem? {
    switch self {
    // No text has more characters than bytes, and bytes are counted already.
    case .characters(let limit) where text.utf8.count > limit && text.count > limit:
      Problem("", FieldMessage.tooManyCharacters, ["limit": String(limit), "count": String(text.count)])
    case .bytes(let limit) where text.utf8.count > limit:
      Problem("", FieldMessage.tooManyBytes, ["limit": String(limit), "count": String(text.utf8.count)])
    default: nil
    }
  }
}
