import Certificates
import Foundation
import OpenSSL
import Model
import Reactor
import SQLite
import Store
import Text

extension Doctor {
  /// The time a server has to present its certificate.
  private static let patience = Duration.seconds(5)

  /// Whether each server that a credential uses can be resolved and reached, and has a trusted certificate. Without
  /// credentials, Apple's two servers are checked.
  func reach() -> [Finding] { endpoints().map(reach) }

  private struct Server: Hashable {
    let address: HostAddress
    /// The credential's own authorities; nil: the system's.
    var trust: String?
    /// The credential's own setting; nil: the server's.
    var proxy: CredentialProxy?
  }

  /// The configured proxy; empty if there is none.
  func proxy() -> [Finding] {
    guard let server = proxies.server else { return [] }
    let source: Message = proxies.source.map { " (\($0))" } ?? ""
    return [
      Finding(
        subject: "proxy", level: .ok,
        message:
          "connections go through \(server.authority)\(source), except to this machine and the hosts in NO_PROXY")
    ]
  }

  /// - Throws: if a password cannot be opened.
  private func rules(_ server: Server) throws -> ProxyRules {
    guard let own = server.proxy else { return proxies }
    guard own.address != CredentialProxy.direct else { return proxies.through(nil) }
    let place = try ProxyServer(own.address)
    var password: String?
    if own.password != nil {
      guard let key = try directory.storedKey() else { throw SealingMismatch.missing }
      password = try own.opened(key)
    }
    return proxies.through(ProxyServer(host: place.host, port: place.port, user: own.user, password: password))
  }

  private func endpoints() -> [Server] {
    var servers: [Server] = []
    for credential in credentials() {
      switch credential.place {
      case .service:
        let host = credential.provider.host(credential.environment)
        servers.append(Server(address: HostAddress(host: host, port: 443), proxy: credential.proxy))
      case .server(let host, let port):
        servers.append(
          Server(address: HostAddress(host: host, port: port), trust: credential.trustPEM, proxy: credential.proxy))
      case .simulator, nil: break
      }
    }
    if servers.isEmpty {
      servers = Environment.allCases.map { Server(address: HostAddress(host: $0.apnsHost, port: 443)) }
    }
    var seen: Set<Server> = []
    return servers.filter { seen.insert($0).inserted }
  }

  /// Empty if they cannot be read: the database check reports that error.
  private func credentials() -> [Credential] {
    guard directory.exists, let database = try? Database(path: directory.database, mode: .reader) else { return [] }
    defer { database.close() }
    return (try? Credential.all(database)) ?? []
  }

  private func reach(_ server: Server) -> Finding {
    let address = server.address
    let subject: Message = "\(address.host):\(address.port)"
    let outcome: HostOutcome
    do {
      let rules = try rules(server)
      let trust = server.trust.map { TLSTrust.pem(Array($0.utf8)) }
      outcome = try HostProbe(trust: trust, timeout: Self.patience, proxies: rules).look(at: address)
    } catch let error where error is SealingError || error is SealingMismatch {
      return Finding(
        subject: subject, level: .error, message: "the password of its proxy cannot be decrypted: \(error)",
        remedy: "Enter it again: signalbox apps proxy.")
    } catch {
      return Finding(subject: subject, level: .error, message: "\(error)", remedy: "Fix the trusted certificates.")
    }
    switch outcome {
    case .failure(let failure):
      // Other errors already contain the fix.
      let remedy: Message? =
        switch failure.code {
        case .noSuchName: "Check /etc/resolv.conf and the network."
        case .refused, .unreachable, .timeout, .closed:
          """
          Allow TCP to \(subject) in the firewall, or try from another network. Where only a proxy may connect, set \
          --proxy.
          """
        case .proxy: "\(Remedy(Reason.of(failure.detail)))"
        default: nil
        }
      return Finding(subject: subject, level: .error, message: "\(failure)", remedy: remedy)
    case .success(let seen):
      let findings = HostFinding.all(seen, of: address, now: now)
      // Browsers tolerate what only a note is about; connections to a push service fail.
      let isTrusted = seen.trust == TLSChainTrust.trusted.rawValue
      if let worst = findings.first(where: \.isGrave) ?? (isTrusted ? nil : findings.last) {
        return Finding(
          subject: subject, level: .error, message: "reached at \(seen.address), but: \(worst.problem.withoutField)",
          remedy: "Nothing is sent there until its certificate is fixed. A proxy that intercepts TLS presents its own.")
      }
      let end: Message = seen.notAfter.map { ", certificates valid until \($0.text)" } ?? ""
      return Finding(subject: subject, level: .ok, message: "reached at \(seen.address)\(end)")
    }
  }
}
