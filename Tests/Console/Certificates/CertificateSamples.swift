import Certificates
import Foundation
import OpenSSL
import Model
import Store
import TestSupport

/// Certificates as Apple would issue them, made here.
enum CertificateSamples {
  /// A push certificate with its key, encrypted with the password `secret`.
  ///
  /// - Parameters:
  ///   - days: until it expires.
  ///   - begin: days until it is valid.
  static func p12(
    topic: String = ConsoleScene.bundleID, days: Double, begin: Double = -0.01, extensions: AppleMarks? = nil
  ) throws -> [UInt8] {
    let noon = ConsoleScene.noon
    let authority = try CertificateAuthority(
      subject: [.init(oid: "2.5.4.3", value: "Test CA")], notBefore: noon - 1e6, notAfter: noon + 1e9)
    let (certificate, key) = try authority.issue(
      .applePush(
        topic: topic, team: "TEAM123456", extensions: extensions, notBefore: noon + begin * 86_400,
        notAfter: noon + days * 86_400))
    return Array(try PKCS12.create(certificate: certificate, key: key, password: "secret"))
  }

  /// Keeps one.
  ///
  /// - Parameters:
  ///   - days: until it expires.
  ///   - begin: days until it is valid.
  /// - Returns: its id.
  static func keep(
    _ scene: ConsoleScene, topic: String = ConsoleScene.bundleID, days: Double = 365, begin: Double = -0.01
  ) async throws -> Int64 {
    let file = try CertificateFile.inspect(
      data: Data(try p12(topic: topic, days: days, begin: begin)), fileName: "push.p12", password: "secret")
    let sealer = scene.store.sealer
    return try await scene.store.write { database in
      try CertificateTracker.keep(
        database, file, .init(fileName: "push.p12"), sealer: sealer, by: "test", now: ConsoleScene.noon
      ).id
    }
  }
}
