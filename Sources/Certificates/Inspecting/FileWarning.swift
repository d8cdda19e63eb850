package import Foundation
package import Model

/// A warning about a file that can be stored nevertheless.
package enum FileWarning: Sendable, Hashable, CustomStringConvertible {
  /// The expiry date; the kind determines what the expiry means.
  case expired(Date, CertificateKind)
  /// Named like Apple's push certificates, but issued by somebody else.
  case notFromApple(issuer: String)
  case notYetValid(Date)
  /// It can be watched, but not used to send.
  case noPrivateKey
  /// The validity ends before it begins.
  case neverValid(Date, Date)
  /// The list of topics is damaged, and the name is not used instead.
  case topicListUnreadable
  /// The file name is that of a key for in-app purchase or App Store Connect.
  case keyOfOtherService
  /// The number of leaf certificates, the one that was chosen, and why.
  case severalCertificates(count: Int, taken: String, CertificateFile.Choice)
  case issuerExpiresEarlier(name: String, Date)
  /// The certificate itself is still valid.
  case issuerExpired(name: String, Date)
  /// A signing certificate, which cannot send.
  case signingInsteadOfPush
  /// For passes, websites or device management, which are topics of their own.
  case otherPurpose
  case keyIDUnknown
  /// The profile has no `aps-environment`: apps built with it get no device token.
  case profileWithoutPush
  /// The profile has a wildcard app ID, which does not allow push.
  case wildcardProfile
  /// A signing certificate in the profile has expired.
  case profileCertificateExpired(name: String, Date)
  /// The content does not match its signature.
  case signatureBroken

  package var problem: Problem {
    switch self {
    case .expired(let date, let kind):
      Problem(
        "", code: "file.warning.expired.\(kind.rawValue)", "It expired on {date}. \(kind.afterEnd)",
        ["date": date.utcText])
    case .notFromApple(let issuer):
      Problem(
        "", code: "file.warning.not_from_apple",
        "It is named like an Apple certificate but was issued by “{issuer}”. APNs refuses it. Only a "
          + "server of your own may accept it.", ["issuer": issuer])
    case .notYetValid(let date):
      Problem(
        "", code: "file.warning.not_yet_valid",
        "It is not valid before {date}. If it should be valid now, check this machine's clock.", ["date": date.utcText])
    case .noPrivateKey:
      Problem(
        "", code: "file.warning.no_private_key",
        "It has no private key, so its expiry can be watched but it cannot send pushes. To send, export "
          + "the certificate and key together as .p12.")
    case .neverValid(let begin, let end):
      Problem(
        "", code: "file.warning.never_valid",
        "It expires ({end}) before it becomes valid ({begin}), so it is never valid. Have it reissued.",
        ["begin": begin.utcText, "end": end.utcText])
    case .topicListUnreadable:
      Problem(
        "", code: "file.warning.topic_list",
        "Its list of Apple topics cannot be read, so its permissions are unknown. Download it again.")
    case .keyOfOtherService:
      Problem(
        "", code: "file.warning.key_of_other_service",
        "Its name suggests a key for In-App Purchase or App Store Connect, which APNs refuses. Create one with "
          + "“Apple Push Notifications service (APNs)” under Keys on the Apple developer site.")
    case .severalCertificates(let count, let taken, let choice):
      Problem(
        "", code: "file.warning.several_certificates.\(choice.rawValue)",
        "The file contains {count} certificates that are not issuers. “{taken}” was chosen \(choice.reason). To use "
          + "another one, enter its serial number.", ["count": "\(count)", "taken": taken])
    case .issuerExpiresEarlier(let name, let date):
      Problem(
        "", code: "file.warning.issuer_expires_earlier",
        "Its issuer “{name}” expires earlier, on {date}. The certificate itself stays valid: only a new certificate of the "
          + "issuer is needed by then.", ["name": name, "date": date.utcText])
    case .issuerExpired(let name, let date):
      Problem(
        "", code: "file.warning.issuer_expired",
        "Its issuer “{name}” expired on {date}. The certificate itself still works: only a new certificate of the issuer "
          + "is needed.", ["name": name, "date": date.utcText])
    case .signingInsteadOfPush:
      Problem(
        "", code: "file.warning.signing_instead_of_push",
        "It signs app builds and cannot send pushes. On the Apple developer site, create a certificate of the "
          + "type “Apple Push Notification service SSL” or a key.")
    case .otherPurpose:
      Problem(
        "", code: "file.warning.other_purpose",
        "It is for passes, websites, or device management: it sends to its own topic alone, not to apps. To send with it, "
          + "add an app whose bundle ID is that topic.")
    case .keyIDUnknown:
      Problem(
        "", code: "file.warning.key_id_unknown",
        "The file name does not contain the key ID. Enter the 10 characters that the Apple developer site shows next to "
          + "the key.")
    case .profileWithoutPush:
      Problem(
        "", code: "file.warning.profile_without_push",
        "The profile has no aps-environment, so apps built with it get no device token. Turn on Push Notifications "
          + "for the App ID and regenerate the profile.")
    case .wildcardProfile:
      Problem(
        "", code: "file.warning.wildcard_profile",
        "The profile covers all apps of the team. Push needs a profile for a single App ID.")
    case .profileCertificateExpired(let name, let date):
      Problem(
        "", code: "file.warning.profile_certificate_expired",
        "The certificate “{name}” in the profile expired on {date}. Regenerate the profile with a valid one.",
        ["name": name, "date": date.utcText])
    case .signatureBroken:
      Problem(
        "", code: "file.warning.signature_broken",
        "The signature is invalid: the profile was changed after Apple signed it. Download it again.")
    }
  }

  package var description: String { problem.text }
}

extension CertificateKind {
  /// The effect of an expiry, and the fix.
  fileprivate var afterEnd: String {
    switch self {
    case .apnsCertificate, .voipCertificate, .apnsKey: "APNs refuses it. Create a new one on the Apple developer site."
    case .appleCertificate: "Apple no longer accepts it. Create a new one on the Apple developer site."
    case .provisioningProfile:
      "Builds made with it no longer launch, unless they came from the App Store. Regenerate the profile on the Apple "
        + "developer site and rebuild the app."
    case .tlsCertificate, .host: "Clients reject it. Have a new one issued."
    case .fcmServiceAccount, .jpushKeyPair: "It can no longer send. Create a new one."
    }
  }
}

extension CertificateFile.Choice {
  fileprivate var reason: String {
    switch self {
    case .onlyWithKey: "because it is the end of the chain or the only one with its key"
    case .onlyForPush: "because it is the only one that sends pushes"
    case .endsLast: "because it is valid the longest"
    case .asked: "as requested"
    }
  }
}

extension Date {
  var utcText: String {
    formatted(.iso8601.dateSeparator(.dash).dateTimeSeparator(.space).timeSeparator(.colon))
      .replacing("Z", with: " UTC")
  }
}
