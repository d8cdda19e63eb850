package import Foundation
import JSON
internal import Model
internal import SQLite
import Text

/// The certificates that a host presented.
package struct HostSighting: Sendable, Hashable {
  package struct Link: Sendable, Hashable {
    package let subject: String
    /// As `AB:CD:…`.
    package let sha256: String
    /// The last valid second.
    package let notAfter: Date
    /// Whether clients do without it on their way to an authority.
    package let isSurplus: Bool
    package init(subject: String, sha256: String, notAfter: Date, isSurplus: Bool = false) {
      (self.subject, self.sha256, self.notAfter, self.isSurplus) = (subject, sha256, notAfter, isSurplus)
    }
  }

  /// The reached address, such as `192.0.2.1:443`.
  package let address: String
  /// As `TLSv1.3`.
  package let tlsVersion: String
  /// Of the host's own certificate.
  package let subject: String
  /// Of the host's own certificate.
  package let issuer: String
  /// Upper-case hexadecimal digits.
  package let serial: String
  /// Of the host's own certificate, as `AB:CD:…`.
  package let sha256: String
  /// Its host names and addresses.
  package let names: [String]
  package let notBefore: Date?
  /// The host's own certificate first, then the others that it sent.
  package let chain: [Link]
  /// A raw value of `TLSChainTrust`.
  package let trust: String
  /// Whether it matches the requested name.
  package let nameMatches: Bool

  /// Those of ``chain`` that clients need.
  package var path: [Link] { chain.filter { !$0.isSurplus } }
  package var ends: Link? { path.min { $0.notAfter < $1.notAfter } }
  /// The earliest end on the way to an authority, after which the host is not trusted.
  package var notAfter: Date? { ends?.notAfter }
  package init(
    address: String, tlsVersion: String, subject: String, issuer: String, serial: String, sha256: String,
    names: [String], notBefore: Date?, chain: [Link], trust: String, nameMatches: Bool
  ) {
    (self.address, self.tlsVersion, self.subject, self.issuer) = (address, tlsVersion, subject, issuer)
    (self.serial, self.sha256, self.names, self.notBefore) = (serial, sha256, names, notBefore)
    (self.chain, self.trust, self.nameMatches) = (chain, trust, nameMatches)
  }

  /// For the column `chain`.
  var chainJSON: String {
    JSONValue.array(
      chain.map {
        [
          "subject": .string($0.subject), "sha256": .string($0.sha256),
          "not_after": .integer($0.notAfter.milliseconds), "surplus": .bool($0.isSurplus),
        ]
      }
    ).text()
  }

  static func chain(_ text: String) throws -> [Link] {
    let json = try? JSONValue(parsing: Data(text.utf8))  // reported below with the column's name
    guard let links = json?.array else { throw StoreError.unreadable(column: "watched_hosts.chain", value: text) }
    return try links.map { link in
      guard let subject = link["subject"]?.string, let sha256 = link["sha256"]?.string,
        let notAfter = link["not_after"]?.integer
      else { throw StoreError.unreadable(column: "watched_hosts.chain", value: text) }
      // Rows of earlier versions do not say.
      return Link(
        subject: subject.singleLine, sha256: sha256, notAfter: Date(milliseconds: notAfter),
        isSurplus: link["surplus"]?.bool ?? false)
    }
  }
}
