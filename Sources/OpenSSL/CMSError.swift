/// Why something is not read as a signed message.
public enum CMSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is something else, or damaged.
  case notSigned
  /// Its end is missing.
  case truncated
  /// The signature came without what was signed.
  case noContent

  /// In words.
  public var description: String {
    switch self {
    case .notSigned: "This is no signed message (CMS), or a damaged one."
    case .truncated: "The message is cut off: its end is missing."
    case .noContent: "The message holds a signature, and not what was signed."
    }
  }
}
