package import Model
package import Store
import Text

/// Messages about watched hosts.
package enum HostMessage: String, MessageSet {
  case missing = "host.missing"
  case host = "host.name"
  case notASCII = "host.not_ascii"
  case port = "host.port"
  case scheme = "host.scheme"
  case duplicate = "host.duplicate"
  case note = "host.note"
  case noSuchName = "host.failure.no_such_name"
  case forbiddenAddress = "host.failure.forbidden_address"
  case notAllowed = "host.failure.not_allowed"
  case refused = "host.failure.refused"
  case unreachable = "host.failure.unreachable"
  case timeout = "host.failure.timeout"
  case closed = "host.failure.closed"
  case proxy = "host.failure.proxy"
  case notTLS = "host.failure.not_tls"
  case startTLSNotOffered = "host.failure.starttls_not_offered"
  case wrongProtocol = "host.failure.wrong_protocol"
  case handshake = "host.failure.handshake"
  case noCertificate = "host.failure.no_certificate"
  case notLookedAt = "host.not_looked_at"
  case stale = "host.stale"
  case expired = "host.finding.expired"
  case surplusExpired = "host.finding.surplus_expired"
  case notYetValid = "host.finding.not_yet_valid"
  case issuerEndsFirst = "host.finding.issuer_ends_first"
  case wrongName = "host.finding.wrong_name"
  case noNames = "host.finding.no_names"
  case selfSigned = "host.finding.self_signed"
  case incomplete = "host.finding.incomplete"
  case unknownAuthority = "host.finding.unknown_authority"
  case invalidChain = "host.finding.invalid_chain"

  package var english: String {
    switch self {
    case .missing: "Enter a host, e.g. mail.example.com, mail.example.com:587, or https://example.com."
    case .host: "This is not a host name or an IP address."
    case .notASCII: "Enter the name in its xn-- form. Browsers show it when you copy the address."
    case .port: "The port must be a number from 1 to 65535."
    case .scheme: "“{scheme}://” is not supported. Supported: https, smtp, smtps, imap, imaps, pop3, postgres."
    case .duplicate: "This host is already watched."
    case .note: "The note must have at most 500 characters."
    case .noSuchName: "The host name was not found ({detail}). Check the spelling and this machine's DNS."
    case .forbiddenAddress:
      "It resolves to a link-local or metadata address ({detail}), which Signalbox does not connect to. Enter another "
        + "address."
    case .notAllowed:
      "It is not an allowed target ({detail}). Add it to --allow-target (SIGNALBOX_ALLOW_TARGET), or stop watching it."
    case .refused: "The connection was refused ({detail}). Check the port and that the server is running."
    case .unreachable: "The host is unreachable ({detail}). Check the network and firewall."
    case .timeout:
      "The host did not answer in time ({detail}). The protocol may be wrong, or a firewall may be dropping the packets."
    case .closed: "The host closed the connection before presenting a certificate ({detail})."
    case .proxy: "The proxy did not connect to the host: {detail}. Check the proxy (--proxy, HTTPS_PROXY, NO_PROXY)."
    case .notTLS:
      "The host does not answer with TLS ({detail}). Check the port and protocol: 25 and 587 use SMTP with STARTTLS."
    case .startTLSNotOffered: "The host does not offer STARTTLS ({detail}). Turn it on there, or watch another port."
    case .wrongProtocol: "The host does not speak the chosen protocol ({detail}). Choose another one."
    case .handshake: "The TLS handshake failed ({detail}). Check the server name and the TLS versions of the host."
    case .noCertificate: "The host presented no certificate."
    case .notLookedAt: "The host has not been checked yet. Run signalbox check-certificates, or keep serve running."
    case .stale: "The host was last checked on {date}. Run signalbox check-certificates, or keep serve running."
    case .expired: "“{name}” expired on {date}. Clients reject the host."
    case .surplusExpired:
      "“{name}”, which the host sends besides, expired on {date}. Clients do without it. Remove it from the server's "
        + "chain, because some old clients are misled by it."
    case .notYetValid: "The certificate is not valid before {date}. Check the clocks."
    case .issuerEndsFirst: "“{name}” in its chain expires before its own certificate, on {date}."
    case .wrongName: "The certificate is not valid for {asked}, only for {names}. Clients reject the host."
    case .noNames: "The certificate names no host, so it is not valid for {asked}. Clients reject the host."
    case .selfSigned: "The certificate is self-signed. Only clients configured to trust it accept the host."
    case .incomplete:
      "The chain ends at “{name}”, whose issuer is missing and not trusted by this machine. Configure the server to "
        + "send its intermediate certificates. With a private certificate authority, this is expected."
    case .unknownAuthority: "The chain ends at “{name}”, a root that this machine does not trust."
    case .invalidChain: "The certificate chain is invalid. Clients reject the host."
    }
  }
}

extension HostFailure.Code {
  fileprivate var message: HostMessage {
    switch self {
    case .noSuchName: .noSuchName
    case .forbiddenAddress: .forbiddenAddress
    case .notAllowed: .notAllowed
    case .refused: .refused
    case .unreachable: .unreachable
    case .timeout: .timeout
    case .closed: .closed
    case .proxy: .proxy
    case .notTLS: .notTLS
    case .startTLSNotOffered: .startTLSNotOffered
    case .wrongProtocol: .wrongProtocol
    case .handshake: .handshake
    case .noCertificate: .noCertificate
    }
  }
}

extension HostFailure: CustomStringConvertible {
  package var problem: Problem {
    // The detail stands in a sentence.
    let line = detail.isEmpty ? "no reason given" : detail.singleLine
    return Problem("", code.message, ["detail": line.hasSuffix(".") ? String(line.dropLast()) : line])
  }

  package var description: String { problem.text }
}
