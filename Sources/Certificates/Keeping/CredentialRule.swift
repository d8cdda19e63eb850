package import Model
import OpenSSL
import Reactor
package import SQLite
package import Store

/// What may send an app's pushes. Pure; used by the page, the API and the command line.
package enum CredentialRule {
  /// The service that a stored file sends through; nil: none.
  package static func provider(_ details: TrackedCertificate.Details) -> ProviderKind? {
    provider(CertificateKind(rawValue: details.kind), details.topics)
  }

  /// The service that an inspected file sends through; nil: none.
  package static func provider(_ file: CertificateFile) -> ProviderKind? {
    provider(file.kind, file.topics.map(\.name))
  }

  private static func provider(_ kind: CertificateKind?, _ topics: [String]) -> ProviderKind? {
    switch kind {
    case .apnsKey: .apns
    case .fcmServiceAccount: .fcm
    case .jpushKeyPair: .jpush
    default: kind?.isForAPNs(topics) == true ? .apns : nil
    }
  }

  /// Why a file cannot send for an app in an environment through a service; nil if it can.
  package static func problem(
    _ details: TrackedCertificate.Details, _ app: App, _ environment: Environment, _ provider: ProviderKind
  ) -> Problem? {
    let kind = CertificateKind(rawValue: details.kind)
    guard Self.provider(details) == provider else {
      return Problem("certificate", CredentialMessage.kind(provider), ["name": details.name])
    }
    guard details.hasPrivateKey else { return Problem("certificate", CredentialMessage.noKey, ["name": details.name]) }
    guard details.environments.isEmpty || details.environments.contains(environment) else {
      return Problem(
        "certificate", CredentialMessage.environment,
        [
          "name": details.name, "environment": environment.rawValue,
          "environments": details.environments.map(\.rawValue).joined(separator: ", "),
        ])
    }
    // Of apps, a certificate may cover the topics below the bundle ID alone, as for VoIP.
    let isOfApps = kind?.isForAPNs == true
    guard
      kind?.isForAPNs(details.topics) != true || details.topics.isEmpty
        || details.topics.contains(where: { $0 == app.bundleID || isOfApps && $0.hasPrefix(app.bundleID + ".") })
    else {
      return Problem(
        "certificate", CredentialMessage.topic,
        ["name": details.name, "app": app.bundleID, "topics": details.topics.joined(separator: ", ")])
    }
    return nil
  }

  /// Every problem with a choice, at the fields `certificate` and `endpoint`.
  ///
  /// - Parameters:
  ///   - certificate: nil for none; only the simulator works without one.
  ///   - endpoint: the service's word, `simulator`, or `host:port`.
  package static func problems(
    _ app: App, _ environment: Environment, _ provider: ProviderKind, certificate: TrackedCertificate?, endpoint: String
  ) -> [Problem] {
    var problems: [Problem] = []
    if let certificate {
      if let problem = problem(certificate.details, app, environment, provider) { problems.append(problem) }
    } else if endpoint != CredentialPlace.simulatorWord {
      problems.append(Problem("certificate", CredentialMessage.needed(provider)))
    }
    if isHost(endpoint, provider), !isHostAndPort(endpoint) {
      problems.append(Problem("endpoint", CredentialMessage.host, ["service": provider.serviceWord]))
    }
    return problems
  }

  /// Whether an endpoint is to be a host of the sender's own.
  private static func isHost(_ endpoint: String, _ provider: ProviderKind) -> Bool {
    endpoint != provider.serviceWord && endpoint != CredentialPlace.simulatorWord
  }

  /// The limit for a server's authorities, in bytes.
  package static let trustLimit = 100_000

  /// Parses the authorities that may issue a server's certificate into the form they are stored in; nil for an empty
  /// text, which stands for the system's authorities.
  ///
  /// - Throws: a problem at `trust`.
  package static func trust(_ text: String, endpoint: String, _ provider: ProviderKind) throws(Problems) -> String? {
    guard text.utf8.contains(where: { $0 > 0x20 }) else { return nil }
    guard isHost(endpoint, provider) else { throw Problems([Problem("trust", CredentialMessage.trustNeedsHost)]) }
    // The reason does not matter: the message says what belongs in the field.
    let certificates = text.utf8.count <= trustLimit ? try? Certificate.pemBundle(text) : nil
    guard let certificates, !certificates.isEmpty else {
      throw Problems([Problem("trust", CredentialMessage.trust, ["limit": "\(trustLimit)"])])
    }
    return certificates.map(\.pem).joined()
  }

  /// Reads how the connections are to reach the service: nil for an empty text, which stands for the server's own
  /// setting; `none`; or a proxy's URL. Without a password in it, the stored one stays if address and user do.
  ///
  /// - Throws: a problem at `proxy`, which does not show the text: it may hold a password.
  package static func proxy(_ text: String, before: CredentialProxy?) throws(Problems) -> CredentialProxy? {
    if text.isEmpty { return nil }
    if text == CredentialProxy.direct { return CredentialProxy(address: text) }
    let server: ProxyServer
    do { server = try ProxyServer(text) } catch { throw Problems([Problem("proxy", CredentialMessage.proxy)]) }
    var password = server.password.map { CredentialProxy.Password.plain($0) }
    if password == nil, let before, before.address == server.authority, before.user == server.user {
      password = before.password
    }
    return CredentialProxy(address: server.authority, user: server.user, password: password)
  }

  private static func isHostAndPort(_ text: String) -> Bool {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let port = UInt16(parts[1]), port > 0, (1...253).contains(parts[0].utf8.count) else {
      return false
    }
    return parts[0].utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x2d
        || byte == 0x2e
    }
  }
}

