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
    case .notSigned: "This is not a valid signed message (CMS)."
    case .truncated: "The message is truncated."
    case .noContent: "The message contains a signature but not the signed content."
    }
  }
}
