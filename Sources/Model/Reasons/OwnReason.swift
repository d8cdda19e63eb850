/// Signalbox's own reasons: nothing was sent, or no answer came.
package enum OwnReason: String, Sendable, CaseIterable {
  /// The app has no credential for this push service and environment.
  case noCredential = "NoCredential"
  /// No provider of the app serves this platform.
  case noProvider = "NoProvider"
  /// Expired, key missing, or sealed with another key.
  case credentialUnusable = "CredentialUnusable"
  /// The provider refused the credential, which stopped everything that needs it.
  case credentialRefused = "CredentialRefused"
  /// A person cancelled the push.
  case cancelled = "Cancelled"
  /// The push's time to live has ended.
  case expired = "Expired"
  /// The device was parked, retired or removed while its push waited to be tried again.
  case deviceInactive = "DeviceInactive"
  case quarantined = "Quarantined"
  case dryRun = "DryRun"
  /// No connection could be made.
  case unreachable = "Unreachable"
  /// The proxy has no address, or does not accept connections.
  case proxyUnreachable = "ProxyUnreachable"
  /// The proxy did not answer in time.
  case proxyTimedOut = "ProxyTimedOut"
  /// The proxy wants a user and a password, or others.
  case proxyAuthentication = "ProxyAuthenticationRequired"
  /// The proxy's rules forbid the connection.
  case proxyForbidden = "ProxyForbidden"
  /// The proxy cannot find or reach the push service.
  case proxyCannotConnect = "ProxyCannotConnect"
  /// The proxy's answer cannot be read.
  case proxyBadAnswer = "ProxyBadAnswer"
  /// The provider's server could not be authenticated.
  case untrusted = "Untrusted"
  /// Sent, but no answer came in time.
  case timedOut = "TimedOut"
  /// Sent, but the connection ended before the answer.
  case connectionLost = "ConnectionLost"
  /// Signalbox was stopped between sending and the answer.
  case interrupted = "Interrupted"
  /// The answer violates the protocol.
  case unreadableAnswer = "UnreadableAnswer"
}

extension Reason {
  package static func of(_ own: OwnReason) -> Reason { of(own.rawValue) }

  static let own: [Reason] = OwnReason.allCases.map { own in
    let (retry, actor, cause, remedy): (Retry, Actor, String, String) =
      switch own {
      case .noCredential:
        (
          .afterCredential, .operations, "The app has no credential for this push service and environment.",
          "Assign a key or certificate on the app's page, then retry the failed devices."
        )
      case .noProvider:
        (
          .afterCredential, .operations, "No push service is set up for this platform.",
          "Set one up on the app's page, or exclude the platform."
        )
      case .credentialUnusable:
        (
          .afterCredential, .operations, "The credential has expired or its key cannot be read.",
          "See the certificate's page and upload a replacement."
        )
      case .credentialRefused:
        (
          .afterCredential, .operations,
          "The push service refused the credential, so all pushes that need it were stopped.",
          "See the refusal on the app's page, correct the credential, then retry the failed devices."
        )
      case .cancelled:
        (
          .never, .nobody, "The push was canceled before it reached this device.",
          "No action needed. If that was a mistake, send the push again."
        )
      case .expired:
        (
          .never, .nobody, "The push's time to live expired before it could be sent.",
          "If it is still relevant, send it again with a longer time to live."
        )
      case .deviceInactive:
        (
          .never, .appDeveloper, "The device was parked, retired, or removed while the push waited to be retried.",
          "See the device's page. When it is active again, send the push again."
        )
      case .quarantined:
        (
          .never, .appDeveloper, "The device is parked because its token was refused earlier.",
          "On the device's page, move it to the other environment or reactivate it, or let the app register again."
        )
      case .dryRun: (.never, .nobody, "This was a dry run: nothing was sent.", "To send it, turn dry run off.")
      case .unreachable:
        (
          .later, .operations, "Signalbox could not connect to the push service.",
          "Run signalbox doctor --network to test the DNS name, port, and certificate of each push service."
        )
      case .proxyUnreachable:
        (
          .later, .operations,
          "The proxy could not be reached: its name was not found, or nothing answers at its port.",
          "Check the proxy's host and port (the app's page, --proxy, HTTPS_PROXY), then run signalbox doctor --network."
        )
      case .proxyTimedOut:
        (
          .later, .operations, "The proxy did not answer in time.",
          "Check that the proxy is running, and that it can reach the push service."
        )
      case .proxyAuthentication:
        (
          .later, .operations, "The proxy requires a user and a password, or refused the ones it got (407).",
          "Correct them in the proxy's URL: http://user:password@host:port. Only Basic authentication is supported."
        )
      case .proxyForbidden:
        (
          .later, .operations, "The proxy does not allow connections to the push service (403).",
          "Ask the proxy's operator to allow CONNECT to the push service's host and port; APNs also listens on 2197."
        )
      case .proxyCannotConnect:
        (
          .later, .operations, "The proxy cannot find or reach the push service.",
          "Check DNS and firewall where the proxy runs; the push service's name is looked up there, not here."
        )
      case .proxyBadAnswer:
        (
          .later, .operations, "The program at the proxy's address is not an HTTP proxy, or the connection broke.",
          "Check the proxy's host and port. Proxies that use TLS or SOCKS are not supported."
        )
      case .untrusted:
        (
          .afterCredential, .operations,
          "The push service's server presented a certificate that this machine does not trust.",
          "Run signalbox doctor. Install ca-certificates, or check for a proxy that intercepts TLS."
        )
      case .timedOut:
        (
          .never, .operations, "The push was sent, but no answer came in time. It may have arrived.",
          "Retry only if a duplicate does no harm. Apps that read sbid drop duplicates."
        )
      case .connectionLost:
        (
          .never, .nobody, "The push was sent, but the connection closed before an answer came. It may have arrived.",
          "Retry only if a duplicate does no harm. Apps that read sbid drop duplicates."
        )
      case .interrupted:
        (
          .never, .nobody, "Signalbox stopped after sending the push and before an answer came. It may have arrived.",
          "Retry only if a duplicate does no harm. Apps that read sbid drop duplicates."
        )
      case .unreadableAnswer:
        (
          .never, .operations, "The server that answered does not speak the push service's protocol.",
          "Check the credential's endpoint, and check for a proxy in between."
        )
      }
    return Reason(own.rawValue, .signalbox, nil, retry, actor, cause: cause, remedy: remedy)
  }
}
