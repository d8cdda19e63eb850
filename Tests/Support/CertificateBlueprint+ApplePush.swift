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
    topic: String, team: String, extensions: AppleExtensions? = nil, notBefore: Date, notAfter: Date
  ) -> CertificateBlueprint {
    let extensions =
      extensions
      ?? AppleExtensions(
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
        .country("US"),
      ], notBefore: notBefore, notAfter: notAfter, purpose: .client, extensions: extensions.extensions)
  }
}
