import Foundation
import Reminders
import Store
import TestSupport
import Testing

@Suite("Reminders: watched hosts")
struct HostReminderTests {
  private static let noon = ReminderScene.noon

  private static func sighting(_ sha256: String, days: Double) -> HostSighting {
    HostSighting(
      address: "192.0.2.1:443", tlsVersion: "TLSv1.3", subject: "CN=mail", issuer: "CN=R11", serial: "01",
      sha256: sha256,
      names: ["mail.example.com"], notBefore: noon - 86_400,
      chain: [.init(subject: "mail", sha256: sha256, notAfter: noon + days * 86_400)], trust: "trusted",
      nameMatches: true)
  }

  @Test("acknowledged: quiet until the day, then that day's step; a new certificate restarts")
  func quiet() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      try await scene.receiver("ops@example.com")
      let host = try await scene.store.write { database in
        let host = try WatchedHost.add(
          database, HostAddress(host: "mail.example.com", port: 443), by: "lin", now: Self.noon)
        try WatchedHost.note(
          database, id: host.id, at: host.address, .success(Self.sighting("AB", days: 29)), now: Self.noon)
        return host
      }
      let subject = Acknowledgement.Subject(key: "hosts/\(host.id)", fingerprint: "AB")
      let until = Self.noon + 25 * 86_400
      try await scene.store.write {
        try Acknowledgement.set($0, subject, by: "lin", until: until, now: Self.noon)
      }
      for day in 0..<25 {
        #expect(try await scene.worker(.cron).look(now: Self.noon + Double(day) * 86_400).sent == 0)
      }
      #expect(try await scene.worker(.cron).look(now: until).sent == 1)
      #expect(try await scene.steps()[subject] == [7])
      try await scene.store.write { database in
        try WatchedHost.note(
          database, id: host.id, at: host.address, .success(Self.sighting("CD", days: 40)), now: until)
        try Acknowledgement.set(database, subject, by: "lin", until: until + 86_400, now: until)
      }
      #expect(try await scene.worker(.cron).look(now: until).sent == 1, "the old one's word is not the new one's")
      #expect(try server.mails().count == 2)
    }
  }
}
