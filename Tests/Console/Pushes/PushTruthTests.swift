import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Store
import Testing

@testable import Console

/// Headings, rows and the API say what became of a push, and nothing better.
@Suite("Pages: what became of a push")
struct PushTruthTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// What the service says to each device.
    let answer: @Sendable (Int64) -> SendResult
    let heading: String
    let row: String
    let result: String
  }

  private static let refused = SendResult.outcome(
    .rejected(status: 403, reason: "InvalidProviderToken", tokenInvalidSince: nil))
  private static let bad = SendResult.outcome(.rejected(status: 400, reason: "BadTopic", tokenInvalidSince: nil))

  static let cases = [
    Case(
      testDescription: "all accepted", answer: { _ in .outcome(.accepted) },
      heading: "Accepted for 4 of 4 devices", row: "4 of 4 accepted", result: "accepted"),
    Case(
      testDescription: "each refused", answer: { _ in bad }, heading: "None of 4 devices was reached",
      row: "Reached nobody", result: "nobody"),
    Case(
      testDescription: "one refused", answer: { $0 == 1 ? bad : .outcome(.accepted) }, heading: "1 of 4 devices failed",
      row: "1 of 4 failed", result: "partly"),
  ]

  @Test("heading, history and API agree", arguments: cases)
  func outcome(_ expected: Case) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      scene.provider.answer { expected.answer($0.id) }
      let uid = try await scene.send(ConsoleScene.draftJSON)
      _ = try await scene.finished(uid)
      var ben = try await scene.signIn(.operator)
      let page = ScenePage(try await ben.get("/pushes/\(uid)"))
      #expect(page.text.contains(expected.heading), "\(page.text.prefix(600))")
      #expect(ScenePage(try await ben.get("/pushes")).text.contains(expected.row))
      let json = try await scene.call(.get, "/api/v1/pushes/\(uid)", as: .viewer).json
      #expect(json?["result"]?.string == expected.result)
      _ = try await ben.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      #expect(try await ben.get("/pushes/\(uid)").status == 200)
    }
  }

  @Test(
    "the sentence of a push that runs does not call done what failed",
    arguments: [
      (OutcomeCounts(accepted: 139), "139 of 326 done"), (OutcomeCounts(failed: 139), "139 of 326 done, none reached"),
      (OutcomeCounts(accepted: 100, failed: 39), "139 of 326 done, 39 failed"),
      (OutcomeCounts(deadToken: 139), "139 of 326 done, none reached"),
      (OutcomeCounts(unknown: 139), "139 of 326 done"),
      (OutcomeCounts(skipped: 139), "139 of 326 done"), (OutcomeCounts(), "0 of 326 done"),
    ])
  func sentence(counts: OutcomeCounts, expected: String) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      let uid = try await scene.send(ConsoleScene.draftJSON)
      // Read where it is written: the engine takes up what is under way.
      let push = try await scene.store.write { database in
        _ = try database.run(
          """
          UPDATE pushes SET state = 'sending', started_at = created_at, target = 326, accepted = ?, failed = ?,
            dead_token = ?, skipped = ?, unknown = ? WHERE uid = ?
          """, counts.accepted, counts.failed, counts.deadToken, counts.skipped, counts.unknown, uid)
        return try #require(try Push.find(database, uid: uid))
      }
      #expect(ProgressJSON(PushProgress(push), scene.console.locales["en"]).sentence == expected)
    }
  }

  @Test("paused, canceled and sending stand in the row as words; a silent push has no JSON for a name")
  func states() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      var silent = ConsoleScene.draftJSON.object ?? [:]
      silent["notification"] = nil
      silent["apns"] = ["payload": ["aps": ["content-available": 1], "order": 48_213]]
      let uid = try await scene.send(.object(silent))
      _ = try await scene.finished(uid)
      let shown = ScenePage(try await ben.get("/pushes"))
      #expect(shown.text.contains("Silent push") && !shown.text.contains("content-available"))
      #expect(ScenePage(try await ben.get("/pushes/\(uid)")).text.contains("Silent push"))
      for (state, words) in [
        ("paused", "Paused at 1 of 2"), ("cancelled", "Canceled at 1 of 2"), ("sending", "Sending , 1 of 2 accepted"),
      ] {
        _ = try await scene.store.write { database in
          try database.run("UPDATE pushes SET state = ?, target = 2, accepted = 1 WHERE uid = ?", state, uid)
        }
        let cells = ScenePage(try await ben.get("/pushes")).tags.filter { $0.name == "td" }.map(\.text)
        let number = cells.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        #expect(number.contains(words.replacing(" ,", with: ",")), "\(state): \(number)")
      }
    }
  }

  @Test("a title from right to left is isolated, and cut at its own end; so are names in sentences")
  func direction() async throws {
    try await ConsoleScene.with { scene in
      let arabic = "تخفيضات نهاية الأسبوع"
      try await scene.addDevices(2, of: scene.addApp(name: "متجر"))
      var draft = ConsoleScene.draftJSON.object ?? [:]
      draft["notification"] = ["title": .string(arabic), "body": "World"]
      let uid = try await scene.send(.object(draft))
      _ = try await scene.finished(uid)
      var ben = try await scene.signIn(.operator)
      for path in ["/pushes", "/", "/pushes/\(uid)", "/search?q=\(SceneBrowser.escaped(arabic))"] {
        let text = try await ben.get(path).text
        for tag in ScenePage(text).tags
        where tag.text.contains(arabic) && !["title", "textarea", "pre"].contains(tag.name) {
          #expect(tag.name == "bdi" || tag.attributes["dir"] == "auto", "\(path): \(tag.name) \(tag.attributes)")
        }
        #expect(text.contains(arabic), "\(path)")
      }
      let list = ScenePage(try await ben.get("/pushes"))
      #expect(list.tags.contains { $0.attributes["class"] == "title" && $0.attributes["dir"] == "auto" })
      let review = try await ben.post(
        "/pushes/preview",
        [
          ("app", ConsoleScene.bundleID), ("environment", "production"), ("platforms", "ios"), ("audience", "tag"),
          ("tag", "odd"), ("title", arabic),
        ])
      #expect(review.text.contains("\u{2068}متجر\u{2069}"))
    }
  }

  @Test("a push that is not ready names each error once, with the way on, and counts nobody as reachable")
  func notReady() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.store.write {
        try App.add($0, bundleID: ConsoleScene.bundleID, name: "Shop", now: ConsoleScene.noon)
      }
      try await scene.addDevices(4, of: app)
      var ben = try await scene.signIn(.operator)
      let fields: [(String, String)] = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios"), ("audience", "tag"),
        ("tag", "odd"), ("body", "Hi"), ("push_type", "background"), ("content_available", "1"), ("priority", "high"),
      ]
      let page = ScenePage(try await ben.post("/pushes/preview", fields))
      #expect(page.text.contains("Not ready to send"))
      #expect(page.text.components(separatedBy: "has no credential for APNs").count == 2, "once")
      #expect(page.links.contains("/apps/\(app.id)#credentials"))
      #expect(page.text.contains("Reachable 0") && page.text.contains("Unreachable 2"), "\(page.text)")
      #expect(page.tags.contains { $0.attributes["data-lint-none"] != nil && $0.attributes["hidden"] != nil })
      let repairs = page.tags.filter { $0.name == "button" && $0.attributes["name"] == "fix" }.map(\.text)
      #expect(!repairs.isEmpty && !repairs.contains { $0.trimmingCharacters(in: .whitespaces) == "Fix" }, "\(repairs)")
      #expect(repairs.contains { $0.contains("Priority") }, "\(repairs)")
    }
  }
}
