package import Foundation
package import Model
import Text

/// One thing whose end is watched.
package struct TrackedExpiry: Sendable, Hashable {
  /// Where it stands in the console and in the store, as `certificates/12`; nil if it is not kept.
  package var key: String?
  /// As `Apple Push Services: com.example.app`, a single line. May come from a stranger's file: escape it.
  package var name: String
  /// What sort of thing it is.
  package var kind: CertificateKind
  /// The name under which people know whom it is for.
  package var app: String?
  /// What it is good for.
  package var topics: [String]
  /// Where it is good.
  package var environments: [Model.Environment]
  /// Upper-case hexadecimal digits.
  package var serial: String?
  /// As `AB:CD:…`.
  package var sha256: String?
  /// The first second in which it is valid.
  package var notBefore: Date?
  /// The last second in which it is valid, nil if it has no end.
  package var notAfter: Date?
  /// Which of its issuers ends at ``notAfter``, before it would itself; nil: it is its own end.
  package var endingIssuer: String?

  /// Creates a thing to watch.
  package init(
    key: String? = nil, name: String, kind: CertificateKind, app: String? = nil, topics: [String] = [],
    environments: [Model.Environment] = [], serial: String? = nil, sha256: String? = nil, notBefore: Date? = nil,
    notAfter: Date? = nil, endingIssuer: String? = nil
  ) {
    self.key = key
    self.name = name.singleLine
    self.kind = kind
    self.app = app
    self.topics = topics.map(\.singleLine)
    self.environments = environments
    self.serial = serial
    self.sha256 = sha256
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.endingIssuer = endingIssuer?.singleLine
  }

  /// Whole days that are left; see ``Expiry/daysLeft(notAfter:now:)``.
  package func daysLeft(now: Date) -> Int? { Expiry.daysLeft(notAfter: notAfter, now: now) }

  /// How urgent its renewal is; see ``Expiry/band(notBefore:notAfter:now:within:)``.
  package func band(now: Date, within days: Int = Expiry.warningDays) -> Expiry.Band {
    Expiry.band(notBefore: notBefore, notAfter: notAfter, now: now, within: days)
  }
}
