package import Model
package import Store

/// Why a sealed private key does not open, and what to do.
package enum ClosedReason: Sendable, Hashable {
  /// The key file is missing.
  case missing
  /// The key file belongs to another installation.
  case other
  /// The key file is right, but the row was changed, or sealed with an earlier key that was lost.
  case damaged

  /// Derives the reason from the state of the installation's key.
  package init(_ state: Sealing.State) {
    self =
      switch state {
      case .missing: .missing
      case .other: .other
      case .fits: .damaged
      }
  }

  /// The code and the message.
  package var problem: Problem {
    switch self {
    case .missing:
      Problem(
        "", code: "sealed.missing",
        "Its private key cannot be decrypted because the key file (secret.key) is missing. Restore the file and restart. If "
          + "it is lost, start over with a new key and upload this file again.")
    case .other:
      Problem(
        "", code: "sealed.other",
        "Its private key cannot be decrypted because the key file (secret.key) does not match this database. Restore the "
          + "right file and restart. If it is lost, start over with this one and upload this file again.")
    case .damaged:
      Problem(
        "", code: "sealed.damaged",
        "Its private key cannot be decrypted with this installation's key. It was encrypted with an earlier key, or the "
          + "row is damaged. Upload this file again.")
    }
  }
}
