import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages and API: how long what is kept")
struct RetentionPageTests {
  /// A push of ten devices that ended a hundred days ago.
  private static func addOld(_ scene: ConsoleScene) async throws -> String {
    let app = try await scene.addApp()
    let then = ConsoleScene.noon - 100 * 86_400
    return try await scene.store.write { database in
      let new = NewPush(
        uid: "psh_old", seed: 1, appID: app.id, environment: .production,
        draftJSON: #"{"platforms":["ios"],"audience":"all"}"#, source: .api, createdBy: "lin")
      let id = try Push.create(database, new, now: then).id
      try Push.setTarget(database, id: id, [Reach(.ios, .apns): 10], lastDeviceID: 10)
      let results = (1...10).map { number in
        DeliveryResult(
          deviceID: Int64(number), platform: .ios,
          outcome: number > 8
            ? .rejected(status: 500, reason: "InternalServerError", tokenInvalidSince: nil) : .accepted,
          at: then)
      }
      _ = try Delivery.record(database, push: id, results, now: then)
      _ = try Push.move(database, id: id, from: [.queued], to: .sending, now: then)
      _ = try Push.move(database, id: id, from: [.sending], to: .finished, now: then)
      return new.uid
    }
  }

  private static func trim(_ scene: ConsoleScene) async throws {
    try await scene.store.write { database in
      let policy = try RetentionPolicy.find(database)
      _ = try Trim.step(database, .deliveries, policy, limit: 100, now: ConsoleScene.noon)
    }
  }

  private static func fields(_ deliveries: String, _ pushes: String = "730") -> [(String, String)] {
    [
      ("deliveries_days", deliveries), ("pushes_days", pushes), ("phone_notifications_days", "30"),
      ("sign_in_failures_days", "30"),
    ]
  }

  @Test("a time is set only after the page has said what it removes")
  func confirm() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addOld(scene)
      var lin = try await scene.signIn(.admin)
      let page = ScenePage(try await lin.get("/settings/retention"))
      #expect(page.values("deliveries_days") == ["90"])
      #expect(page.text.contains("10 results of 1 push"))
      // Longer than the push is old: nothing is removed, nothing asked.
      #expect(try await lin.post("/settings/retention", Self.fields("200")).status == 303)
      #expect(ScenePage(try await lin.get("/settings/retention")).text.contains("Nothing is due for deletion"))

      let asked = ScenePage(try await lin.post("/settings/retention", Self.fields("99")))
      #expect(asked.text.contains("10 results of 1 push"))
      #expect(asked.values("confirmed") == ["10-0-0-0"])
      #expect(try await scene.store.read { try RetentionPolicy.find($0).deliveries } == 200)
      let stale = try await lin.post("/settings/retention", Self.fields("99") + [("confirmed", "9-0-0-0")])
      #expect(stale.status == 200, "more than what was seen is asked for again")
      #expect(
        try await lin.post("/settings/retention", Self.fields("99") + [("confirmed", "10-0-0-0")]).status == 303)
      #expect(try await scene.store.read { try RetentionPolicy.find($0).deliveries } == 99)
      let entries = try await scene.audit("retention.update")
      #expect(entries.count == 2)
      #expect(entries.first?.detail?["before"]?["deliveries_days"] == 200)
      #expect(entries.first?.detail?["after"]?["deliveries_days"] == 99)
    }
  }

  @Test(
    "what is no number of days, or lets details outlive their push, is told at its field; what was typed stays",
    arguments: [
      ("", "730", "deliveries_days"), ("soon", "730", "deliveries_days"), ("-1", "730", "deliveries_days"),
      ("36501", "0", "deliveries_days"), ("90", "89", "pushes_days"), ("0", "730", "pushes_days"),
    ])
  func refused(deliveries: String, pushes: String, field: String) async throws {
    try await ConsoleScene.with { scene in
      var lin = try await scene.signIn(.admin)
      let answer = try await lin.post("/settings/retention", Self.fields(deliveries, pushes))
      #expect(answer.status == 422)
      #expect(ScenePage(answer).failedFields == [field])
      #expect(ScenePage(answer).values("deliveries_days") == [deliveries])
      #expect(try await scene.audit().allSatisfy { $0.action != "retention.update" })
    }
  }

  @Test("a trimmed push keeps its numbers, says since when the details are gone, and cannot be retried")
  func trimmed() async throws {
    try await ConsoleScene.with { scene in
      let uid = try await Self.addOld(scene)
      var anna = try await scene.signIn(.operator)
      #expect(try await anna.get("/pushes/\(uid)").text.contains("Retry 2 devices"))
      try await Self.trim(scene)
      let page = ScenePage(try await anna.get("/pushes/\(uid)"))
      #expect(page.text.contains("deleted on 20 Nov 2026"))
      #expect(page.text.contains("Per-device results are kept for 90 days"))
      #expect(!page.text.contains("Retry 2 devices"))
      #expect(page.text.contains("8 Accepted 2 Failed"))
      let one = try await anna.get("/pushes/\(uid)/deliveries/3")
      #expect(one.status == 409 && ScenePage(one).text.contains("details of this push were deleted"))
      let retry = try await anna.post("/pushes/\(uid)/retry")
      #expect(retry.status == 409 && ScenePage(retry).text.contains("20 Nov 2026"))
      #expect(try await scene.count("pushes") == 1)

      let list = try await scene.call(.get, "/api/v1/pushes/\(uid)/deliveries", as: .viewer)
      #expect(list.status == 200 && list.json?["items"]?.array?.isEmpty == true)
      #expect(list.json?["details_removed_at"]?.string == "2026-11-20T12:00:00Z")
      let push = try await scene.call(.get, "/api/v1/pushes/\(uid)", as: .viewer)
      #expect(push.json?["details_removed_at"]?.string == "2026-11-20T12:00:00Z")
      #expect(push.json?["counts"]?["failed"]?.integer == 2)
      let refused = try await scene.call(.post, "/api/v1/pushes/\(uid)/retry", as: .operator)
      #expect(refused.status == 409 && refused.text.contains("were deleted on 2026-11-20"))
    }
  }

  @Test("over the API: shown to all, changed by admins, and a dry run only tells")
  func api() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addOld(scene)
      let document = try OpenAPIDocument()
      let path = "/api/v1/settings/retention"
      let shown = try await scene.call(.get, path, as: .viewer)
      #expect(shown.json?["deliveries_days"]?.integer == 90)
      #expect(shown.json?["due"]?["deliveries"]?.integer == 10)
      #expect(try document.errors(shown, to: .init(method: "GET", path: path)) == [])
      let dry = try await scene.call(
        .put, path, as: .admin, json: ["deliveries_days": 0, "pushes_days": 0, "dry_run": true])
      #expect(dry.status == 200 && dry.json?["due"]?["deliveries"]?.integer == 0)
      #expect(try await scene.store.read { try RetentionPolicy.find($0) } == RetentionPolicy())
      let set = try await scene.call(.put, path, as: .admin, json: ["deliveries_days": 30])
      #expect(set.status == 200 && set.json?["deliveries_days"]?.integer == 30)
      #expect(try document.errors(set, to: .init(method: "PUT", path: path)) == [])
      #expect(try await scene.store.read { try RetentionPolicy.find($0).deliveries } == 30)
      let entry = try #require(try await scene.audit().first)
      #expect(entry.action == "retention.update" && entry.detail?["before"]?["deliveries_days"] == 90)
      #expect(entry.detail?["after"]?["deliveries_days"] == 30)
      for body: JSONValue in [["deliveries_days": 800], ["pushes_days": -1], ["days": 3], ["pushes_days": "x"]] {
        let refused = try await scene.call(.put, path, as: .admin, json: body)
        #expect(refused.status == 422, "\(body.text())")
        #expect(try document.errors(refused, to: .init(method: "PUT", path: path)) == [])
      }
    }
  }

  @Test("the API answers and saves, too, if counting takes too long")
  func uncountedCalls() async throws {
    try await ConsoleScene.with(queryPatience: .zero) { scene in
      // Enough rows for SQLite to ask whether the time is over.
      _ = try await scene.store.write {
        try $0.run(
          """
          INSERT INTO sign_in_failures(subject, count, first_at, last_at)
          WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
          SELECT 'x' || n, 1, 0, 0 FROM numbers
          """)
      }
      let document = try OpenAPIDocument()
      let path = "/api/v1/settings/retention"
      let shown = try await scene.call(.get, path, as: .viewer)
      #expect(shown.status == 200 && shown.json?["due"] == .null && shown.json?["deliveries_days"]?.integer == 90)
      #expect(try document.errors(shown, to: .init(method: "GET", path: path)) == [])
      let dry = try await scene.call(.put, path, as: .admin, json: ["deliveries_days": 30, "dry_run": true])
      #expect(dry.status == 200 && dry.json?["due"] == .null)
      #expect(try await scene.store.read { try RetentionPolicy.find($0).deliveries } == 90, "only tried")
      let saved = try await scene.call(.put, path, as: .admin, json: ["deliveries_days": 30])
      #expect(saved.status == 200 && saved.json?["due"] == .null && saved.json?["deliveries_days"]?.integer == 30)
      #expect(try await scene.store.read { try RetentionPolicy.find($0).deliveries } == 30)
    }
  }

  @Test("what takes too long to count is said so, and still asks before it deletes")
  func uncounted() async throws {
    try await ConsoleScene.with { scene in
      #expect(RetentionPage.lines(nil, scene.console.locales["en"]).first?.hasPrefix("Too many rows to count.") == true)
      #expect(RetentionPage.mayDelete(nil) && RetentionPage.confirmation(nil) == "uncounted")
    }
  }
}
