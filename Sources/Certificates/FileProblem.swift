public import Push

/// Why a file is refused. Each cause says what to do.
public enum FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// What a file is that is none of ours.
  public enum Found: String, Sendable, Hashable, CaseIterable {
    case unknown
    case text
    case image
    case archive
    case document
    case webPage = "web_page"
    case json
    case serviceAccount = "service_account"
    case publicKey = "public_key"
    case certificateRequest = "certificate_request"
    case certificateBundle = "certificate_bundle"
    case otherPEM = "other_pem"
  }

  /// It has no bytes.
  case empty
  /// It is larger than ``CertificateFile/maximumBytes``.
  case tooLarge(bytes: Int)
  /// It is something else.
  case notACertificateFile(Found)
  /// Its end is missing.
  case truncated
  /// It says what it is, and is not.
  case damaged(detail: String)
  /// It is encrypted, and no password was given.
  case passwordNeeded
  /// It is encrypted with another password.
  case wrongPassword
  /// It is encrypted with what is not known here.
  case unsupportedAlgorithm(String)
  /// Opening it would take minutes, on purpose or not.
  case tooCostly
  /// It holds a key and no certificate, and the key is not one for APNs.
  case noCertificate
  /// Its private key belongs to none of its certificates.
  case keyDoesNotMatch
  /// A key that is not on P-256, the curve of APNs.
  case wrongKeyKind(found: String)
  /// A signed file whose content is no provisioning profile.
  case notAProfile(detail: String)

  /// The same for people: code, sentence with its remedy, and what it is filled with.
  public var problem: Problem {
    switch self {
    case .empty:
      Problem("file", code: "file.empty", "The file is empty. Choose the file again.")
    case .tooLarge(let bytes):
      Problem(
        "file", code: "file.too_large",
        "The file has {bytes} bytes; certificate files have at most {limit}. Choose the .p12, .pem, .cer, .p8 or "
          + ".mobileprovision file itself.",
        ["bytes": "\(bytes)", "limit": "\(CertificateFile.maximumBytes)"])
    case .notACertificateFile(let found): found.problem
    case .truncated:
      Problem(
        "file", code: "file.truncated",
        "The file is cut off: its end is missing. Download or export it again, and copy it in binary form.")
    case .damaged(let detail):
      Problem(
        "file", code: "file.damaged", "The file is damaged ({detail}). Download or export it again.",
        ["detail": detail])
    case .passwordNeeded:
      Problem(
        "password", code: "file.password_needed",
        "The file is encrypted. Enter the password that was chosen when it was exported.")
    case .wrongPassword:
      Problem(
        "password", code: "file.wrong_password",
        "The password does not open the file. Enter the one that was chosen when it was exported; if nobody knows "
          + "it, export the certificate again.")
    case .unsupportedAlgorithm(let name):
      Problem(
        "file", code: "file.unsupported_algorithm",
        "The file is encrypted with {algorithm}, which cannot be read here. Export it again, or convert it: "
          + "openssl pkcs12 -legacy -in old.p12 -nodes -out new.pem",
        ["algorithm": name])
    case .tooCostly:
      Problem(
        "file", code: "file.too_costly",
        "Opening the file would take minutes: it asks for more rounds of key derivation than any known program. "
          + "Export it again with the usual settings.")
    case .noCertificate:
      Problem(
        "file", code: "file.no_certificate",
        "The file holds a private key and no certificate. In Keychain Access, select the certificate (with its key "
          + "under it), not the key alone, and export that.")
    case .keyDoesNotMatch:
      Problem(
        "file", code: "file.key_does_not_match",
        "The private key in the file belongs to none of its certificates. Export the certificate together with the "
          + "key with which it was requested.")
    case .wrongKeyKind(let found):
      Problem(
        "file", code: "file.wrong_key_kind",
        "The private key is of the kind {found}; APNs keys are on the elliptic curve P-256. Use the AuthKey_….p8 "
          + "file that was downloaded from Apple's developer site.",
        ["found": found])
    case .notAProfile(let detail):
      Problem(
        "file", code: "file.not_a_profile",
        "The file is signed, but what was signed is no provisioning profile ({detail}). Download the profile again.",
        ["detail": detail])
    }
  }

  /// The English sentence.
  public var description: String { problem.text }
}
