public import Push

extension FileProblem {
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
        [
          "bytes": bytes.map { "\($0)" } ?? "more than \(CertificateFile.maximumBytes)",
          "limit": "\(CertificateFile.maximumBytes)",
        ])
    case .notACertificateFile(let found): found.problem
    case .truncated:
      Problem(
        "file", code: "file.truncated",
        "The file is cut off: its end is missing. Download or export it again, and copy it in binary form.")
    case .damaged(let detail):
      Problem(
        "file", code: "file.damaged", "The file is damaged ({detail}). Download or export it again.",
        ["detail": detail])
    case .badBase64:
      Problem(
        "file", code: "file.bad_base64",
        "Between its lines -----BEGIN …----- and -----END …----- stands what is no Base64: some character was changed "
          + "or lost. Download or export it again, and copy it as a file.")
    case .passwordNeeded, .wrongPassword, .passwordHasBlanks: passwordProblem
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
    case .tooManyParts(let count):
      Problem(
        "file", code: "file.too_many_parts",
        "The file holds {count} certificates and keys, so it is a collection. Export the one that is meant alone.",
        ["count": "\(count)"])
    case .noCertificate, .keyDoesNotMatch, .severalCertificates, .noSuchCertificate, .wrongKeyKind, .unsoundKey:
      contentProblem
    case .notAProfile(let detail):
      Problem(
        "file", code: "file.not_a_profile",
        "The file is signed, but what was signed is no provisioning profile ({detail}). Download the profile again.",
        ["detail": detail])
    case .jsonDamaged(let detail):
      Problem(
        "file", code: "file.json_damaged",
        "This is the file of a Google service account, and it is damaged or cut off ({detail}). Download a new key: "
          + "Firebase console, Project settings, Service accounts, Generate new private key.", ["detail": detail])
    case .serviceAccount(let problem): problem.problem
    case .keyPair(let field):
      Problem(
        "file", code: "file.jpush_keys.\(field)",
        "These are keys of JPush, but the {field} is missing or has not 24 hexadecimal digits. Both stand in JPush’s "
          + "console under the app’s settings; type them into the form, or write both into the file.",
        ["field": field == "app_key" ? "app key (AppKey)" : "master secret (Master Secret)"])
    }
  }

  private var passwordProblem: Problem {
    switch self {
    case .wrongPassword:
      Problem(
        "password", code: "file.wrong_password",
        "The password does not open the file. Enter the one that was chosen when it was exported; if nobody knows "
          + "it, export the certificate again.")
    case .passwordHasBlanks:
      Problem(
        "password", code: "file.password_has_blanks",
        "The password is right but for the blanks or the line break at its ends. Enter it without them.")
    default:
      Problem(
        "password", code: "file.password_needed",
        "The file is encrypted, and not with an empty password. Enter the password that was chosen when it was "
          + "exported.")
    }
  }

  private var contentProblem: Problem {
    switch self {
    case .severalCertificates(let names):
      Problem(
        "take", code: "file.several_certificates",
        "The file holds several push certificates for different topics: {names}. Choose the file again and give the "
          + "serial number of the one that is meant; keep the others the same way.",
        ["names": names.joined(separator: "; ")])
    case .noSuchCertificate(let names):
      Problem(
        "take", code: "file.no_such_certificate",
        "Exactly one certificate must begin with that serial number or fingerprint. The file holds: {names}.",
        ["names": names.joined(separator: "; ")])
    case .keyDoesNotMatch:
      Problem(
        "file", code: "file.key_does_not_match",
        "The private key in the file belongs to none of its certificates. Export the certificate together with the "
          + "key with which it was requested: on that Mac, in Keychain Access under “My Certificates”.")
    case .unsoundKey:
      Problem(
        "file", code: "file.unsound_key",
        "The private key is damaged: its number cannot be a key, or its public half belongs to another key. Use the "
          + "file as it was downloaded or exported; if that is lost, create a new key.")
    case .wrongKeyKind(let found):
      Problem(
        "file", code: "file.wrong_key_kind",
        "The private key is of the kind {found}; APNs keys are on the elliptic curve P-256. Use the AuthKey_….p8 "
          + "file that was downloaded from Apple's developer site.",
        ["found": found])
    default:
      Problem(
        "file", code: "file.no_certificate",
        "The file holds a private key and no certificate. In Keychain Access, select the certificate (with its key "
          + "under it), not the key alone, and export that; or join them: cat certificate.pem key.pem > both.pem")
    }
  }
}

extension ServiceAccountProblem {
  fileprivate var problem: Problem {
    let remedy =
      " Download a new key: Firebase console, Project settings, Service accounts, Generate new private key."
    return switch self {
    case .missing(let name):
      Problem(
        "file", code: "file.service_account.missing",
        "This is the file of a Google service account without a usable “{name}”." + remedy, ["name": name])
    case .tokenURI:
      Problem(
        "file", code: "file.service_account.token_uri",
        "The “token_uri” of this service account is no https address; Google’s is {address}." + remedy,
        ["address": ServiceAccount.googleTokenURI])
    case .keyCut:
      Problem(
        "file", code: "file.service_account.key_cut",
        "The private key of this service account is cut off." + remedy)
    case .keyUnreadable:
      Problem(
        "file", code: "file.service_account.key_unreadable",
        "The “private_key” of this service account is none, as where somebody took it out." + remedy)
    case .keyKind(let kind):
      Problem(
        "file", code: "file.service_account.key_kind",
        "The private key of this service account is of the kind {found}; Google’s are RSA of 2048 bits." + remedy,
        ["found": kind])
    case .keyDoesNotSign:
      Problem(
        "file", code: "file.service_account.key_does_not_sign",
        "What the private key of this service account signs is wrong: the key is damaged." + remedy)
    }
  }
}
