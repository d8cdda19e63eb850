/// Reasons that Signalbox itself gives: nothing was sent, or no answer came.
public enum OwnReason: String, Sendable, CaseIterable {
  /// The app has no credential for this provider and environment.
  case noCredential = "NoCredential"
  /// No provider of the app serves this platform.
  case noProvider = "NoProvider"
  /// The credential cannot be used: expired, key missing, sealed with another key.
  case credentialUnusable = "CredentialUnusable"
  /// The provider refused the credential, and all that needs it was stopped.
  case credentialRefused = "CredentialRefused"
  /// A person stopped the push first.
  case cancelled = "Cancelled"
  /// The push's time to live ended first.
  case expired = "Expired"
  /// The device is parked.
  case quarantined = "Quarantined"
  /// It was a dry run.
  case dryRun = "DryRun"
  /// No connection could be made.
  case unreachable = "Unreachable"
  /// The provider's server could not prove who it is.
  case untrusted = "Untrusted"
  /// Sent, but no answer came in time.
  case timedOut = "TimedOut"
  /// Sent, but the connection ended before the answer.
  case connectionLost = "ConnectionLost"
  /// Signalbox was stopped between sending and the answer.
  case interrupted = "Interrupted"
  /// An answer came that is no answer of this protocol.
  case unreadableAnswer = "UnreadableAnswer"
}

extension Reason {
  /// What one of our own reasons means.
  public static func of(_ own: OwnReason) -> Reason { of(own.rawValue) }

  static let own: [Reason] = OwnReason.allCases.map { own in
    let (retry, actor, cause, remedy): (Retry, Actor, String, String) =
      switch own {
      case .noCredential:
        (
          .afterCredential, .operations, "The app has no credential for this provider and environment.",
          "Upload a certificate or key on the app's page, then send again to those that failed."
        )
      case .noProvider:
        (
          .afterCredential, .operations, "No provider is set up for this platform.",
          "Set one up on the app's page, or leave the platform out."
        )
      case .credentialUnusable:
        (
          .afterCredential, .operations, "The credential cannot be used: it has expired, or its key cannot be read.",
          "Look at the certificate's page, and upload its successor."
        )
      case .credentialRefused:
        (
          .afterCredential, .operations,
          "The provider refused the credential, and everything that needs it was stopped.",
          "See the refusal on the app's page, correct the credential, then retry what failed."
        )
      case .cancelled:
        (
          .never, .nobody, "The push was cancelled before this device's turn.",
          "Nothing; send again if it was a mistake."
        )
      case .expired:
        (
          .never, .nobody, "The push's time to live ended before it could be sent.",
          "Send again, with a longer time to live if it is still of use."
        )
      case .quarantined:
        (
          .never, .appDeveloper, "The device is parked because its token was refused before.",
          "Look at the device's page: move it to the other environment, release it, or let the app register again."
        )
      case .dryRun:
        (.never, .nobody, "This was a dry run: nothing was sent.", "Send it without dry run.")
      case .unreachable:
        (
          .later, .operations, "No connection to the provider could be made.",
          "Run signalbox doctor: it tries name, port and certificate of each provider."
        )
      case .untrusted:
        (
          .afterCredential, .operations, "The provider's server showed a certificate that this machine does not trust.",
          "Run signalbox doctor; install ca-certificates, or look for a proxy that opens TLS."
        )
      case .timedOut:
        (
          .never, .operations, "It was sent, but no answer came in time: it may have arrived or not.",
          "Retry only if arriving twice does no harm; an app that reads sbid drops the repeat."
        )
      case .connectionLost:
        (
          .never, .nobody, "It was sent, but the connection ended before the answer: it may have arrived or not.",
          "Retry only if arriving twice does no harm; an app that reads sbid drops the repeat."
        )
      case .interrupted:
        (
          .never, .nobody, "Signalbox was stopped after sending and before the answer: it may have arrived or not.",
          "Retry only if arriving twice does no harm; an app that reads sbid drops the repeat."
        )
      case .unreadableAnswer:
        (
          .never, .operations, "What answered does not speak the provider's protocol.",
          "Look at the credential's endpoint, and for a proxy between."
        )
      }
    return Reason(own.rawValue, .signalbox, nil, retry, actor, cause: cause, remedy: remedy)
  }
}
