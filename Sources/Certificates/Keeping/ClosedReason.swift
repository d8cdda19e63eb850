package import Model
package import Store

/// Why a sealed private key does not open, and what to do.
package enum ClosedReason: Sendable, Hashable {
  /// The key file is missing.
  case missing
  /// The key file is there, but its content is not a key.
  case malformed
  /// The key file is there, but cannot be read, or may not be used because other users can read it.
  case unreadable
  /// The key file belongs to another installation.
  case other
  /// The key file is right, but the row was changed, or sealed with an earlier key that was lost.
  case damaged

  /// Derives the reason from the state of the installation's key, and from its holder.
  package init(_ state: Sealing.State, _ sealer: (any Sealer)? = nil) {
    self =
      switch state {
      case .missing:
        switch (sealer as? KeyRing)?.trouble {
        case nil: .missing
        case .malformed: .malformed
        case .unreadable: .unreadable
        }
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
    case .malformed:
      Problem(
        "", code: "sealed.malformed",
        "Its private key cannot be decrypted because the key file (secret.key) is malformed: it must contain 32 bytes in "
          + "Base64. Restore the file. If it is lost, start over with a new key and upload this file again.")
    case .unreadable:
      Problem(
        "", code: "sealed.unreadable",
        "Its private key cannot be decrypted because the key file (secret.key) cannot be read, or other users can read it. "
          + "Run signalbox doctor, which says what to change.")
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
