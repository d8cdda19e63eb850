/// Why a sealed secret stays closed.
package enum SealingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It was sealed with another key, belongs elsewhere, or was changed: these cannot be told apart.
  case doesNotOpen
  /// It is too short to be a sealed secret.
  case damaged
  /// It was sealed by a newer version.
  case unknownVersion(UInt8)

  /// In words.
  package var description: String {
    switch self {
    case .doesNotOpen:
      "The secret cannot be decrypted: it was sealed with another key file, belongs to another record, or was changed. "
        + "Restore the key file that belongs to this database."
    case .damaged: "The sealed secret is damaged: it is too short."
    case .unknownVersion(let version):
      "The secret was sealed in format version \(version), which this version does not support. Use a newer version."
    }
  }
}
