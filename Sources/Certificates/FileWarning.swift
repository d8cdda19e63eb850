public import Foundation
public import Push

/// What should be known of a file before it is used, though it can be kept.
public enum FileWarning: Sendable, Hashable, CustomStringConvertible {
  /// Since when it is no longer valid, and what that means for a thing of this kind.
  case expired(Date, CertificateKind)
  /// It is called as Apple calls its push certificates, and somebody else issued it: its issuer's name.
  case notFromApple(issuer: String)
  /// From when on it will be valid.
  case notYetValid(Date)
  /// It can be watched, not used.
  case noPrivateKey
  /// It ends before it begins.
  case neverValid(Date, Date)
  /// The list of topics in it is damaged; the name does not count then.
  case topicListUnreadable
  /// The file's name says that the key is for in-app purchase or App Store Connect.
  case keyOfOtherService
  /// So many certificates that are no issuers; the one that is named was taken, and why.
  case severalCertificates(count: Int, taken: String, InspectedFile.Choice)
  /// One of its issuers ends before it does.
  case issuerExpiresEarlier(name: String, Date)
  /// It signs builds and sends nothing.
  case signingInsteadOfPush
  /// It is for passes, websites or device management.
  case otherPurpose
  /// The file name does not tell the key id.
  case keyIDUnknown
  /// The profile has no `aps-environment`: apps built with it get no token.
  case profileWithoutPush
  /// The profile is for every app, and push needs one.
  case wildcardProfile
  /// A certificate in the profile that has expired.
  case profileCertificateExpired(name: String, Date)
  /// What was signed was changed afterwards.
  case signatureBroken

  /// The same for people: code, sentence with its remedy, and what it is filled with.
  public var problem: Problem {
    switch self {
    case .expired(let date, let kind):
      Problem("", code: "file.warning.expired", "It expired on {date}: \(kind.afterEnd)", ["date": date.utcText])
    case .notFromApple(let issuer):
      Problem(
        "", code: "file.warning.not_from_apple",
        "It is called as Apple’s certificates are, but Apple did not issue it: “{issuer}” did. APNs refuses it; only a "
          + "server of your own may take it.", ["issuer": issuer])
    case .notYetValid(let date):
      Problem(
        "", code: "file.warning.not_yet_valid",
        "It is valid from {date} on. If that should be now, check the clock of this machine.", ["date": date.utcText])
    case .noPrivateKey:
      Problem(
        "", code: "file.warning.no_private_key",
        "It has no private key: its expiry can be watched, but nothing can be sent with it. To send, export "
          + "certificate and key together as .p12.")
    case .neverValid(let begin, let end):
      Problem(
        "", code: "file.warning.never_valid",
        "It ends ({end}) before it begins ({begin}), so it is never valid. Have it made again.",
        ["begin": begin.utcText, "end": end.utcText])
    case .topicListUnreadable:
      Problem(
        "", code: "file.warning.topic_list",
        "Apple’s list of topics in it cannot be read, so it is not known where it may send. Download it again.")
    case .keyOfOtherService:
      Problem(
        "", code: "file.warning.key_of_other_service",
        "By its name this key is for in-app purchase or App Store Connect; APNs refuses such keys. Create one with "
          + "“Apple Push Notifications service (APNs)” under Keys at Apple’s developer site.")
    case .severalCertificates(let count, let taken, let choice):
      Problem(
        "", code: "file.warning.several_certificates.\(choice.rawValue)",
        "The file holds {count} certificates that are no issuers; “{taken}” was taken, \(choice.reason). To take "
          + "another one, give its serial number.", ["count": "\(count)", "taken": taken])
    case .issuerExpiresEarlier(let name, let date):
      Problem(
        "", code: "file.warning.issuer_expires_earlier",
        "Its issuer “{name}” expires before it does, on {date}. Plan its renewal for that day.",
        ["name": name, "date": date.utcText])
    case .signingInsteadOfPush:
      Problem(
        "", code: "file.warning.signing_instead_of_push",
        "It signs builds of an app and cannot send pushes. At Apple's developer site, create a certificate of the "
          + "type “Apple Push Notification service SSL”, or a key.")
    case .otherPurpose:
      Problem(
        "", code: "file.warning.other_purpose",
        "It is for passes, websites or device management; it can be watched, but apps get no pushes with it.")
    case .keyIDUnknown:
      Problem(
        "", code: "file.warning.key_id_unknown",
        "The file name does not tell the key id. Enter the 10 characters that Apple's developer site shows beside "
          + "the key.")
    case .profileWithoutPush:
      Problem(
        "", code: "file.warning.profile_without_push",
        "The profile has no aps-environment: an app built with it gets no device token. Turn on Push Notifications "
          + "for the app id, and make the profile again.")
    case .wildcardProfile:
      Problem(
        "", code: "file.warning.wildcard_profile",
        "The profile is for every app of the team; push needs a profile for one app id.")
    case .profileCertificateExpired(let name, let date):
      Problem(
        "", code: "file.warning.profile_certificate_expired",
        "The certificate “{name}” in the profile expired on {date}. Make the profile again with a valid one.",
        ["name": name, "date": date.utcText])
    case .signatureBroken:
      Problem(
        "", code: "file.warning.signature_broken",
        "The signature does not fit the content: the profile was changed after Apple signed it. Download it again.")
    }
  }

  /// The English sentence.
  public var description: String { problem.text }
}

extension CertificateKind {
  /// What the end of such a thing means, and what to do.
  fileprivate var afterEnd: String {
    switch self {
    case .apnsCertificate, .voipCertificate, .apnsKey:
      "APNs refuses it. Create a new one at Apple's developer site."
    case .appleCertificate: "Apple no longer accepts it. Create a new one at Apple's developer site."
    case .provisioningProfile:
      "builds made with it no longer start, unless they came from the App Store. Make the profile again at Apple's "
        + "developer site, and build with that."
    case .tlsCertificate, .host: "clients refuse it. Have a new one issued."
    case .fcmServiceAccount, .jpushKeyPair: "it cannot send any more. Create a new one."
    }
  }
}

extension InspectedFile.Choice {
  fileprivate var reason: String {
    switch self {
    case .onlyWithKey: "because it is the end of the chain or the only one with its key"
    case .onlyForPush: "because it is the only one that sends pushes"
    case .endsLast: "because it is valid longest"
    case .asked: "as was asked"
    }
  }
}

extension Date {
  /// As `2026-11-20 12:00:00 UTC`.
  var utcText: String {
    formatted(.iso8601.dateSeparator(.dash).dateTimeSeparator(.space).timeSeparator(.colon))
      .replacing("Z", with: " UTC")
  }
}
