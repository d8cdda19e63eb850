import Console
import Foundation
import SQLite
import Store
import Testing

@Suite("Pages: what needs attention")
struct AttentionTests {
  @Test(
    "the Overview says when a certificate expires, expired or becomes valid, and that one is never valid",
    arguments: [
      (-0.5, 20.0, "expires on 10 Dec 2026, 12:00 UTC"), (-0.5, -0.1, "expired on 20 Nov 2026, 09:36 UTC"),
      (10.0, 20.0, "is not valid before 30 Nov 2026, 12:00 UTC"),
      (20.0, 10.0, "is never valid: it expires before it becomes valid"),
    ])
  func dates(begin: Double, end: Double, words: String) async throws {
    try await ConsoleScene.with { scene in
      _ = try await CertificateSamples.keep(scene, days: end, begin: begin)
      var rita = try await scene.signIn(.viewer)
      let page = ScenePage(try await rita.get("/"))
      #expect(page.text.contains(words))
      // Ten days are left until it ends, but nothing of its validity.
      #expect(page.text.contains("Never valid") == (begin > end))
      #expect(!page.text.contains("10 days left"))
      // It is not renewed, but waited for: the days until its end say nothing.
      let isEarly = begin > 0 && begin < end
      #expect(page.text.contains("Not yet valid") == isEarly && page.text.contains("Renew") != isEarly)
    }
  }

  @Test("failures stand above what only waits, and the sentence on top names the first row")
  func order() async throws {
    try await ConsoleScene.with { scene in
      try await ApprovalPageTests.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      _ = try await ben.post("/pushes", ApprovalPageTests.fields)
      _ = try await CertificateSamples.keep(scene, days: -0.1, begin: -0.5)
      let page = ScenePage(try await ben.get("/"))
      let rows = page.tags.filter { $0.name == "h3" }.map(\.text)
      let expired = try #require(rows.firstIndex { $0.contains("expired on") })
      let waiting = try #require(rows.firstIndex { $0.contains("1 push needs approval") })
      #expect(expired < waiting)
      let lead = try #require(page.tags.first { $0.attributes["class"] == "lead" }?.text)
      #expect(lead.contains(rows[0].trimmingCharacters(in: ["."])), "\(lead)")
    }
  }

  @Test("a receiver that takes no reminders is named once, however many wait for it")
  func stuck() async throws {
    try await ConsoleScene.with { scene in
      let sealer = scene.store.sealer
      try await scene.store.write { database in
        let receiver = try Receiver.add(
          database,
          Receiver.Details(channel: .webhook, name: "Hook", target: "hook.example.com", language: "en", appID: nil),
          Receiver.Secrets(address: "https://hook.example.com"), sealer: sealer, by: "anna", now: ConsoleScene.noon)
        for uid in ["m1", "m2"] {
          try ReminderMessage.add(database, uid: uid, to: receiver, reminders: [], now: ConsoleScene.noon)
        }
        try database.run("UPDATE reminder_messages SET attempts = 5")
      }
      var anna = try await scene.signIn(.admin)
      let page = ScenePage(try await anna.get("/"))
      let rows = page.tags.filter { $0.name == "h3" }.map(\.text).filter { $0.contains("hook.example.com") }
      #expect(rows.count == 1, "\(rows)")
    }
  }

  @Test("everyone sees that certificates are no longer checked; only admins get the link to the settings")
  func reminderSettings() async throws {
    try await ConsoleScene.with { scene in
      let run = CheckRun(source: .cron, at: ConsoleScene.noon.addingTimeInterval(-37 * 3600), exitCode: 0)
      try await scene.store.write { try run.keep($0) }
      for role in User.Role.allCases {
        var browser = try await scene.signIn(role)
        let page = ScenePage(try await browser.get("/"))
        #expect(page.text.contains("The cron job last checked certificates on"), "\(role)")
        #expect(page.links.contains("/settings/reminders") == (role == .admin), "\(role)")
      }
    }
  }
}
