import Calendar
import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import Reminders
import SQLite
import Store
import Testing

/// `ConsoleScene.noon` is 2026-11-20 12:00 UTC.
@Suite("Pages and API: what is for later, what repeats, what can be undone")
struct SchedulePageTests {
  private static let daily: [(String, String)] =
    SendPageTests.fields + [
      ("when", "repeat"), ("every", "day"), ("at", "09:00"), ("time_zone", "Europe/Berlin"),
    ]

  private static let draft: JSONValue = [
    "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
    "notification": ["body": "hello"],
    "repeat": ["every": "day", "at": "09:00", "time_zone": "Europe/Berlin", "count": 3],
  ]

  @Test("form, review, schedule: the sentence, the next five times, one schedule for a double click")
  func fromTheForm() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(5, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let review = ScenePage(try await ben.post("/pushes/preview", Self.daily))
      #expect(review.text.contains("every day at 09:00, Europe/Berlin"))
      #expect(review.text.contains("21 Nov 2026, 09:00 Europe/Berlin (08:00 UTC)"))
      #expect(review.text.contains("25 Nov 2026, 09:00") && !review.text.contains("26 Nov 2026, 09:00"))
      #expect(review.text.contains("Schedule for 2 devices"))
      let fields = Self.daily + [("idempotency_key", review.values("idempotency_key").first ?? "")]
      let sent = try await ben.post("/pushes", fields)
      let target = try #require(sent.location)
      #expect(sent.status == 303 && target.hasPrefix("/schedules/"))
      #expect(try await ben.post("/pushes", fields).location == target, "a second click")
      #expect(try await scene.count("schedules") == 1)
      #expect(try await scene.count("pushes") == 0)
      let page = ScenePage(try await ben.get(target))
      #expect(page.text.contains("Every day at 09:00, Europe/Berlin") && page.text.contains("No runs yet"))
      #expect(try await scene.audit("schedule.create").map(\.actor) == ["operator@example.com"])
      let again = ScenePage(try await ben.get("/pushes/new?schedule=\(target.split(separator: "/").last ?? "")"))
      #expect(again.values("when") == ["repeat"] && again.values("every") == ["day"] && again.values("at") == ["09:00"])
      #expect(again.values("time_zone") == ["Europe/Berlin"] && again.values("body") == ["World"])
      #expect(try await ben.get("/pushes/new?schedule=none").status == 404)
    }
  }

  @Test("at a time: the sentence names the zone, the history its time, with a way to cancel")
  func later() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(5, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let typed =
        SendPageTests.fields + [
          ("when", "at"), ("send_at", "2026-12-01T09:00"), ("time_zone", "Europe/Berlin"), ("speed", "spread"),
          ("spread_minutes", "10"),
        ]
      let review = ScenePage(try await ben.post("/pushes/preview", typed))
      #expect(review.text.contains("in 10 days, 1 Dec 2026, 09:00 Europe/Berlin (08:00 UTC)"))
      #expect(review.text.contains("spread over 10 minutes, about one every 300 seconds"))
      let target = try #require(try await ben.post("/pushes", typed).location)
      let page = ScenePage(try await ben.get(target))
      #expect(
        page.text.contains("Scheduled for 1 Dec 2026, 09:00 Europe/Berlin (08:00 UTC)")
          && page.text.contains("Sends in 10 days. You can cancel it until then.") && page.text.contains("Cancel"))
      #expect(ScenePage(try await ben.get("/")).text.contains("Sends in 10 days"))
      let list = ScenePage(try await ben.get("/pushes"))
      #expect(list.text.contains("Scheduled") && list.text.contains("Sends in 10 days"))
      #expect(list.forms.contains { $0.attributes["action"] == "\(target)/cancel" })
      var lena = try await scene.signIn(.viewer)
      #expect(
        ScenePage(try await lena.get("/pushes")).forms.allSatisfy { $0.attributes["action"] != "\(target)/cancel" })
      let again = ScenePage(try await ben.get("/pushes/new?from=\(target.split(separator: "/").last ?? "")"))
      #expect(again.values("when") == ["at"] && again.values("send_at") == ["2026-12-01T09:00"])
      #expect(again.values("time_zone") == ["Europe/Berlin"] && again.failedFields == [])
      #expect(again.values("speed") == ["spread"] && again.values("spread_minutes") == ["10"])
      _ = try await ben.post("\(target)/cancel")
      let canceled = ScenePage(try await ben.get(target))
      #expect(canceled.tags.first { $0.name == "h1" }?.text == "Canceled before anything was sent")
    }
  }

  @Test("what is wrong with the times comes back with everything as it was typed")
  func mistakes() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let typed: [(String, String)] = [
        ("when", "repeat"), ("every", "week"), ("interval", "zero"), ("at", "09:99"), ("time_zone", "Berlin"),
        ("starts", "soon"), ("until", "late"), ("count", "-1"), ("send_at", "x"), ("speed", "rate"), ("rate", "fast"),
        ("spread_minutes", "y"), ("at_most_once", "1"), ("day", "7"),
      ]
      let answer = try await ben.post("/pushes/preview", SendPageTests.fields + typed)
      let page = ScenePage(answer)
      #expect(answer.status == 422)
      for (name, value) in typed { #expect(page.values(name) == [value], "\(name)") }
      #expect(
        page.failedFields == ["interval", "at", "time_zone", "starts", "until", "count", "rate", "weekdays"],
        "\(page.failedFields)")
      #expect(page.error("time_zone").contains("Europe/Berlin"))
      let past = ScenePage(
        try await ben.post(
          "/pushes/preview", SendPageTests.fields + [("when", "at"), ("send_at", "2026-11-19T09:00")]))
      #expect(past.failedFields == ["send_at"] && past.values("send_at") == ["2026-11-19T09:00"])
      #expect(past.error("send_at").contains("19 Nov 2026, 09:00 UTC is in the past"))
      let live = try await ben.post(
        "/pushes/preview", SendPageTests.fields + [("when", "at"), ("send_at", "2026-11-19T09:00")],
        headers: ["Accept": "application/json"])
      #expect(live.json?["errors"]?["send_at"]?.string?.contains("is in the past") == true)
    }
  }

  @Test(
    "once more, after its time: by the clocks that it was given in, or those of the settings, and the field says so",
    arguments: [("Asia/Shanghai", "2026-11-20T18:00"), (nil, "2026-11-20T11:00")] as [(String?, String)])
  func again(zone: String?, expected: String) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      // 10:00 UTC, two hours ago.
      var json = Self.draft.with("repeat", .null).with("send_at", "2026-11-20T10:00:00Z")
      json = json.with("options", ["time_to_live": 86_400])
      if let zone { json = json.with("time_zone", .string(zone)) }
      let uid = try await scene.send(json)
      try await scene.store.write {
        try ReminderSettings(ladder: .usual, hour: 8, zone: try #require(TimeZone(identifier: "Europe/Berlin"))).save(
          $0)
      }
      var ben = try await scene.signIn(.operator)
      let answer = try await ben.get("/pushes/new?from=\(uid)")
      let page = ScenePage(answer)
      #expect(answer.status == 200)
      #expect(page.values("when") == ["at"] && page.values("send_at") == [expected])
      #expect(page.values("time_zone") == [zone ?? "Europe/Berlin"])
      #expect(page.failedFields == ["send_at"] && page.error("send_at").contains("is in the past"))
      // Sent on as it is: not before another time was chosen, and nothing typed is lost.
      let fields =
        SendPageTests.fields + [
          ("when", "at"), ("send_at", expected), ("time_zone", zone ?? "Europe/Berlin"),
        ]
      let again = ScenePage(try await ben.post("/pushes/preview", fields))
      #expect(again.failedFields == ["send_at"] && again.values("send_at") == [expected])
      #expect(again.values("time_zone") == [zone ?? "Europe/Berlin"])
      let later = try await ben.post("/pushes/preview", fields.map { $0.0 == "when" ? ("when", "now") : $0 })
      #expect(later.status == 200 && ScenePage(later).failedFields == [])
    }
  }

  @Test("the undo window: held back, said on the page, undone without a script; a setting that only admins change")
  func undo() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(5, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      var anna = try await scene.signIn(.admin)
      #expect(try await ben.post("/settings/sending", [("undo_seconds", "5")]).status == 403)
      for wrong in ["", "x", "-1", "61", "5.5"] {
        let answer = try await anna.post("/settings/sending", [("undo_seconds", wrong)])
        #expect(answer.status == 422 && ScenePage(answer).values("undo_seconds") == [wrong])
        #expect(ScenePage(answer).failedFields == ["undo_seconds"])
      }
      #expect(try await anna.post("/settings/sending", [("undo_seconds", "5")]).status == 303)
      let entry = try #require(try await scene.audit("setting.undo").first)
      #expect(entry.detail?["before"]?["seconds"] != nil && entry.detail?["after"] == ["seconds": 5])
      let setting = ScenePage(try await anna.get("/settings/sending"))
      #expect(setting.values("undo_seconds") == ["5"] && setting.text.contains("Undo window"))
      #expect(ScenePage(try await anna.get("/settings")).links.contains("/settings/sending"))
      #expect(!ScenePage(try await anna.get("/schedules")).text.contains("Undo window"))
      let target = try #require(try await ben.post("/pushes", SendPageTests.fields).location)
      let page = ScenePage(try await ben.get(target))
      #expect(page.text.contains("Sending in 5 s.") && page.text.contains("Undo"))
      #expect(page.forms.count { $0.attributes["action"] == "\(target)/cancel" } == 1)
      let uid = String(target.dropFirst("/pushes/".count))
      let json = try await scene.call(.get, "/api/v1/pushes/\(uid)", as: .viewer).json
      #expect(json?["hold_until"] == .string(Timestamp.text(ConsoleScene.noon + 5)))
      _ = try await ben.post("\(target)/cancel")
      let push = try await scene.finished(uid)
      #expect(push.state == .cancelled && push.startedAt == nil && scene.provider.sent.isEmpty)
      // The API waits only if it is asked to.
      let plain = Self.draft.with("repeat", .null)
      let quick = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: plain)
      #expect(quick.json?["hold_until"] == .null)
      let slow = try await scene.call(
        .post, "/api/v1/pushes", as: .operator, json: plain.with("options", ["undo_seconds": 60]))
      #expect(slow.json?["hold_until"] == .string(Timestamp.text(ConsoleScene.noon + 60)))
    }
  }

  @Test("what was missed, is late or stopped stands on the Overview with what to do, and goes away")
  func overview() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.demo.fill(scene)
      let found = try await scene.store.read { try Schedule.list($0, limit: 9).items.first }
      let schedule = try #require(found)
      var ben = try await scene.signIn(.operator)
      let missed = ScenePage(try await ben.get("/"))
      #expect(missed.text.contains("missed its run on") && missed.text.contains("the server was down or busy"))
      #expect(missed.text.contains("Next run: 21 Nov 2026, 12:00 Europe/Berlin"))
      #expect(missed.links.contains("/schedules/\(schedule.uid)"))
      let metrics = try await scene.call(.get, "/metrics", as: .viewer).text
      #expect(metrics.contains("signalbox_schedules_troubled 1\n"))
      try await scene.store.write {
        _ = try $0.run("UPDATE schedule_occurrences SET noted_at = noted_at - 604800000 WHERE push_id IS NULL")
      }
      #expect(!ScenePage(try await ben.get("/")).text.contains("the server was down or busy"))
      // The engine's clock stands still: nobody takes it up.
      scene.clock.advance(23 * 3600 + 301)
      ben = try await scene.signIn(.admin)
      #expect(ScenePage(try await ben.get("/")).text.contains("was due on"))
      try await scene.store.write { database in
        _ = try database.run("UPDATE schedules SET state = 'paused', next_at = NULL, error = 'It cannot be read.'")
      }
      let stopped = ScenePage(try await ben.get("/"))
      #expect(stopped.text.contains("stopped because of an error") && stopped.text.contains("It cannot be read."))
    }
  }

  @Test("a schedule's page: pause, resume, end with a question, each once, and the history with what was missed")
  func control() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.demo.fill(scene)
      let found = try await scene.store.read { try Schedule.list($0, limit: 9).items.first }
      let schedule = try #require(found)
      let target = "/schedules/\(schedule.uid)"
      var ben = try await scene.signIn(.operator)
      let page = ScenePage(try await ben.get(target))
      #expect(page.text.contains("1 sent, 1 missed") && page.text.contains("The server was down or busy"))
      #expect(page.text.contains("21 Nov 2026, 12:00 Europe/Berlin (11:00 UTC)"))
      #expect(page.text.contains("console · lin@example.com"), "as on the page of a push")
      let list = ScenePage(try await ben.get("/schedules"))
      #expect(list.links.contains(target) && list.text.contains("every day at 12:00, Europe/Berlin"))
      #expect(try await ben.post("\(target)/resume").location == target)
      #expect(ScenePage(try await ben.get(target)).text.contains("your action was not carried out"))
      _ = try await ben.post("\(target)/pause")
      #expect(try await scene.store.read { try Schedule.get($0, id: schedule.id).state } == .paused)
      #expect(ScenePage(try await ben.get("/schedules?state=active")).text.contains("No schedules match"))
      _ = try await ben.post("\(target)/resume")
      #expect(ScenePage(try await ben.get("\(target)/cancel")).text.contains("No more pushes are sent"))
      _ = try await ben.post("\(target)/cancel")
      #expect(try await scene.store.read { try Schedule.get($0, id: schedule.id).state } == .ended)
      for action in ["pause", "resume", "cancel"] {
        #expect(try await scene.audit("schedule.\(action)").count == 1, "\(action)")
      }
      var lena = try await scene.signIn(.viewer)
      #expect(
        ScenePage(try await lena.get(target)).forms.filter { $0.attributes["action"]?.hasPrefix(target) == true }
          .isEmpty)
      #expect(try await lena.get("/schedules/none").status == 404)
    }
  }

  @Test("a run whose push was deleted is not missed, on the page and in the API")
  func deletedPush() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      let schedule = try await scene.addSchedule(ConsoleScene.draft)
      try await scene.store.write { database in
        let push = try #require(try Schedule.lastPush(database, id: schedule.id))
        while try Trim.remove(database, push: push.id, limit: 100, now: ConsoleScene.noon)?.isDone == false {}
      }
      let occurrences = "/api/v1/schedules/\(schedule.uid)/occurrences"
      let runs = try await scene.call(.get, occurrences, as: .viewer).json?["items"]?.array
      #expect(runs?.map { $0["state"]?.string } == ["missed", "sent"] && runs?.last?["push"] == .null)
      var lena = try await scene.signIn(.viewer)
      let page = ScenePage(try await lena.get("/schedules/\(schedule.uid)")).text
      #expect(page.contains("Push deleted") && page.contains("has been deleted since"))
      #expect(page.components(separatedBy: "Missed").count == 2, "the other run")
    }
  }

  @Test("the API: 202 with the schedule, its list, its occurrences, its control; as the document says")
  func api() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp())
      func call(
        _ method: String, _ path: String, _ target: String? = nil, json: JSONValue? = nil, key: String? = nil
      ) async throws -> SceneAnswer {
        let answer = try await scene.call(
          .init(rawValue: method), target ?? path, as: .operator, json: json,
          headers: key.map { ["Idempotency-Key": $0] } ?? [:])
        #expect(try document.errors(answer, to: .init(method: method, path: path)) == [], "\(method) \(path)")
        return answer
      }
      #expect(try document.requestErrors(Self.draft, of: .init(method: "POST", path: "/api/v1/pushes")) == [])
      let made = try await call("POST", "/api/v1/pushes", json: Self.draft, key: "k")
      let uid = try #require(made.json?["id"]?.string)
      #expect(made.status == 202 && made.location == "/api/v1/schedules/\(uid)")
      #expect(
        made.json?["next"] == ["2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z", "2026-11-23T08:00:00Z"])
      #expect(try await call("POST", "/api/v1/pushes", json: Self.draft, key: "k").bytes == made.bytes)
      #expect(try await scene.count("schedules") == 1)
      let dry = try await call("POST", "/api/v1/pushes", json: Self.draft.with("options", ["dry_run": true]))
      #expect(dry.status == 200 && dry.json?["next"]?.array?.count == 3 && dry.json?["reachable"] == 3)
      let never = Self.draft.with(
        "repeat", ["every": "day", "at": "09:00", "time_zone": "UTC", "until": "2026-11-20T12:00:01Z"])
      let refused = try await call("POST", "/api/v1/pushes", json: never)
      #expect(refused.status == 422 && refused.fields == ["repeat"] && refused.codes == ["lint.repeat_never"])
      let one = "/api/v1/schedules/{id}"
      let target = "/api/v1/schedules/\(uid)"
      #expect(try await call("GET", one, target).json?["state"] == "active")
      let all = try await call("GET", "/api/v1/schedules").json?["items"]?.array
      #expect(all?.compactMap { $0["id"]?.string } == [uid])
      #expect(try await call("POST", one + "/resume", target + "/resume").status == 409)
      #expect(try await call("POST", one + "/pause", target + "/pause").json?["next_at"] == .null)
      #expect(try await call("POST", one + "/resume", target + "/resume").json?["next_at"] == "2026-11-21T08:00:00Z")
      // One whose time has come twice: in the past, as the scene's engine holds the clock at noon.
      let past = try await scene.addSchedule(ConsoleScene.draft)
      let its = "/api/v1/schedules/\(past.uid)"
      let states = try await call("GET", one + "/occurrences", its + "/occurrences").json?["items"]?.array
      #expect(states?.map { $0["state"]?.string } == ["missed", "sent"])
      let sent = try #require(states?.last?["push"]?.string)
      let told = try await call("GET", "/api/v1/pushes/{id}", "/api/v1/pushes/\(sent)").json
      #expect(told?["schedule"]?.string == past.uid && told?["source"] == "schedule")
      let mine = try await call("GET", "/api/v1/pushes", "/api/v1/pushes?schedule=\(past.uid)").json?["items"]?.array
      #expect(mine?.count == 1)
      #expect(try await call("GET", one, its).json?["last_push"]?.string == sent)
      #expect(try await call("POST", one + "/cancel", target + "/cancel").json?["state"] == "ended")
      #expect(try await call("POST", one + "/cancel", target + "/cancel").status == 409)
      #expect(try await call("GET", one, "/api/v1/schedules/none").status == 404)
    }
  }
}
