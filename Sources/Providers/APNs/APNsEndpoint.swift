import HTTP2
import OpenSSL
package import Model

/// Where APNs is.
package enum APNsEndpoint: Sendable, Hashable {
  /// `api.push.apple.com`.
  case production
  /// `api.sandbox.push.apple.com`.
  case development
  /// Another server: the simulator, or a proxy. `trust` holds certificates in PEM form, nil: the system's.
  case custom(host: String, port: UInt16, trust: [UInt8]?)

  /// Apple's server for an environment.
  package init(_ environment: Environment) { self = environment == .production ? .production : .development }

  /// Host name or address.
  package var host: String {
    switch self {
    case .production: "api.push.apple.com"
    case .development: "api.sandbox.push.apple.com"
    case .custom(let host, _, _): host
    }
  }

  /// TCP port.
  package var port: UInt16 { if case .custom(_, let port, _) = self { port } else { 443 } }

  func endpoint(_ credentials: APNsCredentials) throws(TLSError) -> Endpoint {
    var trust = TLSTrust.system
    if case .custom(_, _, let pem?) = self { trust = .pem(pem) }
    let tls = try TLSContext.client(trust: trust, identity: credentials.identity, alpn: ["h2"])
    return Endpoint(host: host, port: port, tls: tls)
  }
}
