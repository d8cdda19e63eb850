import Foundation
import HTTP2
package import Model
import OpenSSL
import Reactor

/// JPush as one of the ``ProviderList``: iPhones and Android phones in both environments.
package struct JPushMaker: ProviderMaker {
  package init() {}

  package let kind = ProviderKind.jpush

  package func make(_ account: ProviderAccount, _ tools: ProviderTools) throws -> any Provider {
    try JPushProvider(
      try Self.keys(account), environment: account.environment, endpoint: JPushEndpoint(account.endpoint), tools)
  }

  static func keys(_ account: ProviderAccount) throws -> JPushKeyPair {
    guard let secret = account.secret else {
      // The simulator accepts any.
      return try JPushKeyPair(
        appKey: String(repeating: "a", count: JPushKeyPair.digits),
        masterSecret: String(repeating: "b", count: JPushKeyPair.digits))
    }
    guard let keys = JPushKeyPair(material: secret) else {
      throw ProviderProblem("The JPush keys \(account.name) cannot be read. Upload them again.")
    }
    return keys
  }

  /// The meaning of an answer for the credential (docs/protocols.md §4.3).
  package func verdict(_ result: SendResult) -> ProviderVerdict {
    switch result {
    case .outcome(.accepted): .taken(answer: "200")
    case .outcome(.rejected(let status, let reason, _)):
      Reason.of(reason).retry == .afterCredential || status == 401 || status == 403
        ? .refused(reason: reason)
        : status == 400 ? .taken(answer: "\(status) \(reason)") : .undecided(reason: "\(status) \(reason)")
    case .notSent(let reason) where Reason.of(reason).retry == .afterCredential: .refused(reason: reason)
    case .outcome(.unknown(let reason)), .outcome(.skipped(let reason)), .notSent(let reason):
      .undecided(reason: reason)
    case .retry(let cause): .undecided(reason: cause.reason)
    }
  }
}

/// Where JPush answers (docs/protocols.md §4.1).
struct JPushEndpoint: Sendable, Hashable {
  /// Nil: JPush's own, of which each part of its API has one.
  let host: String?
  let port: UInt16
  /// PEM certificates; nil: the system's.
  let trust: [UInt8]?

  init(_ endpoint: ProviderEndpoint) {
    switch endpoint {
    case .service: (host, port, trust) = (nil, 443, nil)
    case .custom(let host, let port, let trust): (self.host, self.port, self.trust) = (host, port, trust)
    }
  }

  func endpoint(_ family: JPushFamily, _ tools: ProviderTools) throws(TLSError) -> Endpoint {
    let tls = try TLSContext.client(trust: tools.trust(trust), identity: nil, alpn: ["h2"])
    return Endpoint(host: host ?? family.host, port: port, tls: tls)
  }
}

extension JPushFamily {
  fileprivate var host: String {
    switch self {
    case .push, .schedule: "api.jpush.cn"
    case .device: "device.jpush.cn"
    case .report: "report.jpush.cn"
    }
  }
}
