import Certificates
import Foundation
import OpenSSL
import Model
import Store
import TestSupport
import Testing

@testable import signalbox

/// What people bring to the certificates page.
extension BrowserScene {
  static let filePassword = "open sesame"

  /// A push certificate with its key in a file; its path.
  func pushFile(
    _ name: String = "push.p12", topic: String = "com.example.shop", daysLeft: Int,
    encryption: PKCS12.Encryption = .modern
  ) throws -> String {
    let now = Date()
    let authority = try CertificateAuthority(
      subject: [.commonName("Test CA")], notBefore: now - 86_400 * 400, notAfter: now + 86_400 * 4000)
    let (certificate, key) = try authority.issue(
      .applePush(
        topic: topic, team: "TEAM123456", notBefore: now - 86_400 * Double(365 - min(daysLeft, 364)),
        notAfter: now + 86_400 * Double(daysLeft) + 3600))
    let file = folder.appendingPathComponent(name)
    try PKCS12.create(certificate: certificate, key: key, password: Self.filePassword, encryption: encryption)
      .write(to: file)
    return file.path
  }

  /// Brings a file in the browser; its number.
  func keep(_ file: String) async throws -> Int64 {
    try await open("/certificates")
    try await browser.find("#file").type(file)
    try await fill("password", Self.filePassword)
    try await press("Save")
    try await sees("File saved. Its expiry is being watched.")
    return try #require(try await service.store.read { try TrackedCertificate.all($0).map(\.id).max() })
  }

  /// Sends all that the demo's app sends with a certificate, to the simulator.
  func bind(_ certificate: Int64) async throws {
    try await service.store.write { database in
      for credential in try Credential.all(database) {
        try Credential.bind(
          database, app: credential.appID, provider: .apns, environment: credential.environment,
          certificate: certificate, endpoint: "simulator", now: Date())
      }
    }
  }
}
