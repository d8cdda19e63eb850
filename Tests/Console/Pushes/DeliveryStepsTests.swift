import Foundation
import HTTPServer
import Model
import Providers
import SQLite
import Store
import Testing

@testable import Console

@Suite("A delivery, step by step")
struct DeliveryStepsTests {
  private static func draft() -> PushDraft {
    var draft = ConsoleScene.draft
    draft.notification.body = "Hello"
    return draft
  }

  /// The bars as x and width in percent.
  private static func bars(_ page: ScenePage) -> [(x: Double, width: Double)] {
    page.tags.filter { $0.name == "rect" && $0.attributes["rx"] == "2" }.compactMap { bar in
      func percent(_ name: String) -> Double? { bar.attributes[name].flatMap { Double($0.dropLast()) } }
      guard let x = percent("x"), let width = percent("width") else { return nil }
      return (x, width)
    }
  }

  @Test("the wait, each attempt with its answer, and what the app reported, in their order and within the width")
  func steps() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      let push = try await scene.send(Self.draft())
      try await scene.store.write { database in
        let noon = Int64(ConsoleScene.noon.timeIntervalSince1970) * 1000
        try database.run(
          "UPDATE pushes SET created_at = ?1, hold_until = ?1 + 3000, started_at = ?1 + 3010 WHERE uid = ?2", noon,
          push.uid)
        try database.run(
          "UPDATE deliveries SET at = ?1 + 6000, duration_ms = 40, attempts = 2 WHERE push_id = ?2 AND device_id = 1",
          noon, push.id)
        try database.run(
          "INSERT INTO receipts(push_id, device_id, displayed_at, opened_at) VALUES (?2, 1, ?1 + 9400, ?1 + 7206000)",
          noon, push.id)
      }
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/1"))
      #expect(page.text.contains("Step by step") && page.text.contains("Accepted, 6.0 s"))
      let labels = [
        "Undo window 3.0 s", "Queued 10 ms", "1 earlier attempt, and the wait after it 3.0 s", "Attempt 2 · 200 40 ms",
        "Displayed, reported by the app +3.4 s", "Opened +2 h",
      ]
      var rest = page.text[...]
      for label in labels {
        let found = try #require(rest.range(of: label), "\(label) in \(page.text)")
        rest = rest[found.upperBound...]
      }
      let bars = Self.bars(page)
      #expect(bars.count == labels.count)
      #expect(bars.allSatisfy { $0.x >= 0 && $0.width >= 1 && $0.x + $0.width <= 100.01 }, "\(bars)")
      #expect(zip(bars, bars.dropFirst()).allSatisfy { $0.x <= $1.x }, "\(bars)")
      let result = ScenePage(try await anna.get("/pushes/\(push.uid)"))
      #expect(result.text.contains(", step by step") && result.links.contains("/pushes/\(push.uid)/deliveries/1"))
      let filtered = ScenePage(try await anna.get("/pushes/\(push.uid)?outcome=accepted"))
      #expect(!filtered.text.contains(", step by step"))
    }
  }

  @Test("the result page shows the steps of a device that failed before those of one that was accepted")
  func failedFirst() async throws {
    try await ConsoleScene.with { scene in
      let devices = try await scene.addDevices(3, of: scene.addApp())
      scene.provider.answer { member in
        member.id == devices[1].id
          ? .outcome(.rejected(status: 400, reason: "BadTopic", tokenInvalidSince: nil)) : .outcome(.accepted)
      }
      let push = try await scene.send(Self.draft())
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/pushes/\(push.uid)"))
      #expect(page.text.contains("Attempt 1 · 400 BadTopic"))
      #expect(page.text.contains("\(devices[1].token.abbreviated), step by step"))
    }
  }

  @Test("a device that was given up while it waited shows no request at the end of the wait")
  func givenUp() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      let words = Reason.combined(.deviceInactive, after: "ServiceUnavailable")
      scene.provider.answer { _ in .outcome(.rejected(status: 503, reason: words, tokenInvalidSince: nil)) }
      let push = try await scene.send(Self.draft())
      _ = try await scene.store.write { database in
        try database.run(
          "UPDATE deliveries SET at = at + 900000, duration_ms = 0, attempts = 2 WHERE push_id = ?", push.id)
      }
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/1"))
      #expect(page.text.contains("2 earlier attempts") && page.text.contains("Not retried · \(words)"), "\(page.text)")
      #expect(!page.text.contains("The push service refused this push") && !page.text.contains("0 ms"), "\(page.text)")
    }
  }

  @Test("a device that waits is promised a retry only while it is active", arguments: [DeviceState.quarantined, .dead])
  func inactive(_ state: DeviceState) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      let push = try await scene.send(Self.draft())
      try await scene.store.write { database in
        let due = Int64(ConsoleScene.noon.timeIntervalSince1970 + 600) * 1000
        try database.run("DELETE FROM deliveries")
        try database.run("INSERT OR IGNORE INTO reasons(text) VALUES ('ServiceUnavailable')")
        try database.run(
          """
          INSERT INTO push_waiting(push_id, device_id, due_at, attempts, first_at, outcome, status, reason_id)
          SELECT ?1, 1, ?2, 1, ?2 - 600000, ?3, 503, id FROM reasons WHERE text = 'ServiceUnavailable'
          """, push.id, due, OutcomeKind.failed.rawValue)
        try database.run("UPDATE pushes SET waiting = 1, accepted = 0 WHERE id = ?", push.id)
      }
      var anna = try await scene.signIn(.viewer)
      let address = "/pushes/\(push.uid)/deliveries/1"
      let list = "/pushes/\(push.uid)?outcome=pending"
      let time = "Will be retried on 20 Nov 2026, 12:10 UTC"
      #expect(ScenePage(try await anna.get(address)).text.contains(time))
      let listed = ScenePage(try await anna.get(list)).text
      #expect(!listed.contains("none: device inactive") && !listed.contains("1 attempt"), "the column has the word")
      _ = try await scene.store.write { try $0.run("UPDATE devices SET state = ? WHERE id = 1", state.rawValue) }
      let page = ScenePage(try await anna.get(address)).text
      #expect(page.contains("Will not be retried: the device is no longer active") && !page.contains("Will be retried"))
      #expect(ScenePage(try await anna.get(list)).text.contains("none: device inactive"))
    }
  }

  @Test("a refusal is red and has its reason; a device that was skipped has no steps")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      scene.provider.answer { _ in .outcome(.rejected(status: 400, reason: "BadTopic", tokenInvalidSince: nil)) }
      let push = try await scene.send(Self.draft())
      var anna = try await scene.signIn(.viewer)
      let page = try await anna.get("/pushes/\(push.uid)/deliveries/1")
      #expect(page.text.contains("f-fail") && ScenePage(page).text.contains("Attempt 1 · 400 BadTopic"))
      _ = try await scene.store.write { database in
        try database.run("UPDATE deliveries SET attempts = 0, status = 0, outcome = 4")
      }
      #expect(!(try await anna.get("/pushes/\(push.uid)/deliveries/1")).text.contains("waterfall"))
    }
  }
}
