import Foundation
import HTTPServer
import JSON
import Model
import OpenSSL
import Providers
import SQLite
import Store
import Testing

@testable import Console

/// Approval by a second person, on the pages and over the API.
@Suite("Pages and API: pushes that need approval")
struct ApprovalPageTests {
  static let fields: [(String, String)] =
    SendPageTests.fields.filter { $0.0 != "environment" } + [("environment", "production"), ("confirm", "Shop")]

  static let draft: JSONValue = [
    "app": .string(ConsoleScene.bundleID), "environment": "production", "platforms": ["ios"], "audience": "all",
    "notification": ["body": "hello"],
  ]

  /// An app whose pushes to production need approval, with devices there.
  static func prepare(_ scene: ConsoleScene, devices: Int = 4, needsApproval: Bool = true) async throws {
    let app = try await scene.addApp()
    try await scene.addDevices(devices, of: app, environment: .production)
    _ = try await scene.store.write {
      try App.setApproval(
        $0, id: app.id, needsApproval, by: NewAuditEntry(actor: "anna", action: "", subject: ""), now: ConsoleScene.noon
      )
    }
  }

  /// A token of a person.
  static func token(
    _ scene: ConsoleScene, of name: String?, _ scopes: [String] = ["read", "send-production"]
  ) async throws -> [String: String] {
    let text = Random.token(bytes: 24)
    _ = try await scene.store.write { database in
      let user = try name.flatMap { try User.find(database, name: $0)?.id }
      return try APIToken.add(
        database, name: "of \(name ?? "nobody")", hash: Secret.hash(text), scopes: scopes, user: user,
        now: ConsoleScene.noon)
    }
    return ["Authorization": "Bearer \(text)"]
  }

  static func state(_ scene: ConsoleScene, _ uid: String) async throws -> PushState? {
    try await scene.store.read { try Push.find($0, uid: uid)?.state }
  }

