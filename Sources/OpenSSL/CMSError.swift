/// Why something is not read as a signed message.
package enum CMSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is something else, or damaged.
  case notSigned
  /// Its end is missing.
  case truncated
  /// The signature came without what was signed.
  case noContent

  /// In words.
  package var description: String {
    switch self {
    case .notSigned: "This is not a valid signed message (CMS)."
    case .truncated: "The message is truncated."
    case .noContent: "The message contains a signature but not the signed content."
    }
  }
}
