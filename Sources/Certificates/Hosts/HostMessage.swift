public import Push
public import Store

/// What is said of watched hosts.
public enum HostMessage: String, MessageSet {
  case missing = "host.missing"
  case host = "host.name"
  case notASCII = "host.not_ascii"
  case port = "host.port"
  case scheme = "host.scheme"
  case duplicate = "host.duplicate"
  case note = "host.note"
  case noSuchName = "host.failure.no_such_name"
  case forbiddenAddress = "host.failure.forbidden_address"
  case refused = "host.failure.refused"
  case unreachable = "host.failure.unreachable"
  case timeout = "host.failure.timeout"
  case closed = "host.failure.closed"
  case notTLS = "host.failure.not_tls"
  case startTLSNotOffered = "host.failure.starttls_not_offered"
  case wrongProtocol = "host.failure.wrong_protocol"
  case handshake = "host.failure.handshake"
  case noCertificate = "host.failure.no_certificate"
  case notLookedAt = "host.not_looked_at"
  case stale = "host.stale"
  case expired = "host.finding.expired"
  case notYetValid = "host.finding.not_yet_valid"
  case issuerEndsFirst = "host.finding.issuer_ends_first"
  case wrongName = "host.finding.wrong_name"
  case selfSigned = "host.finding.self_signed"
  case incomplete = "host.finding.incomplete"
  case unknownAuthority = "host.finding.unknown_authority"
  case invalidChain = "host.finding.invalid_chain"

  /// The English sentence.
  public var english: String {
    switch self {
    case .missing: "Give a host, as mail.example.com, mail.example.com:587 or https://example.com."
    case .host: "This is no host name and no IP address."
    case .notASCII: "Write the name in its xn-- form: a browser shows it when the address is copied."
    case .port: "A port is a number from 1 to 65535."
    case .scheme: "“{scheme}://” has no certificate to watch. Known: https, smtp, smtps, imap, imaps, pop3, postgres."
    case .duplicate: "This host is watched already."
    case .note: "A note has at most 500 characters."
    case .noSuchName: "The name has no address ({detail}). Check how it is written, and the DNS of this machine."
    case .forbiddenAddress:
      "It leads to a link-local or metadata address ({detail}). Signalbox does not connect to those; give another address."
    case .refused: "Nothing listens on that port ({detail}). Check the port, and whether the server runs."
    case .unreachable: "No way leads there ({detail}). Check network and firewall."
    case .timeout: "It did not answer in time ({detail}). A firewall may drop what is sent there."
    case .closed: "It hung up before it showed a certificate ({detail})."
    case .notTLS: "What it answers is no TLS ({detail}). Check port and protocol: 25 and 587 begin with SMTP."
    case .startTLSNotOffered:
      "It does not offer to begin TLS ({detail}). Turn STARTTLS on there, or watch another port."
    case .wrongProtocol: "It does not speak the protocol that TLS should begin from ({detail}). Choose another one."
    case .handshake: "It ended the TLS handshake ({detail}). Check the server name, and which TLS it speaks."
    case .noCertificate: "It showed no certificate."
    case .notLookedAt: "It was not looked at yet. Run signalbox check-certificates, or keep serve running."
    case .stale: "It was last looked at on {date}. Run signalbox check-certificates, or keep serve running."
    case .expired: "“{name}” expired on {date}: clients refuse the host."
    case .notYetValid: "Its certificate is valid only from {date} on. Check the clocks."
    case .issuerEndsFirst: "“{name}”, which it shows in its chain, ends before its own certificate, on {date}."
    case .wrongName: "Its certificate is not for {asked}, only for {names}: clients refuse the host."
    case .selfSigned: "It signed its certificate itself: only clients that were given it believe it."
    case .incomplete:
      "Its chain ends at “{name}”, whose issuer it does not show and this machine does not trust. Let the server send "
        + "its intermediate certificates; if the authority is your own, this is as expected."
    case .unknownAuthority: "Its chain ends at “{name}”, a root that this machine does not trust."
    case .invalidChain: "Its chain is not made as it must be: clients refuse the host."
    }
  }
}

extension HostFailure.Code {
  fileprivate var message: HostMessage {
    switch self {
    case .noSuchName: .noSuchName
    case .forbiddenAddress: .forbiddenAddress
    case .refused: .refused
    case .unreachable: .unreachable
    case .timeout: .timeout
    case .closed: .closed
    case .notTLS: .notTLS
    case .startTLSNotOffered: .startTLSNotOffered
    case .wrongProtocol: .wrongProtocol
    case .handshake: .handshake
    case .noCertificate: .noCertificate
    }
  }
}

extension HostFailure: CustomStringConvertible {
  /// The same for people: code, sentence with its remedy, and what it is filled with.
  public var problem: Problem {
    Problem("", code.message, ["detail": detail.isEmpty ? "no reason given" : detail.singleLine])
  }

  /// The English sentence.
  public var description: String { problem.text }
}