  @Test("an admin turns it on for an app; the review says so, the push waits, shows and is found; nothing is sent")
  func waits() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene, needsApproval: false)
      var anna = try await scene.signIn(.admin)
      #expect(try await anna.get("/apps/1").text.contains("Nobody else can approve"))
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      #expect(try await !anna.get("/apps/1").text.contains("Nobody else can approve"))
      #expect(try await ben.post("/apps/1/approval", [("approval", "on")]).status == 403)
      #expect(try await anna.get("/apps/1").text.contains("is sent without approval"))
      #expect(try await anna.post("/apps/1/approval", [("approval", "on")]).location == "/apps/1#approval")
      #expect(try await anna.get("/apps/1").text.contains("needs a second person’s approval"))
      let entry = try #require(try await scene.audit("app.approval").first)
      #expect(entry.detail?["before"]?["approval"] == false && entry.detail?["after"]?["approval"] == true)

      let review = ScenePage(try await ben.post("/pushes/preview", Self.fields))
      #expect(review.text.contains("Ask for approval") && review.text.contains("Nothing is sent until then"))
      let sent = try await ben.post("/pushes", Self.fields)
      let path = try #require(sent.location)
      let page = ScenePage(try await ben.get(path))
      #expect(
        page.text.contains("ben@example.com asked to send it to 2 devices") && page.text.contains("Needs approval"))
      #expect(page.tags.first { $0.name == "h1" }?.text == "Nothing has been sent yet")
      #expect(page.text.contains("odd") && page.text.contains("World"), "audience and content")
      #expect(page.text.contains("You asked for this yourself") && page.text.contains("Withdraw"))
      #expect(!page.forms.contains { $0.attributes["action"]?.hasSuffix("/approve") == true })
      #expect(ScenePage(try await anna.get("/")).text.contains("1 push needs approval"))
      let list = try await anna.get("/pushes?state=needs_approval")
      #expect(list.text.contains(path) && ScenePage(list).text.contains("Needs approval"))
      #expect(scene.provider.sent.isEmpty)

      #expect(try await anna.post("/apps/1/approval", [("approval", "off")]).status == 303)
      let off = ScenePage(try await anna.get("/apps/1"))
      #expect(off.text.contains("Requests that are already waiting still need a decision"))
      #expect(try await Self.state(scene, String(path.dropFirst("/pushes/".count))) == .needsApproval)

      var vera = try await scene.signIn(.viewer)
      let seen = ScenePage(try await vera.get(path))
      #expect(seen.text.contains("Needs approval") && !seen.text.contains("Reject"))
      #expect(try await vera.post(path + "/approve").status == 403)
      #expect(try await ben.post(path + "/cancel").location == path)
      #expect(ScenePage(try await ben.get(path)).text.contains("Request withdrawn. Nothing will be sent."))
    }
  }

  @Test("the same person is refused by each door, somebody else approves, and it is sent once")
  func approve() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      let path = try #require(try await ben.post("/pushes", Self.fields).location)
      let uid = String(path.dropFirst("/pushes/".count))
      let api = "/api/v1/pushes/\(uid)/approve"
      let refused = try await ben.post(path + "/approve")
      #expect(refused.status == 403 && refused.text.contains("Someone else must decide"))
      #expect(ScenePage(refused).links.contains(path), "back to the push")
      #expect(try await scene.audit("user.refused").map(\.actor) == ["ben@example.com"])
      var other = try await SignInTests.guest(scene)
      _ = try await other.post("/session", [("email", "ben@example.com"), ("password", ConsoleScene.password)])
      other.csrf = try await Self.csrf(scene, other)
      #expect(try await other.post(path + "/approve").status == 403, "another session")
      for (name, code) in [("ben@example.com", "approval.own"), (nil, "approval.nobody")] as [(String?, String)] {
        let headers = try await Self.token(scene, of: name)
        let answer = try await scene.call(.post, api, as: nil, headers: headers)
        #expect(
          answer.status == 403 && answer.json?["code"]?.string ?? answer.text == code || answer.text.contains(code))
        #expect(try await scene.audit("token.refused").first?.actor == "token of \(name ?? "nobody")")
      }
      #expect(try await Self.state(scene, uid) == .needsApproval)

      let page = ScenePage(try await cleo.get(path))
      #expect(page.forms.contains { $0.attributes["action"] == path + "/approve" })
      let approved = try await cleo.post(path + "/approve", [("remark", "Go")])
      #expect(approved.location == path)
      #expect(try await scene.finished(uid).counts == OutcomeCounts(accepted: 2))
      #expect(Set(scene.provider.sent).count == 2 && scene.provider.sent.count == 2)
      let entry = try #require(try await scene.audit("push.approve").first)
      #expect(entry.actor == "cleo@example.com" && entry.detail?["remark"] == "Go")
      #expect(ScenePage(try await ben.get(path)).text.contains("cleo@example.com"), "who approved it is on the page")
      #expect(try await cleo.post(path + "/reject").location == path, "too late")
      #expect(try await Self.state(scene, uid) == .finished)
    }
  }

  private static func csrf(_ scene: ConsoleScene, _ browser: SceneBrowser) async throws -> String {
    let cookie = try #require(browser.cookies["signalbox_session"])
    let found = try await scene.store.read {
      try Session.find($0, idHash: Secret.hash(cookie), idle: 1e6, now: ConsoleScene.noon)
    }
    return try #require(found).session.csrf
  }

  @Test(
    "over the API: it waits, a colleague's token rejects it, a second decision is a conflict; answers fit the document")
  func overTheAPI() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      _ = try await scene.signIn(.operator, name: "ben@example.com")
      _ = try await scene.signIn(.operator, name: "cleo@example.com")
      let (bens, cleos) = (
        try await Self.token(scene, of: "ben@example.com"), try await Self.token(scene, of: "cleo@example.com")
      )
      func post(_ target: String, _ headers: [String: String], _ json: JSONValue? = nil) async throws -> SceneAnswer {
        try await scene.call(.post, "/api/v1" + target, as: nil, json: json, headers: headers)
      }
      let made = try await post("/pushes", bens, Self.draft)
      #expect(made.status == 202 && made.json?["state"] == "needs_approval")
      #expect(made.json?["approval"]?["reach"]?.integer == 4 && made.json?["approval"]?["decision"] == .null)
      #expect(try document.errors(made, to: .init(method: "POST", path: "/api/v1/pushes")) == [])
      let uid = try #require(made.json?["id"]?.string)
      let wrong = try await post(
        "/pushes/\(uid)/reject", cleos, ["remark": .string(String(repeating: "x", count: 501))])
      #expect(wrong.status == 422 && wrong.fields == ["remark"])
      let rejected = try await post("/pushes/\(uid)/reject", cleos, ["remark": "Wrong text"])
      #expect(rejected.status == 200 && rejected.json?["state"] == "cancelled")
      #expect(rejected.json?["error"] == "token of cleo@example.com rejected it: Wrong text")
      #expect(rejected.json?["approval"]?["decision"] == "rejected")
      #expect(try document.errors(rejected, to: .init(method: "POST", path: "/api/v1/pushes/{id}/reject")) == [])
      let late = try await post("/pushes/\(uid)/approve", cleos)
      #expect(late.status == 409)
      #expect(try document.errors(late, to: .init(method: "POST", path: "/api/v1/pushes/{id}/approve")) == [])

      // Withdrawn by its asker, over the API.
      let second = try #require(try await post("/pushes", bens, Self.draft).json?["id"]?.string)
      #expect(try await post("/pushes/\(second)/cancel", bens).status == 200)
      #expect(try await scene.audit("push.withdraw").map(\.actor) == ["token of ben@example.com"])
      let gone = try await scene.call(.get, "/api/v1/pushes/\(second)", as: .viewer)
      #expect(gone.json?["approval"]?["decision"] == "withdrawn")

      // A token without the scope.
      let development = try await Self.token(scene, of: "cleo@example.com", ["read", "send-development"])
      let third = try #require(try await post("/pushes", bens, Self.draft).json?["id"]?.string)
      #expect(try await post("/pushes/\(third)/approve", development).status == 403)
      #expect(try await post("/pushes/\(third)/approve", cleos).status == 200)
      #expect(try await scene.finished(third).counts == OutcomeCounts(accepted: 4))
      #expect(scene.provider.sent.count == 4)
      // Unknown, and one that needed none.
      #expect(try await post("/pushes/none/approve", cleos).status == 404)
    }
  }

  @Test("a push that was rejected, or that nobody decided on, says so in lists, on its page and over the API")
  func refusals() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      let rejected = try #require(try await ben.post("/pushes", Self.fields).location)
      _ = try await cleo.post(rejected + "/reject")
      let expired = try #require(try await ben.post("/pushes", Self.fields).location)
      try await scene.store.write { database in
        let end = ConsoleScene.noon + Approval.lifetime
        for approval in try Approval.overdue(database, now: end) { _ = try approval.expire(database, now: end) }
      }
      let withdrawn = try #require(try await ben.post("/pushes", Self.fields).location)
      _ = try await ben.post(withdrawn + "/cancel")
      #expect(try await ben.post(rejected + "/cancel").location == rejected)
      #expect(ScenePage(try await ben.get(rejected)).text.contains("Someone has already decided"))
      let list = ScenePage(try await ben.get("/pushes?state=cancelled")).text
      #expect(list.contains("Rejected") && list.contains("Approval expired"), "\(list)")
      let answer = try await scene.call(.get, "/api/v1/pushes", as: .viewer)
      let listed = answer.json?["items"]?.array ?? []
      for (path, heading, decision, ending) in [
        (rejected, "Rejected", "rejected", "rejected by cleo@example.com at 2026-11-20T12:00:00Z"),
        (expired, "Approval expired", "expired", "it expired at 2026-11-21T12:00:00Z"),
        (
          withdrawn, "Canceled before anything was sent", "withdrawn",
          "withdrawn by ben@example.com at 2026-11-20T12:00:00Z"
        ),
      ] {
        let page = ScenePage(try await ben.get(path))
        #expect(page.tags.first { $0.name == "h1" }?.text == heading)
        let uid = String(path.dropFirst("/pushes/".count))
        let item = listed.first { $0["id"]?.string == uid }
        #expect(item?["state"] == "cancelled" && item?["approval_decision"]?.string == decision, "\(uid)")
        let late = try await scene.call(.post, "/api/v1/pushes/\(uid)/cancel", as: .operator)
        #expect(late.status == 409 && late.text.contains(ending), "\(late.text)")
      }
    }
  }

  @Test(
    "a decision needs no body: none, an empty one of any type, and {} are the same",
    arguments: [nil, "", "{}"] as [String?])
  func emptyBody(body: String?) async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      _ = try await scene.signIn(.operator, name: "ben@example.com")
      let headers = try await Self.token(scene, of: "ben@example.com")
      let asked = try await scene.call(.post, "/api/v1/pushes", as: nil, json: Self.draft, headers: headers)
      let uid = try #require(asked.json?["id"]?.string, "\(asked.text)")
      _ = try await scene.signIn(.operator, name: "cleo@example.com")
      var other = try await Self.token(scene, of: "cleo@example.com")
      if body != nil { other["Content-Type"] = "application/json" }
      let answer = try await scene.call(
        .post, "/api/v1/pushes/\(uid)/approve", as: nil, headers: other, body: Array((body ?? "").utf8))
      #expect(answer.status == 200 && answer.json?["state"] != "needs_approval", "\(answer.text)")
    }
  }

  @Test("a repeated request gets the same push; it waits once, and is sent once")
  func idempotency() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      _ = try await scene.signIn(.operator, name: "ben@example.com")
      var headers = try await Self.token(scene, of: "ben@example.com")
      headers["Idempotency-Key"] = "once"
      var ids: Set<String> = []
      for _ in 0..<3 {
        let answer = try await scene.call(.post, "/api/v1/pushes", as: nil, json: Self.draft, headers: headers)
        ids.insert(try #require(answer.json?["id"]?.string))
      }
      #expect(ids.count == 1)
      #expect(try await scene.store.read { try Approval.open($0, limit: 9).count } == 1)
    }
  }

  @Test("what was approved for a segment waits again when the segment's rule changes, not when only its name does")
  func segments() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      let path = "/api/v1/apps/\(ConsoleScene.bundleID)/segments"
      let made = try await scene.call(
        .post, path, as: .operator, json: ["name": "few", "rule": ["platforms": ["ios"], "tag": ["odd"]]])
      #expect(made.status == 201, "\(made.text)")
      let fields = Self.fields.filter { $0.0 != "audience" } + [("audience", "segment"), ("segment", "few")]
      let repeating = [("when", "repeat"), ("every", "day"), ("at", "09:00"), ("time_zone", "UTC")]
      let daily = try #require(try await ben.post("/pushes", fields + repeating).location)
      let uid = String(daily.dropFirst("/schedules/".count))
      let state = { try await scene.store.read { try Schedule.find($0, uid: uid)?.state } }
      #expect(try await cleo.post(daily + "/approve").location == daily)
      #expect(try await state() == .active)
      let id = try #require(made.json?["id"]?.integer)
      let old = try await scene.store.read { try Segment.get($0, id: Int64(id)) }
      let page = "/audiences/segments/\(id)"
      // Saved as it is: nothing changes.
      let same = try await cleo.post(page, [("name", "few"), ("platforms", "ios"), ("tag", "odd")])
      #expect(same.status == 303, "\(ScenePage(same).text)")
      #expect(try await state() == .active)
      #expect(try await cleo.post(page, [("name", "few"), ("platforms", "ios")]).status == 303)
      #expect(try await state() == .needsApproval, "the rule reaches more")
      #expect(ScenePage(try await cleo.get(page)).text.contains("send to it in production need approval again"))
      #expect(ScenePage(try await ben.get(daily)).text.contains("cleo@example.com changed the segment that it goes to"))
      #expect(try await cleo.post(daily + "/approve").status == 403, "who changed it")
      #expect(try await ben.post(daily + "/approve").location == daily)
      #expect(try await state() == .active)
      // Somebody who read the segment before all this saves it as it was then.
      let input = try SegmentInput(json: ["name": "few", "rule": old.rule.json])
      try await scene.store.write { database in
        let (app, dora) = (try App.get(database, id: old.appID), ApprovalRule.Actor("dora@example.com", person: nil))
        _ = try input.change(database, old, app, by: dora, now: ConsoleScene.noon) {
          NewAuditEntry(actor: dora.name, action: $0, subject: $1, detail: $2)
        }
      }
      #expect(try await state() == .needsApproval, "the rule is another one than was approved")
    }
  }

  /// How a segment's name gets a rule, and whether it is the one that was approved.
  static let detours: [(way: String, rule: JSONValue, isSame: Bool)] = [
    ("delete and add", ["platforms": ["ios"]], false), ("delete and rename", ["platforms": ["ios"]], false),
    ("delete and add", ["platforms": ["ios"], "tag": ["odd"]], true),
    ("delete and rename", ["platforms": ["ios"], "tag": ["odd"]], true),
  ]

  @Test("an approval holds the rule itself: another one under the segment's name waits again", arguments: detours)
  func sameName(_ way: String, _ rule: JSONValue, _ isSame: Bool) async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      let path = "/api/v1/apps/\(ConsoleScene.bundleID)/segments"
      let made = try await scene.call(
        .post, path, as: .operator, json: ["name": "few", "rule": ["platforms": ["ios"], "tag": ["odd"]]])
      let id = try #require(made.json?["id"]?.integer)
      let fields = Self.fields.filter { $0.0 != "audience" } + [("audience", "segment"), ("segment", "few")]
      let daily = [("when", "repeat"), ("every", "day"), ("at", "09:00"), ("time_zone", "UTC")]
      let later = [("when", "at"), ("send_at", "2026-11-20T23:00"), ("time_zone", "UTC")]
      let schedule = try #require(try await ben.post("/pushes", fields + daily).location)
      let push = try #require(try await ben.post("/pushes", fields + later).location)
      for place in [schedule, push] { #expect(try await cleo.post(place + "/approve").location == place) }

      let other = try await scene.call(
        .post, path, as: .operator, json: ["name": "many", "rule": rule])
      #expect(try await scene.call(.delete, path + "/\(id)", as: .operator).status == 204)
      if way == "delete and add" {
        let again = try await scene.call(.post, path, as: .operator, json: ["name": "few", "rule": rule])
        #expect(again.status == 201, "\(again.text)")
      } else {
        let many = try #require(other.json?["id"]?.integer)
        let renamed = try await scene.call(
          .put, path + "/\(many)", as: .operator, json: ["name": "few", "rule": rule])
        #expect(renamed.status == 200, "\(renamed.text)")
      }
      let states = try await scene.store.read { database in
        (
          try Schedule.find(database, uid: String(schedule.dropFirst("/schedules/".count)))?.state,
          try Push.find(database, uid: String(push.dropFirst("/pushes/".count)))?.state
        )
      }
      #expect(states.0 == (isSame ? .active : .needsApproval) && states.1 == (isSame ? .queued : .needsApproval))
      #expect(scene.provider.sent.isEmpty)
    }
  }

  @Test("a schedule to production is approved once, on its page; the retry of a push waits, too")
  func schedules() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      let daily = Self.fields + [("when", "repeat"), ("every", "day"), ("at", "09:00"), ("time_zone", "UTC")]
      let path = try #require(try await ben.post("/pushes", daily).location)
      #expect(path.hasPrefix("/schedules/"))
      let own = ScenePage(try await ben.get(path))
      #expect(own.text.contains("You asked for this yourself") && own.text.contains("Withdraw"))
      #expect(own.links.contains(path + "/cancel") && !own.text.contains("End schedule"))
      #expect(own.text.contains("21 Nov 2026, 09:00 UTC"), "its next runs, for whoever decides")
      #expect(ScenePage(try await ben.get(path + "/cancel")).text.contains("no one has to decide on it"))
      #expect(!ScenePage(try await cleo.get(path)).links.contains(path + "/cancel"), "cleo decides instead")
      #expect(ScenePage(try await cleo.get("/")).text.contains("1 schedule needs approval"))
      #expect(try await ben.post(path + "/approve").status == 403)
      #expect(try await cleo.post(path + "/resume").location == path, "resuming is no way around it")
      let uid = String(path.dropFirst("/schedules/".count))
      let state = { try await scene.store.read { try Schedule.find($0, uid: uid)?.state } }
      #expect(try await state() == .needsApproval)
      let seen = try await scene.call(.get, "/api/v1/schedules/\(uid)", as: .viewer)
      #expect(seen.json?["state"] == "needs_approval" && seen.json?["approval"]?["asked_by"] == "ben@example.com")
      #expect(try await cleo.post(path + "/approve").location == path)
      #expect(try await state() == .active)
      #expect(try await scene.audit("schedule.approve").map(\.actor) == ["cleo@example.com"])

      try await scene.store.write { database in
        let schedule = try #require(try Schedule.find(database, uid: uid))
        #expect(try Schedule.pause(database, id: schedule.id))
        var new = NewSchedule(
          uid: uid, appID: schedule.appID, draft: try #require(schedule.draft), source: .web,
          createdBy: "ben@example.com")
        new.approval = NewApproval(asker: ApprovalRule.Actor("ben@example.com", person: nil), reach: 4)
        #expect(try Schedule.replace(database, id: schedule.id, with: new, now: ConsoleScene.noon))
      }
      let paused = ScenePage(try await cleo.get(path)).text
      #expect(paused.contains("to 4 devices. It was paused, and stays paused after the approval"), "\(paused)")
      _ = try await cleo.post(path + "/approve")
      #expect(try await state() == .paused)
      let approved = ScenePage(try await cleo.get(path)).text
      #expect(approved.contains("Approved. It stays paused until someone resumes it."), "\(approved)")

      scene.provider.answer { _ in
        .outcome(.rejected(status: 500, reason: "InternalServerError", tokenInvalidSince: nil))
      }
      let first = try #require(try await ben.post("/pushes", Self.fields).location)
      _ = try await cleo.post(first + "/approve")
      _ = try await scene.finished(String(first.dropFirst("/pushes/".count)))
      let retry = try #require(try await ben.post(first + "/retry").location)
      #expect(retry != first)
      #expect(try await Self.state(scene, String(retry.dropFirst("/pushes/".count))) == .needsApproval)
    }
  }

  @Test("a push for later says when it would be sent, and once that has passed, that it would be sent at once")
  func sendTime() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      let time = [("when", "at"), ("send_at", "2026-11-20T13:00"), ("time_zone", "UTC")]
      let path = try #require(try await ben.post("/pushes", Self.fields + time).location)
      let early = ScenePage(try await cleo.get(path)).text
      #expect(early.contains("It is scheduled for 20 Nov 2026, 13:00 UTC. If it is approved later"), "\(early)")
      scene.clock.advance(3600)
      let late = ScenePage(try await cleo.get(path)).text
      #expect(late.contains("It was scheduled for 20 Nov 2026, 13:00 UTC, which has passed"), "\(late)")
    }
  }

  @Test("a schedule whose last run passed while it waited: whoever approves it reads that nothing will be sent")
  func passedSchedule() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      try await scene.store.write { database in
        let json: JSONValue = [
          "app": .string(ConsoleScene.bundleID), "environment": "production", "audience": "all",
          "notification": ["body": "hello"],
          "repeat": ["every": "day", "at": "11:00", "time_zone": "UTC", "count": 1],
        ]
        var new = NewSchedule(
          uid: "late", appID: 1, draft: try PushDraft(json: json), source: .web, createdBy: "ben@example.com")
        new.approval = NewApproval(asker: ApprovalRule.Actor("ben@example.com", person: nil), reach: 4)
        try Schedule.create(database, new, now: ConsoleScene.noon - 7200)
      }
      #expect(try await cleo.post("/schedules/late/approve").location == "/schedules/late")
      let page = ScenePage(try await cleo.get("/schedules/late")).text
      #expect(page.contains("Approved, but its last run has passed") && page.contains("so it does not run"), "\(page)")
    }
  }

  @Test("what a person asked for with a token, the person can withdraw on its page; colleagues decide instead")
  func ownToken() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      let headers = try await Self.token(scene, of: "ben@example.com")
      for (path, more) in [
        ("/pushes/", [:]), ("/schedules/", ["repeat": ["every": "day", "at": "13:00", "time_zone": "UTC"]]),
      ] as [(String, [String: JSONValue])] {
        let json = JSONValue.object((Self.draft.object ?? [:]).merging(more) { $1 })
        let made = try await scene.call(.post, "/api/v1/pushes", as: nil, json: json, headers: headers)
        let uid = try #require(made.json?["id"]?.string, "\(made.text)")
        let target = path + uid
        let own = ScenePage(try await ben.get(target)).text
        #expect(own.contains("you can withdraw it") && own.contains("Withdraw"), "\(target)")
        #expect(!ScenePage(try await cleo.get(target)).text.contains("Withdraw"), "\(target)")
      }
    }
  }

  @Test("whoever waits reads who can approve, or that nobody can and what to do")
  func approvers() async throws {
    try await ConsoleScene.with { scene in
      try await Self.prepare(scene)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      let path = try #require(try await ben.post("/pushes", Self.fields).location)
      #expect(ScenePage(try await ben.get(path)).text.contains("so nobody can approve it"))
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      var vera = try await scene.signIn(.viewer)
      #expect(ScenePage(try await ben.get(path)).text.contains("It can be approved by cleo@example.com."))
      #expect(ScenePage(try await vera.get(path)).text.contains("It can be approved by cleo@example.com."))
      #expect(!ScenePage(try await cleo.get(path)).text.contains("It can be approved by"))
      _ = try await cleo.post(path + "/reject", [("remark", "Wrong price")])
      let rejected = ScenePage(try await ben.get(path)).text
      #expect(rejected.contains("cleo@example.com: Wrong price") && !rejected.contains("can approve it"))

      // Named as in the activity log.
      let headers = try await Self.token(scene, of: "cleo@example.com")
      let made = try await scene.call(.post, "/api/v1/pushes", as: nil, json: Self.draft, headers: headers)
      let uid = try #require(made.json?["id"]?.string, "\(made.text)")
      let asked = ScenePage(try await ben.get("/pushes/\(uid)")).text
      #expect(asked.contains("of cleo@example.com asked to send it") && !asked.contains("token of"), "\(asked)")
    }
  }
}
