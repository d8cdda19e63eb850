import Foundation
import JSON
import Model
import Providers

@testable import Certificates
@testable import OpenSSL

/// Files with certificates, keys and accounts.
extension FuzzTarget {
  /// Files may ask for few rounds of key derivation, by the product's own bound: more are the business of OpenSSL, and a
  /// few changed bytes ask for seconds, also in Base64 and for a checksum.
  private static func withFewRounds(_ read: () -> Void) { KeyDerivationCost.$limit.withValue(128, operation: read) }

  /// Any file, as it is uploaded.
  static func inspect(_ bytes: [UInt8]) {
    withFewRounds {
      for password in [nil, "secret"] {
        do throws(FileProblem) {
          let file = try CertificateFile.inspect(
            data: Data(bytes), fileName: "AuthKey_ABC123DEFG.p8", password: password)
          return isJSON(JSONWriter.bytes(of: CertificateFileAnswer(file, now: noon)))
        } catch {
          precondition(!"\(error)".isEmpty)
          // For other files the password does not matter.
          guard error == .passwordNeeded else { return }
        }
      }
    }
  }

  private static func isJSON(_ bytes: [UInt8]) {
    precondition((try? JSONValue(parsing: bytes)) != nil, "writes no JSON")
  }

  /// In DER form. Also what stands beside certificates in such files: requests and public keys.
  static func readCertificate(_ bytes: [UInt8]) {
    guard let certificate = try? Certificate(der: bytes) else {
      if let request = CertificateRequest(der: Data(bytes)) { _ = request.subject.description }
      if let key = PublicKey(der: bytes) { precondition(PublicKey(der: key.der) == key, "another key") }
      return
    }
    isJSON(CertificateSummary(certificate).json.bytes)
    let (apple, role) = (certificate.appleExtensions, CertificateRole.of(certificate).role)
    precondition(apple.topics == nil || apple.hasTopicList, "topics without a list")
    // A form that depends on nothing but the certificate.
    guard let again = try? Certificate.pemBundle(certificate.pem) else { preconditionFailure("its own PEM is refused") }
    precondition(again == [certificate] && CertificateRole.of(again[0]).role == role, "reads its own PEM differently")
  }

  /// Text in PEM form, without a password.
  static func readPEM(_ bytes: [UInt8]) {
    if let blocks = try? PEMBlock.all(in: bytes) {
      for block in blocks where block.isCertificate && block.headers.isEmpty && !block.content.isEmpty {
        let again = try? PEMBlock.all(in: Array(block.text.utf8))
        precondition(again == [block], "reads its own block differently")
      }
    }
    withFewRounds { _ = try? CertificateFile.inspect(data: Data(bytes)) }  // both endings are right
  }

  static func openPKCS12(_ bytes: [UInt8]) { withFewRounds { checkPKCS12(bytes) } }

  private static func checkPKCS12(_ bytes: [UInt8]) {
    guard let file = try? PKCS12.open(bytes, password: "secret") else { return }
    precondition(Set(file.certificates).count == file.certificates.count, "a certificate twice")
    precondition(
      file.others.count + (file.certificate == nil ? 0 : 1) == file.certificates.count, "a certificate was lost")
    guard let key = file.key, let certificate = file.certificate else { return }
    precondition(key.matches(certificate), "a key of somebody else")
  }

  /// In DER form or, as Apple's `.p8`, in PEM form.
  static func readPrivateKey(_ bytes: [UInt8]) { withFewRounds { checkPrivateKey(bytes) } }

  private static func checkPrivateKey(_ bytes: [UInt8]) {
    let key: PrivateKey? =
      if bytes.first == 0x30 {
        try? PrivateKey(der: bytes, password: "secret")
      } else {
        try? PrivateKey(p8: String(decoding: bytes, as: UTF8.self))
      }
    guard let key, case .ellipticCurve = key.algorithm, key.isSound else { return }
    guard let again = try? PrivateKey(pem: key.pkcs8PEM) else { preconditionFailure("its own PEM is refused") }
    precondition(again.publicKey == key.publicKey, "reads its own PEM differently")
  }

  /// The property list of a `.mobileprovision`, or the signed file.
  static func readProfile(_ bytes: [UInt8]) {
    var list = Data(bytes)
    if bytes.first == 0x30 {
      // OpenSSL may take a signer whose certificate we do not: one with impossible dates.
      guard let message = try? CMSMessage(der: bytes) else { return }
      precondition(message.certificates.count <= 32, "more certificates than allowed")
      list = message.content
    }
    guard let profile = try? ProvisioningProfile(propertyList: list, isIntact: false) else { return }
    isJSON(profile.json.bytes)
    precondition(profile.bundleID?.hasSuffix("*") != true, "a bundle ID with a wildcard")
    precondition(profile.entitlements.count <= 100 && profile.name.count <= 200, "longer than allowed")
    precondition(!(profile.name + profile.appID + profile.uuid).contains(where: \.isNewline), "more than one line")
  }

  static func readServiceAccount(_ bytes: [UInt8]) {
    reading(bytes) { json in
      let account = try ServiceAccount(json: json)
      guard let again = try? ServiceAccount(material: account.material) else {
        preconditionFailure("its own JSON is refused")
      }
      precondition(again.clientEmail == account.clientEmail && again.tokenURI == account.tokenURI, "another account")
      precondition(again.key.publicKey == account.key.publicKey, "another key")
    }
  }
}
