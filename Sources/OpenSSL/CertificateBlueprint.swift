package import Foundation

/// What a certificate that is to be made shall say.
package struct CertificateBlueprint: Sendable, Hashable {
  /// What a certificate is good for.
  package enum Purpose: Sendable, Hashable {
    /// Signs other certificates.
    case authority
    /// A TLS server.
    case server
    /// A TLS client.
    case client
    /// Nothing is said of it.
    case unspecified
  }

  /// In the order in which they shall stand.
  package var subject: [DistinguishedName.Attribute]
  /// The first second in which it is valid.
  package var notBefore: Date
  /// The last second in which it is valid.
  package var notAfter: Date
  /// What it is good for.
  package var purpose: Purpose
  /// Host names, and addresses as `127.0.0.1` or `::1`.
  package var alternativeNames: [String]
  /// Further ones.
  package var extensions: [CertificateExtension]
  package init(
    subject: [DistinguishedName.Attribute], notBefore: Date, notAfter: Date, purpose: Purpose = .unspecified,
    alternativeNames: [String] = [], extensions: [CertificateExtension] = []
  ) {
    self.subject = subject
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.purpose = purpose
    self.alternativeNames = alternativeNames
    self.extensions = extensions
  }
}
