package import Foundation
package import Model
package import Store
import Text

/// An item whose expiry is watched.
package struct TrackedExpiry: Sendable, Hashable {
  /// Its place in the console and the store, e.g. `certificates/12`; nil if it is not stored.
  package var key: String?
  /// A single line such as `Apple Push Services: com.example.app`. May come from an untrusted file: escape it.
  package var name: String
  package var kind: CertificateKind
  /// The app's display name.
  package var app: String?
  package var topics: [String]
  package var environments: [Model.Environment]
  /// Upper-case hexadecimal digits.
  package var serial: String?
  /// As `AB:CD:…`.
  package var sha256: String?
  /// The first second of validity.
  package var notBefore: Date?
  /// The last second of validity; nil without an expiry.
  package var notAfter: Date?
  /// The issuer that sets ``notAfter`` because it expires first; nil: the item's own expiry counts.
  package var endingIssuer: String?

  package init(
    key: String? = nil, name: String, kind: CertificateKind, app: String? = nil, topics: [String] = [],
    environments: [Model.Environment] = [], serial: String? = nil, sha256: String? = nil, notBefore: Date? = nil,
    notAfter: Date? = nil, endingIssuer: String? = nil
  ) {
    (self.key, self.kind, self.app, self.environments) = (key, kind, app, environments)
    (self.serial, self.sha256, self.notBefore, self.notAfter) = (serial, sha256, notBefore, notAfter)
    (self.name, self.topics) = (name.singleLine, topics.map(\.singleLine))
    self.endingIssuer = endingIssuer?.singleLine
  }

  package func daysLeft(now: Date) -> Int? { Expiry.daysLeft(notAfter: notAfter, now: now) }

  package func band(now: Date, within days: Int = Expiry.warningDays) -> Expiry.Band {
    Expiry.band(notBefore: notBefore, notAfter: notAfter, now: now, within: days)
  }
}

extension WatchedHost {
  /// As `hosts/3`.
  package var key: String { "hosts/\(id)" }

  /// The address, and the requested server name if it differs.
  package var name: String { address.serverName == address.host ? "\(address)" : "\(address) (\(address.serverName))" }
}

extension TrackedExpiry {
  /// The last sighting's certificate; nil if there is none yet.
  package init?(_ host: WatchedHost) {
    guard let seen = host.seen else { return nil }
    self.init(
      key: host.key, name: host.name, kind: .host, serial: seen.serial, sha256: seen.sha256,
      notBefore: seen.notBefore, notAfter: seen.notAfter,
      endingIssuer: seen.ends.flatMap { $0 == seen.chain.first ? nil : $0.subject })
  }
}
