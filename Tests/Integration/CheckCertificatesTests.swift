import Certificates
import Foundation
import OpenSSL
import SQLite
import Store
import TestSupport
import Testing

@testable import signalbox

@Suite("signalbox check-certificates")
struct CheckCertificatesTests {
  private func withData(_ body: (String) throws -> Void) throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    try body(folder.path)
  }

  @Test(
    "the exit code tells what is kept: fine, soon, urgent or expired",
    arguments: [(31, Int32(0)), (29, 1), (6, 2), (-1, 2)])
  func exitCodes(days: Int, code: Int32) throws {
    try withData { data in
      let now = Date()
      let authority = try CertificateAuthority(
        subject: [.commonName("Test CA")], notBefore: now - 86_400 * 400, notAfter: now + 86_400 * 4000)
      let (certificate, _) = try authority.issue(
        .applePush(
          topic: "com.example.shop", team: "TEAM123456", notBefore: now - 86_400 * 300,
          notAfter: now + 86_400 * Double(days) + 3600))
      let file = try CertificateFile.inspect(data: Data(certificate.der), fileName: "push.cer", password: nil)
      let store = try Store.open(path: data + "/signalbox.sqlite", sealer: SealingKey(), now: now)
      try store.writeSync { database in
        _ = try CertificateTracker.keep(
          database, file, .init(fileName: "push.cer"), sealer: store.sealer, by: "test", now: now)
      }
      store.close()
      #expect(CheckCertificatesCommand.run(data: data, days: 30, isJSON: false) == code)
    }
  }

  @Test("without a database, or with something else in its place, the answer is: could not tell")
  func cannotTell() throws {
    try withData { data in
      #expect(CheckCertificatesCommand.run(data: data, days: 30, isJSON: false) == 3)
      try Data("not a database, but long enough to be looked at as one".utf8).write(
        to: URL(fileURLWithPath: data + "/signalbox.sqlite"))
      #expect(CheckCertificatesCommand.run(data: data, days: 30, isJSON: true) == 3)
    }
  }
}
