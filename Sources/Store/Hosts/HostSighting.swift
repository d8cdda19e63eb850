public import Foundation
import JSON
internal import Model
internal import SQLite
import Text

/// The certificates that a host showed.
public struct HostSighting: Sendable, Hashable {
  /// One certificate of the chain.
  public struct Link: Sendable, Hashable {
    /// Whom it is for.
    public let subject: String
    /// As `AB:CD:…`.
    public let sha256: String
    /// The last second in which it is valid.
    public let notAfter: Date

    /// Creates a link.
    public init(subject: String, sha256: String, notAfter: Date) {
      self.subject = subject
      self.sha256 = sha256
      self.notAfter = notAfter
    }
  }

  /// Where it was reached, as `192.0.2.1:443`.
  public let address: String
  /// As `TLSv1.3`.
  public let tlsVersion: String
  /// Of the host's own certificate.
  public let subject: String
  /// Of the host's own certificate.
  public let issuer: String
  /// Upper-case hexadecimal digits.
  public let serial: String
  /// Of the host's own certificate, as `AB:CD:…`.
  public let sha256: String
  /// Host names and addresses that it is for.
  public let names: [String]
  /// From when on.
  public let notBefore: Date?
  /// The host's own certificate first, then what it showed of its issuers.
  public let chain: [Link]
  /// A raw value of `TLSChainTrust`.
  public let trust: String
  /// Whether it is for the name that was asked for.
  public let nameMatches: Bool

  /// The earliest end in the chain: from then on it is not believed any more.
  public var ends: Link? { chain.min { $0.notAfter < $1.notAfter } }
  /// The end that counts.
  public var notAfter: Date? { ends?.notAfter }

  /// Creates a sighting.
  public init(
    address: String, tlsVersion: String, subject: String, issuer: String, serial: String, sha256: String,
    names: [String], notBefore: Date?, chain: [Link], trust: String, nameMatches: Bool
  ) {
    self.address = address
    self.tlsVersion = tlsVersion
    self.subject = subject
    self.issuer = issuer
    self.serial = serial
    self.sha256 = sha256
    self.names = names
    self.notBefore = notBefore
    self.chain = chain
    self.trust = trust
    self.nameMatches = nameMatches
  }

  /// For the column `chain`.
  var chainJSON: String {
    JSONValue.array(
      chain.map {
        [
          "subject": .string($0.subject), "sha256": .string($0.sha256),
          "not_after": .integer($0.notAfter.milliseconds),
        ]
      }
    ).text()
  }

  static func chain(_ text: String) throws -> [Link] {
    let json = try? JSONValue(parsing: Data(text.utf8))  // told below, with the column's name
    guard let links = json?.array else { throw StoreError.unreadable(column: "watched_hosts.chain", value: text) }
    return try links.map { link in
      guard let subject = link["subject"]?.string, let sha256 = link["sha256"]?.string,
        let notAfter = link["not_after"]?.integer
      else { throw StoreError.unreadable(column: "watched_hosts.chain", value: text) }
      return Link(subject: subject.singleLine, sha256: sha256, notAfter: Date(milliseconds: notAfter))
    }
  }
}
