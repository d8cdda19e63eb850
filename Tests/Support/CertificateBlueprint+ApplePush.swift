package import Certificates
package import Foundation
package import OpenSSL

extension CertificateBlueprint {
  /// A certificate in the form of Apple's push certificates.
  ///
  /// - Parameters:
  ///   - topic: the app's bundle ID.
  ///   - team: the team ID, 10 characters.
  package static func applePush(
    topic: String, team: String, extensions: AppleMarks? = nil, notBefore: Date, notAfter: Date
  ) -> CertificateBlueprint {
    let extensions =
      extensions
      ?? AppleMarks(
        isDevelopment: true, isProduction: true,
        topics: [
          .init(name: topic, kinds: ["app"]), .init(name: "\(topic).voip", kinds: ["voip"]),
          .init(name: "\(topic).complication", kinds: ["complication"]),
        ])
    let name =
      switch (extensions.isVoIP, extensions.isDevelopment, extensions.isProduction) {
      case (true, _, _): "VoIP Services: \(topic)"
      case (_, true, false): "Apple Development IOS Push Services: \(topic)"
      case (_, false, true) where extensions.topics == nil: "Apple Production IOS Push Services: \(topic)"
      default: "Apple Push Services: \(topic)"
      }
    // X.520 limits a common name to 64 characters, and OpenSSL enforces it.
    return CertificateBlueprint(
      subject: [
        .userID(topic), .commonName(String(name.prefix(64))), .organizationalUnit(team), .organization(team),
        .init(oid: "2.5.4.6", value: "US"),
      ], notBefore: notBefore, notAfter: notAfter, purpose: .client, extensions: extensions.extensions)
  }
}

/// Apple's extensions of a push certificate to make; ``AppleExtensions`` reads them.
package struct AppleMarks: Sendable {
  let isDevelopment: Bool
  let isProduction: Bool
  let isVoIP: Bool
  let topics: [AppleExtensions.Topic]?

  package init(
    isDevelopment: Bool, isProduction: Bool, isVoIP: Bool = false, topics: [AppleExtensions.Topic]? = nil
  ) {
    (self.isDevelopment, self.isProduction) = (isDevelopment, isProduction)
    (self.isVoIP, self.topics) = (isVoIP, topics)
  }

  package var extensions: [CertificateExtension] {
    let marks = [(isDevelopment, 1), (isProduction, 2), (isVoIP, 3)].filter { $0.0 }
    let list = topics.map { topics in
      DER.encode(
        sequence: topics.flatMap { [Self.text($0.name), DER.encode(sequence: $0.kinds.map(Self.text))] })
    }
    return marks.map { Self.one($0.1, DER.encode(DER.null, [])) } + (list.map { [Self.one(isVoIP ? 4 : 6, $0)] } ?? [])
  }

  private static func one(_ number: Int, _ value: [UInt8]) -> CertificateExtension {
    CertificateExtension(oid: "1.2.840.113635.100.6.3.\(number)", value: Data(value))
  }

  private static func text(_ text: String) -> [UInt8] { DER.encode(DER.utf8String, text.utf8) }
}