/// Why a credential cannot be bound.
package enum CredentialMessage: String, MessageSet {
  case kind = "credential.not_for_apns"
  case kindFCM = "credential.not_for_fcm"
  case kindJPush = "credential.not_for_jpush"
  case noKey = "credential.no_private_key"
  case environment = "credential.other_environment"
  case topic = "credential.other_app"
  case needed = "credential.needed"
  case neededFCM = "credential.needed_fcm"
  case neededJPush = "credential.needed_jpush"
  case host = "credential.endpoint"
  case trust = "credential.trust"
  case trustNeedsHost = "credential.trust_needs_host"
  case proxy = "credential.proxy"

  static func kind(_ provider: ProviderKind) -> CredentialMessage {
    switch provider {
    case .apns: .kind
    case .fcm: .kindFCM
    case .jpush: .kindJPush
    }
  }

  static func needed(_ provider: ProviderKind) -> CredentialMessage {
    switch provider {
    case .apns: .needed
    case .fcm: .neededFCM
    case .jpush: .neededJPush
    }
  }

  package var english: String {
    switch self {
    case .kind: "“{name}” cannot send pushes: it is neither a push certificate nor an APNs key."
    case .kindFCM: "“{name}” cannot send through FCM: it is not a Google service account."
    case .kindJPush: "“{name}” cannot send through JPush: it is not the AppKey and master secret of a JPush app."
    case .noKey: "“{name}” has no private key. Upload the .p12 that contains it."
    case .environment: "“{name}” is for {environments}, not for {environment}."
    case .topic: "“{name}” is for {topics}, not for {app}."
    case .needed: "Choose a key or certificate. Only the simulator works without one."
    case .neededFCM: "Choose a service account. Only the simulator works without one."
    case .neededJPush: "Choose JPush keys. Only the simulator works without them."
    case .trust:
      "Must be the CA certificates that the server’s certificate was issued by, as PEM (-----BEGIN "
        + "CERTIFICATE-----), at most {limit} bytes."
    case .trustNeedsHost:
      "CA certificates apply only to your own host. Apple, Google, JPush, and the simulator need none."
    case .proxy:
      "Must be none, or the URL of an HTTP proxy, e.g. http://user:password@proxy.example.com:3128. Characters such as "
        + "@ and : in user and password are percent-encoded."
    case .host: "Must be {service}, simulator, or a host with a port from 1 to 65535, e.g. 127.0.0.1:2197."
    }
  }
}

extension CredentialScope {
  /// The scope of a stored file; nil if it cannot send to APNs.
  package init?(_ details: TrackedCertificate.Details) {
    guard let kind = CertificateKind(rawValue: details.kind), kind == .apnsKey || kind.isForAPNs(details.topics) else {
      return nil
    }
    // The scope of a certificate whose subject names no topic is unknown.
    guard kind == .apnsKey || !details.topics.isEmpty else { return nil }
    self.init(name: details.name, topics: kind == .apnsKey ? nil : details.topics, notAfter: details.notAfter)
  }

  /// The scope of an app's key or certificate for an environment; nil if there is none, as for the simulator.
  package static func find(_ database: Database, app: Int64, environment: Environment) throws -> CredentialScope? {
    let credential = try Credential.find(database, app: app, provider: .apns, environment: environment)
    guard let id = credential?.certificateID, let kept = try TrackedCertificate.find(database, id: id) else {
      return nil
    }
    return CredentialScope(kept.details)
  }
}
