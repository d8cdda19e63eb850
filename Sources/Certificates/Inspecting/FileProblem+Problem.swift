package import Model
import Providers

extension FileProblem {
  package var problem: Problem {
    switch self {
    case .empty: Problem("file", code: "file.empty", "The file is empty. Export or download it again.")
    case .tooLarge(let bytes):
      Problem(
        "file", code: "file.too_large",
        "The file has {bytes} bytes, but the limit is {limit}. Choose the .p12, .pem, .cer, .p8, or "
          + ".mobileprovision file itself.",
        [
          "bytes": bytes.map { "\($0)" } ?? "more than \(CertificateFile.maximumBytes)",
          "limit": "\(CertificateFile.maximumBytes)",
        ])
    case .notACertificateFile(let found): found.problem
    case .truncated:
      Problem(
        "file", code: "file.truncated",
        "The file is truncated. Download or export it again and copy it as a binary file.")
    case .damaged(let detail):
      Problem(
        "file", code: "file.damaged", "The file is damaged ({detail}). Download or export it again.",
        ["detail": detail])
    case .badBase64:
      Problem(
        "file", code: "file.bad_base64",
        "The text between -----BEGIN …----- and -----END …----- is not valid Base64. A character was changed "
          + "or lost. Download or export it again and copy it as a file.")
    case .passwordNeeded, .wrongPassword, .passwordHasBlanks: passwordProblem
    case .unsupportedAlgorithm(let name):
      Problem(
        "file", code: "file.unsupported_algorithm",
        "The file is encrypted with {algorithm}, which is not supported. Export it again, or convert it: "
          + "openssl pkcs12 -legacy -in old.p12 -nodes -out new.pem",
        ["algorithm": name])
    case .tooCostly:
      Problem(
        "file", code: "file.too_costly",
        "Opening the file would take minutes, because it uses an unusually high number of key derivation rounds. "
          + "Export it again with default settings.")
    case .tooManyParts(let count):
      Problem(
        "file", code: "file.too_many_parts",
        "The file contains {count} certificates and keys. Export only the one you need.",
        ["count": "\(count)"])
    case .noCertificate, .keyDoesNotMatch, .severalCertificates, .noSuchCertificate, .wrongKeyKind, .unsoundKey:
      contentProblem
    case .notAProfile(let detail):
      Problem(
        "file", code: "file.not_a_profile",
        "The file is signed but does not contain a provisioning profile ({detail}). Download the profile again.",
        ["detail": detail])
    case .jsonDamaged(let detail):
      Problem(
        "file", code: "file.json_damaged",
        "This Google service account file is damaged or truncated ({detail}). Download a new key: "
          + "Firebase console, Project settings, Service accounts, Generate new private key.", ["detail": detail])
    case .serviceAccount(let problem): problem.problem
    case .keyPair(let field):
      Problem(
        "file", code: "file.jpush_keys.\(field)",
        "These are JPush keys, but the {field} is missing or does not have 24 hexadecimal digits. Copy both from the JPush "
          + "console, under the app’s settings, and enter them in the form or in the file.",
        ["field": field == "app_key" ? "AppKey" : "master secret"])
    }
  }

  private var passwordProblem: Problem {
    switch self {
    case .wrongPassword:
      Problem(
        "password", code: "file.wrong_password",
        "Wrong password. Enter the one that was chosen when the file was exported. If no one knows "
          + "it, export the certificate again.")
    case .passwordHasBlanks:
      Problem(
        "password", code: "file.password_has_blanks",
        "The password has extra spaces or a line break at its ends. Enter it without them.")
    default:
      Problem(
        "password", code: "file.password_needed",
        "The file needs a password. Enter the one that was chosen when it was exported.")
    }
  }

  private var contentProblem: Problem {
    switch self {
    case .severalCertificates(let names):
      Problem(
        "take", code: "file.several_certificates",
        "The file contains push certificates for different topics: {names}. Choose the file again and enter the "
          + "serial number of the one to use. Repeat this for the others.",
        ["names": names.joined(separator: "; ")])
    case .noSuchCertificate(let names):
      Problem(
        "take", code: "file.no_such_certificate",
        "The serial number or fingerprint must match exactly one certificate. The file contains: {names}.",
        ["names": names.joined(separator: "; ")])
    case .keyDoesNotMatch:
      Problem(
        "file", code: "file.key_does_not_match",
        "The private key in the file matches none of its certificates. Export the certificate together with the "
          + "key it was requested with: in Keychain Access on that Mac, under “My Certificates”.")
    case .unsoundKey:
      Problem(
        "file", code: "file.unsound_key",
        "The private key is damaged or its public half belongs to another key. Use the "
          + "original download or export. If that is lost, create a new key.")
    case .wrongKeyKind(let found):
      Problem(
        "file", code: "file.wrong_key_kind",
        "The private key is of type {found}, but APNs keys use the elliptic curve P-256. Use the AuthKey_….p8 "
          + "file downloaded from the Apple developer site.",
        ["found": found])
    default:
      Problem(
        "file", code: "file.no_certificate",
        "The file contains a private key but no certificate. In Keychain Access, select the certificate (with its key "
          + "under it), not only the key, and export it. Or join them: cat certificate.pem key.pem > both.pem. Of a Google "
          + "service account, the whole JSON file is needed.")
    }
  }
}

extension ServiceAccountProblem {
  fileprivate var problem: Problem {
    let remedy = " Download a new key: Firebase console, Project settings, Service accounts, Generate new private key."
    return switch self {
    case .missing(let name):
      Problem(
        "file", code: "file.service_account.missing",
        "This Google service account file has no usable “{name}”." + remedy, ["name": name])
    case .tokenURI:
      Problem(
        "file", code: "file.service_account.token_uri",
        "The “token_uri” of this service account is not an https URL. Google’s is {address}." + remedy,
        ["address": ServiceAccount.googleTokenURI])
    case .keyCut:
      Problem(
        "file", code: "file.service_account.key_cut",
        "The private key of this service account is truncated." + remedy)
    case .keyUnreadable:
      Problem(
        "file", code: "file.service_account.key_unreadable",
        "The “private_key” of this service account is not a private key. It may have been removed." + remedy)
    case .keyKind(let kind):
      Problem(
        "file", code: "file.service_account.key_kind",
        "The private key of this service account is of type {found}, but Google uses RSA 2048." + remedy,
        ["found": kind])
    case .keyDoesNotSign:
      Problem(
        "file", code: "file.service_account.key_does_not_sign",
        "The private key of this service account is damaged: its signatures are invalid." + remedy)
    }
  }
}
