import Certificates
import Foundation
import Glibc
import JSON
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

  private static let token = Random.token(bytes: 24)

  /// A data folder with one certificate that ends in so many days, and receivers.
  private func withData(
    days: Int, port: Int, receivers: [String] = ["ops@example.com"], _ body: (String) async throws -> Void
  ) async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let directory = DataDirectory(folder.path)
    let now = Date()
    let store = try directory.open(creating: true, now: now)
    let sealer = store.sealer
    try store.writeSync { database in
      var details = TrackedCertificate.Details(kind: "apns_certificate", name: "Shop push", fileName: "push.p12")
      (details.notAfter, details.sha256) = (now.addingTimeInterval(Double(days) * 86_400 + 3600), "AB:CD")
      _ = try TrackedCertificate.add(database, details, material: [1], sealer: sealer, by: "test", now: now)
      for address in receivers {
        _ = try Receiver.add(
          database, Receiver.Details(channel: .email, name: "Ops", target: address),
          Receiver.Secrets(address: address), sealer: sealer, by: "test", now: now)
      }
      let from = try #require(MailAddress("box@example.com"))
      try MailSettings.save(
        MailSettings(server: SMTPServer(host: "127.0.0.1", port: port, security: .none), from: from), database,
        sealer: sealer, now: now)
      try APIToken.add(
        database, name: "test", hash: Digest.sha256(Array(Self.token.utf8)), scopes: ["admin"], user: nil, now: now)
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

  @Test("ten processes at once and a server, over a mail server that takes its time: one mail each, tried once")
  func exactlyOnce() async throws {
    var mode = SMTPTestServer.Mode()
    mode.delay = 3
    let server = try SMTPTestServer(mode)
    // While one is sent, others go on to the next: whoever comes to it late must see that it is taken.
    let receivers = (1...4).map { "ops\($0)@example.com" }
    try await withData(days: 20, port: server.port, receivers: receivers) { data in
      let program = try Child.signalbox()
      let serve = try Child([program, "serve", "--data", data, "--listen", "127.0.0.1:0"], in: data)
      let children = try (0..<10).map { _ in
        try Child([program, "check-certificates", "--notify", "--no-probe", "--data", data], in: data)
      }
      for child in children {
        #expect(await child.status() == 1, "\(child.errorText)")
        let words = child.errorText
        #expect(words.isEmpty || words.contains("another process is sending it"), "\(words)")
      }
      let store = try DataDirectory(data).open(now: Date())
      defer { store.close() }
      try await eventually("the mails are sent") {
        try await store.read { try ReminderMessage.list($0, limit: 10).items.allSatisfy { $0.state == .sent } }
      }
      serve.send(SIGTERM)
      #expect(await serve.status() == 0, "\(serve.errorText)")
      #expect(try server.mails().flatMap(\.to).sorted() == receivers)
      #expect(try await store.read { try ReminderMessage.list($0, limit: 10).items.map(\.attempts) } == [1, 1, 1, 1])
    }
  }

  @Test("mails of the server, tests among them, link to where it listens, unless it is told another address")
  func links() async throws {
    for address in [nil, "https://push.example.com"] as [String?] {
      let server = try SMTPTestServer()
      try await withData(days: 20, port: server.port) { data in
        let named = address.map { ["--address", $0] } ?? []
        let serve = try Child(
          [try Child.signalbox(), "serve", "--data", data, "--listen", "127.0.0.1:0"] + named, in: data)
        defer { serve.send(SIGTERM) }
        try await eventually("the mail is sent") {
          guard serve.isRunning else { throw SceneError("serve ended: \(serve.errorText)") }
          return try !server.mails().isEmpty && serve.outputText.contains(" at http")
        }
        let own = try #require(serve.outputText.firstMatch(of: /at (http\S+)/)).1
        #expect(try server.mails().first?.text?.contains("\(own)/certificates/1") == true)
        if let address {
          #expect(own == address)
        } else {
          let port = try #require(own.split(separator: ":").last.flatMap { UInt16($0) })
          let tested = try TestClient(port).ask(
            "POST /api/v1/receivers/1/test HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(Self.token)\r\n"
              + "Content-Length: 0\r\nConnection: close\r\n\r\n")
          #expect(tested.status == 200, "\(tested.text)")
          let test = try #require(try server.mails().first { $0.headers["subject"] == "Signalbox: test message" })
          #expect(test.text?.contains("\(own)/certificates\n") == true, "\(test.text ?? "")")
          #expect(test.text?.contains("Reminders before certificates") == true, "it may go to who is no receiver")
        }
        serve.send(SIGTERM)
        #expect(await serve.status() == 0, "\(serve.errorText)")
      }
    }
  }

  @Test("a mail that nobody takes is exit 3, unless something is worse")
  func failing() async throws {
    let port = try SMTPTestServer().port  // ended at once
    try await withData(days: 20, port: port) { #expect(await run($0) == 3) }
    try await withData(days: 2, port: port) { #expect(await run($0) == 2) }
  }
}
