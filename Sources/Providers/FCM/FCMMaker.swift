import Foundation
import HTTP2
package import Model
import OpenSSL
import Reactor

/// FCM as one of the ``ProviderList``.
package struct FCMMaker: ProviderMaker {
  package init() {}

  package let kind = ProviderKind.fcm

  package func make(_ account: ProviderAccount, _ tools: ProviderTools) throws -> any Provider {
    let endpoint = Self.endpoint(account)
    return try FCMProvider(try Self.serviceAccount(account, endpoint), endpoint: endpoint, tools)
  }

  static func endpoint(_ account: ProviderAccount) -> FCMEndpoint {
    switch account.endpoint {
    case .service: FCMEndpoint()
    case .custom(let host, let port, let trust): FCMEndpoint(host: host, port: port, trust: trust)
    }
  }

  /// The simulator accepts any key, and issues access tokens itself.
  private static let simulatorKey = Result { try PrivateKey.generateRSA() }

  static func serviceAccount(_ account: ProviderAccount, _ endpoint: FCMEndpoint) throws -> ServiceAccount {
    guard let secret = account.secret, !account.isSimulator else {
      return ServiceAccount(
        projectID: "simulator", clientEmail: "signalbox@simulator.iam.gserviceaccount.com", privateKeyID: "simulator",
        tokenURI: "https://\(endpoint.authority)/token", key: try simulatorKey.get())
    }
    do {
      return try ServiceAccount(material: secret)
    } catch {
      throw ProviderProblem("The service account \(account.name) cannot be read. Upload it again.")
    }
  }

  /// The meaning of an answer for the credential (docs/protocols.md §3.2).
  package func verdict(_ result: SendResult) -> ProviderVerdict {
    switch result {
    case .outcome(.accepted): .taken(answer: "200")
    case .outcome(.rejected(let status, let reason, _)):
      Reason.of(reason).retry == .afterCredential || status == 403 || status == 404
        ? .refused(reason: reason) : .taken(answer: "\(status) \(reason)")
    case .notSent(let reason) where Reason.of(reason).retry == .afterCredential: .refused(reason: reason)
    case .outcome(.unknown(let reason)), .outcome(.skipped(let reason)), .notSent(let reason):
      .undecided(reason: reason)
    case .retry(let cause): .undecided(reason: cause.reason)
    }
  }
}

/// Where messages go.
package struct FCMEndpoint: Sendable, Hashable {
  package let host: String
  package let port: UInt16
  /// PEM certificates; nil: the system's.
  package let trust: [UInt8]?

  /// Google's, or another server: the simulator, or a proxy.
  package init(host: String = "fcm.googleapis.com", port: UInt16 = 443, trust: [UInt8]? = nil) {
    (self.host, self.port, self.trust) = (host, port, trust)
  }

  func endpoint(_ tools: ProviderTools) throws(TLSError) -> Endpoint {
    let tls = try TLSContext.client(trust: tools.trust(trust), identity: nil, alpn: ["h2"])
    return Endpoint(host: host, port: port, tls: tls)
  }

  fileprivate var authority: String {
    let host = host.contains(":") ? "[\(host)]" : host
    return "\(host):\(port)"
  }
}
