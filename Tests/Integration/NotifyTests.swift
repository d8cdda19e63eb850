import Certificates
import Foundation
import Mail
import OpenSSL
import Reminders
import Store
import TestSupport
import Testing

@testable import signalbox

@Suite("signalbox check-certificates --notify")
struct NotifyTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// A data folder with one certificate that ends in so many days, and a receiver.
  private func withData(days: Int, port: Int, _ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let directory = DataDirectory(folder.path)
    let now = Date()
    let store = try directory.open(creating: true, now: now)
    let sealer = store.sealer
    try store.writeSync { database in
      var details = TrackedCertificate.Details(kind: "apns_certificate", name: "Shop push", fileName: "push.p12")
      (details.notAfter, details.sha256) = (now.addingTimeInterval(Double(days) * 86_400 + 3600), "AB:CD")
      _ = try TrackedCertificate.add(database, details, material: [1], sealer: sealer, by: "test", now: now)
      _ = try Receiver.add(
        database, Receiver.Details(channel: .email, name: "Ops", target: "ops@example.com"),
        Receiver.Secrets(address: "ops@example.com"), sealer: sealer, by: "test", now: now)
      let from = try #require(MailAddress("box@example.com"))
      try MailSettings.save(
        MailSettings(server: SMTPServer(host: "127.0.0.1", port: port, security: .none), from: from), database,
        sealer: sealer, now: now)
    }
    store.close()
    try await body(folder.path)
  }

  private func run(_ data: String) async -> Int32 {
    await CheckCertificatesCommand.notifying(
      data: data, days: 30, isJSON: false, address: "https://push.example.com", resources: Self.root)
  }

  @Test("one mail for each step, however often it runs; the exit code stays the certificates'")
  func once() async throws {
    let server = try SMTPTestServer()
    try await withData(days: 20, port: server.port) { data in
      for _ in 0..<3 { #expect(await run(data) == 1) }
      let mails = try server.mails()
      #expect(mails.map { $0.headers["subject"] } == ["Shop push: 20 days left"])
      #expect(mails.first?.text?.contains("https://push.example.com/certificates/1") == true)
    }
  }

  @Test("a mail that nobody takes is exit 3, unless something is worse")
  func failing() async throws {
    let port = try SMTPTestServer().port  // ended at once
    try await withData(days: 20, port: port) { #expect(await run($0) == 3) }
    try await withData(days: 2, port: port) { #expect(await run($0) == 2) }
  }
}
