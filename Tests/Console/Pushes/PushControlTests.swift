import Calendar
import Delivery
import Foundation
import HTTPServer
import JSON
import Providers
import Model
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

/// Pause, resume, cancel and retry, on the page and over the API.
@Suite("Control of a push")
struct PushControlTests {
  private static let api = "/api/v1/pushes"

  /// A push that is under way, with every device held back by the provider.
  private func held(_ scene: ConsoleScene, devices: Int = 4) async throws -> Push {
    let app = try await scene.addApp()
    try await scene.addDevices(devices, of: app)
    scene.provider.answer { _ in nil }
    let answer = try await scene.call(
      .post, Self.api, as: .operator,
      json: [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
        "notification": ["body": "hello"],
      ])
    #expect(answer.status == 202, "\(answer.text)")
    try await waitUntil("every device is held back") { scene.provider.waiting >= devices }
    let uid = try #require(answer.json?["id"]?.string)
    return try #require(try await scene.store.read { try Push.find($0, uid: uid) })
  }

  private func state(_ scene: ConsoleScene, _ push: Push) async throws -> PushState {
    try await scene.store.read { try Push.get($0, id: push.id).state }
  }

  @Test("paused, resumed, and everybody has the push once; each step once, and in the audit")
  func pauseAndResume() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      let target = "\(Self.api)/\(push.uid)"
      let early = try await scene.call(.post, "\(target)/resume", as: .operator)
      #expect(early.status == 409)
      let paused = try await scene.call(.post, "\(target)/pause", as: .operator)
      #expect(paused.status == 200 && paused.json?["state"] == "paused")
      #expect(
        try document.errors(paused, to: .init(method: "POST", path: "/api/v1/pushes/{id}/pause")) == [])
      try await waitUntil("four devices wait") {
        try await scene.store.read { try Push.get($0, id: push.id).waiting } == 4
      }
      let told = try await scene.call(.get, target, as: .viewer)
      #expect(told.json?["waiting"]?.integer == 4 && told.json?["counts"]?["pending"]?.integer == 4)
      #expect(try await scene.call(.post, "\(target)/pause", as: .operator).status == 409)
      scene.provider.answer { _ in .outcome(.accepted) }
      #expect(try await scene.call(.post, "\(target)/resume", as: .operator).status == 200)
      let ended = try await scene.finished(push.uid)
      #expect(ended.state == .finished && ended.counts == OutcomeCounts(accepted: 4))
      #expect(try await scene.audit("push.pause").count == 1)
      #expect(try await scene.audit("push.resume").count == 1)
    }
  }

  @Test("a retry goes to those that failed for what may pass, names the others, and is a push of its own")
  func retry() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      let target = "\(Self.api)/\(push.uid)/retry"
      #expect(try await scene.call(.post, target, as: .operator).status == 409)
      let busy = SendResult.retry(RetryCause(status: 503, reason: "ServiceUnavailable"))
      let (first, second) = (scene.provider.sent[0], scene.provider.sent[1])
      scene.provider.answer { member in
        switch member.id {
        case first: busy
        case second: .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: nil))
        default: .outcome(.accepted)
        }
      }
      _ = try await scene.finished(push.uid)
      scene.provider.answer { _ in .outcome(.accepted) }
      let answer = try await scene.call(.post, target, as: .operator)
      #expect(answer.status == 202, "\(answer.text)")
      #expect(try document.errors(answer, to: .init(method: "POST", path: "/api/v1/pushes/{id}/retry")) == [])
      #expect(answer.json?["devices"]?.integer == 1)
      #expect(answer.json?["excluded"]?.array?.first?["reason"] == "Unregistered")
      #expect(answer.json?["push"]?["repeats"]?.string == push.uid)
      let uid = try #require(answer.json?["push"]?["id"]?.string)
      let child = try await scene.finished(uid)
      #expect(child.parentID == push.id && child.counts == OutcomeCounts(accepted: 1))
      #expect(try await scene.call(.post, "\(Self.api)/\(uid)/retry", as: .operator).status == 409)
      #expect(try await scene.audit("push.retry").count == 1)
    }
  }

  @Test("failed devices that were retired since are not retried: there is no button, and the API says so")
  func gone() async throws {
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      let failed = scene.provider.sent[0]
      scene.provider.answer { member in
        member.id == failed ? .retry(RetryCause(status: 503, reason: "ServiceUnavailable")) : .outcome(.accepted)
      }
      _ = try await scene.finished(push.uid)
      var lin = try await scene.signIn(.operator)
      #expect(try await lin.get("/pushes/\(push.uid)").text.contains("/pushes/\(push.uid)/retry"))
      _ = try await scene.store.write { database in
        try database.run("UPDATE devices SET state = ? WHERE id = ?", DeviceState.dead.rawValue, failed)
      }
      #expect(try await !lin.get("/pushes/\(push.uid)").text.contains("/pushes/\(push.uid)/retry"))
      let refused = try await scene.call(.post, "\(Self.api)/\(push.uid)/retry", as: .operator)
      #expect(refused.status == 409 && refused.text.contains("no longer active"), "\(refused.text)")
    }
  }

  @Test("the page, its causes and the events promise no retry to devices that are no longer active")
  func inactive() async throws {
    let document = try OpenAPIDocument()
    let schema = try #require(document.json["components"]?["schemas"]?["Progress"])
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      let target = "/pushes/\(push.uid)"
      var anna = try await scene.signIn(.operator)
      #expect(try await anna.post("\(target)/pause", []).status == 303)
      try await waitUntil("four devices wait") {
        try await scene.store.read { try Push.get($0, id: push.id).waiting } == 4
      }
      func setState(_ state: DeviceState, upTo device: Int, reason: String = "ServiceUnavailable") async throws {
        _ = try await scene.store.write { database in
          try database.run("INSERT OR IGNORE INTO reasons(text) VALUES (?)", reason)
          try database.run("UPDATE push_waiting SET reason_id = (SELECT id FROM reasons WHERE text = ?)", reason)
          try database.run("UPDATE devices SET state = ? WHERE id <= ?", state.rawValue, device)
        }
      }
      func told() async throws -> JSONValue {
        try await waitUntil("nobody is followed") { scene.console.broadcasts.count == 0 }
        for try await event in scene.console.broadcasts.events(of: push.id, as: "test", { $0 }) {
          let data = try #require(String(decoding: event, as: UTF8.self).firstMatch(of: /data: (.*)/)).output.1
          return try JSONValue(parsing: Data(data.utf8))
        }
        return .null
      }
      let remedy = "No action needed: it is retried after 15 minutes."
      try await setState(.active, upTo: 4, reason: "TimedOut")
      var page = ScenePage(try await anna.get(target)).text
      #expect(page.contains("No action needed: it is retried. Apps that read sbid drop duplicates."))
      #expect(page.contains("Who acts: No one") && !page.contains("Retry only if"), "Signalbox retries by itself")
      try await setState(.active, upTo: 4)
      page = ScenePage(try await anna.get(target)).text
      #expect(page.contains("4 devices will be retried, the first on") && page.contains(remedy))
      try await setState(.quarantined, upTo: 1)
      page = ScenePage(try await anna.get(target)).text
      #expect(page.contains("3 devices will be retried, the first on"), "\(page)")
      #expect(page.contains("; 1 inactive device will not be retried"))
      #expect(page.contains("Some of these devices are no longer active and will not be") && page.contains(remedy))
      var progress = try await told()
      #expect(document.schema.errors(progress, schema) == [])
      #expect(progress["waiting_inactive"] == 1 && progress["waiting"] == 4 && progress["next_due"] != .null)
      try await setState(.dead, upTo: 4)
      page = ScenePage(try await anna.get(target)).text
      #expect(page.contains("4 inactive devices will not be retried"), "\(page)")
      #expect(!page.contains("will be retried") && !page.contains(remedy))
      #expect(page.contains("Not retried: no longer active"))
      #expect(page.contains("When it is active again, send the push again."))
      progress = try await told()
      #expect(progress["waiting_inactive"] == 4 && progress["next_due"] == .null)
      // What the heading of a push says that has nothing else left to do.
      var stored = try await scene.store.read { try PushProgress.find($0, push: push.id) }
      stored.state = .sending
      let file = ConsoleScene.root.appendingPathComponent("Templates/locales/en.json")
      let texts = Texts(code: "en", table: try JSONValue(parsing: Data(contentsOf: file)))
      #expect(ProgressJSON(stored, texts).sentence == "4 inactive devices will not be retried")
      stored.outlook.isPartial = true
      stored.waiting = 5000
      stored.target = 5000
      stored.nextDue = ConsoleScene.noon
      let sentence = ProgressJSON(stored, texts).sentence
      #expect(sentence.hasPrefix("Up to 4,996 devices will be retried"), "\(sentence)")
      #expect(sentence.hasSuffix("; at least 4 inactive devices will not be retried"), "\(sentence)")
    }
  }

  @Test("the page has the buttons that do something, and they do it")
  func page() async throws {
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      let target = "/pushes/\(push.uid)"
      var anna = try await scene.signIn(.operator)
      var page = try await anna.get(target).text
      #expect(page.contains("\(target)/pause") && page.contains("\(target)/cancel"))
      #expect(!page.contains("\(target)/resume") && !page.contains("\(target)/retry"))
      #expect(try await anna.post("\(target)/pause", []).status == 303)
      #expect(try await state(scene, push) == .paused)
      try await waitUntil("four devices wait") {
        try await scene.store.read { try Push.get($0, id: push.id).waiting } == 4
      }
      page = try await anna.get(target).text
      #expect(page.contains("\(target)/resume") && !page.contains("\(target)/pause\""))
      #expect(page.contains("4 devices will be retried"))
      #expect(page.contains("data-funnel hidden"), "nothing that an app could have shown")
      let list = ScenePage(try await anna.get("\(target)?outcome=pending"))
      let waiting = list.links.filter { $0.hasPrefix("\(target)/deliveries/") }
      #expect(waiting == scene.provider.sent.sorted().map { "\(target)/deliveries/\($0)" }, "each is listed")
      #expect(list.text.contains("Next attempt") && !list.text.contains("No outcomes yet"))
      #expect(ScenePage(try await anna.get("\(target)?outcome=failed")).text.contains("No devices match"))
      let device = ScenePage(try await anna.get("/devices/\(scene.provider.sent.sorted()[0])"))
      #expect(device.links.contains(waiting[0]) && device.text.contains("Will be retried"), "also at the device")
      let one = ScenePage(try await anna.get(waiting[0]))
      #expect(one.text.contains("Will be retried on") && one.text.contains(ConsoleScene.token(0).hexadecimal))
      scene.provider.answer { _ in .retry(RetryCause(status: 503, reason: "ServiceUnavailable")) }
      #expect(try await anna.post("\(target)/resume", []).status == 303)
      _ = try await scene.finished(push.uid)
      page = try await anna.get(target).text
      #expect(page.contains("Retry 4 devices") && !page.contains("\(target)/cancel"))
      scene.provider.answer { _ in .outcome(.accepted) }
      let answer = try await anna.post("\(target)/retry", [])
      let location = try #require(answer.response.headers["Location"])
      #expect(location.hasPrefix("/pushes/") && location != target)
      let child = try await scene.finished(String(location.dropFirst("/pushes/".count)))
      #expect(child.counts.accepted == 4)
      let lena = try await scene.signIn(.viewer)
      var viewer = lena
      #expect(try await viewer.post("\(target)/retry", []).status == 403)
    }
  }

  @Test("an admin deletes a push that has ended, after a question; nobody else, and no push that is still to be sent")
  func remove() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp())
      var draft = ConsoleScene.draft
      draft.notification.body = "Hello"
      let push = try await scene.send(draft)
      let made = try await scene.call(
        .post, Self.api, as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "notification": ["body": "Later"], "send_at": .time(scene.now + 3600),
        ])
      let later = "/pushes/\(try #require(made.json?["id"]?.string, "\(made.text)"))"
      var ada = try await scene.signIn(.admin)
      var anna = try await scene.signIn(.operator)
      let target = "/pushes/\(push.uid)"
      #expect(!ScenePage(try await anna.get(target)).links.contains(target + "/remove"))
      #expect(try await anna.post(target + "/remove", []).status == 403)
      #expect(!ScenePage(try await ada.get(later)).links.contains(later + "/remove"))
      let refused = ScenePage(try await ada.get(later + "/remove"))
      #expect(refused.text.contains("once it and its retries have ended"))
      #expect(try await ada.post(later + "/remove", []).location == later + "/remove")
      #expect(try await ada.get(later).status == 200)
      #expect(try await scene.audit("push.delete").isEmpty)

      #expect(ScenePage(try await ada.get(target)).links.contains(target + "/remove"))
      let asked = ScenePage(try await ada.get(target + "/remove"))
      #expect(asked.text.contains("Delete “Hello”?"))
      // Several pushes may have the same text.
      for text in ["Shop, development", "everyone", "3 accepted"] { #expect(asked.text.contains(text), "\(text)") }
      #expect(try await ada.post(target + "/remove", []).location == "/pushes")
      #expect(try await ada.get(target).status == 404)
      #expect(try await scene.count("deliveries") == 0)
      #expect(try await scene.audit("push.delete").map(\.subject) == ["push \(push.uid)"])
    }
  }

  @Test("a push for later that is paused says that nothing was sent, and what it was scheduled for")
  func pausedBeforeItsTime() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      let made = try await scene.call(
        .post, Self.api, as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "notification": ["body": "Later"], "send_at": .time(scene.now + 3600),
        ])
      let target = "/pushes/\(try #require(made.json?["id"]?.string, "\(made.text)"))"
      var anna = try await scene.signIn(.operator)
      #expect(try await anna.post("\(target)/pause", []).location == target)
      let page = ScenePage(try await anna.get(target))
      #expect(page.tags.first { $0.name == "h1" }?.text == "Not sent yet", "\(page.text)")
      #expect(page.text.contains("20 Nov 2026, 13:00 UTC"))
      #expect(page.text.contains("Nothing more is sent until you resume"))
    }
  }

  @Test("a push for later can be taken back as if it had never been")
  func undo() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(2, of: app)
      let answer = try await scene.call(
        .post, Self.api, as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "notification": ["body": "hello"], "send_at": .string(Timestamp.text(ConsoleScene.noon + 10)),
          "options": ["rate": 500],
        ])
      #expect(answer.status == 202)
      let uid = try #require(answer.json?["id"]?.string)
      #expect(answer.json?["send_at"] == .string(Timestamp.text(ConsoleScene.noon + 10)))
      var anna = try await scene.signIn(.operator)
      let held = ScenePage(try await anna.get("/pushes/\(uid)"))
      #expect(held.text.contains("at 500 per second"))
      let button = held.tags.first { $0.name == "button" && $0.text == "Undo" }
      #expect(button?.attributes["autofocus"] != nil && button?.attributes["aria-describedby"] == "time-left")
      #expect(ScenePage(try await anna.get("/pushes/\(uid)")).text.contains("Scheduled"), "a time was chosen")
      #expect(try await scene.call(.post, "\(Self.api)/\(uid)/cancel", as: .operator).status == 200)
      let push = try await scene.finished(uid)
      #expect(push.state == .cancelled && push.startedAt == nil && scene.provider.sent.isEmpty)
      let undone = try await anna.get("/pushes/\(uid)").text
      #expect(!undone.contains("No outcomes") && !undone.contains("Accepted means") && !undone.contains("class=\"bar"))
    }
  }

  @Test("cancelled half-way: everybody has an outcome, in the list, the API and the device's page; then the rest")
  func rest() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let push = try await held(scene, devices: 30)
      let target = "/pushes/\(push.uid)"
      let first = scene.provider.sent[0]
      scene.provider.answer { $0.id == first ? .outcome(.accepted) : nil }
      let answer = try await scene.call(.post, "\(Self.api)/\(push.uid)/cancel", as: .operator)
      #expect(answer.status == 200 && answer.json?["state"] == "cancelled", "\(answer.text)")
      let ended = try await scene.finished(push.uid)
      #expect(ended.counts == OutcomeCounts(accepted: 1, skipped: 29) && ended.target == 30)
      let told = try await scene.call(.get, "\(Self.api)/\(push.uid)", as: .viewer)
      #expect(told.json?["settling"] == false && told.json?["counts"]?["pending"] == 0)
      let rows = try await scene.call(
        .get, "\(Self.api)/\(push.uid)/deliveries?outcome=skipped&limit=100", as: .viewer)
      #expect(rows.json?["items"]?.array?.count == 29 || rows.json?["data"]?.array?.count == 29, "\(rows.text)")
      var anna = try await scene.signIn(.operator)
      let page = try await anna.get(target).text
      #expect(page.contains("Send to 29 remaining devices") && page.contains("Tags and aliases are evaluated again"))
      let second = scene.provider.sent[1]
      #expect(try await anna.get("/devices/\(second)").text.contains("Cancelled"))
      #expect(try await anna.get("\(target)/deliveries/\(second)").text.contains("canceled before"))
      scene.provider.answer { _ in .outcome(.accepted) }
      let retry = try await scene.call(.post, "\(Self.api)/\(push.uid)/retry", as: .operator)
      #expect(retry.json?["devices"] == 29 && retry.json?["unknown"] == 0)
      #expect(try document.errors(retry, to: .init(method: "POST", path: "/api/v1/pushes/{id}/retry")) == [])
      let child = try await scene.finished(try #require(retry.json?["push"]?["id"]?.string))
      #expect(child.counts == OutcomeCounts(accepted: 29))
      // A second click, or a page that was open since before: nobody is sent to twice.
      let sent = scene.provider.sent.count
      #expect(try await scene.call(.post, "\(Self.api)/\(push.uid)/retry", as: .operator).status == 409)
      let again = try await anna.post("\(target)/retry", [])
      #expect(again.response.headers["Location"] == "/pushes/\(child.uid)")
      #expect(scene.provider.sent.count == sent)
      #expect(try await scene.audit("push.retry").count == 1)
      let parent = ScenePage(try await anna.get(target))
      #expect(parent.links.contains("/pushes/\(child.uid)") && parent.text.contains("were sent a new push"))
      #expect(!parent.text.contains("remaining devices"))
      let own = ScenePage(try await anna.get("/pushes/\(child.uid)"))
      #expect(own.links.contains(target) && own.text.contains("an earlier push did not reach: \(push.uid)"))
      _ = try await anna.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let chinese = try await anna.get("/pushes/\(child.uid)").text
      #expect(chinese.contains("未到达的设备：<a href=\"\(target)\">"), "no blank after a full-width colon")
    }
  }

  @Test("what may have come twice is told with its bound, on the page and in the API")
  func repeats() async throws {
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      scene.provider.answer { _ in .outcome(.accepted) }
      _ = try await scene.finished(push.uid)
      var anna = try await scene.signIn(.viewer)
      #expect(try await !anna.get("/pushes/\(push.uid)").text.contains("received this push twice"))
      try await scene.store.write { database in
        var repeats = Push.Repeats()
        repeats.unanswered = 12
        repeats.interrupted = 300
        try Push.note(database, id: push.id, repeats: repeats)
      }
      let page = try await anna.get("/pushes/\(push.uid)").text
      #expect(page.contains("Up to 312 devices may have received this push twice: 12 were retried"))
      let told = try await scene.call(.get, "\(Self.api)/\(push.uid)", as: .viewer)
      let expected: JSONValue = ["at_most": 312, "unanswered": 12, "interrupted": 300]
      #expect(told.json?["repeated"] == expected)
    }
  }

  @Test("an open circuit and a storm are told on the app's page and in the API")
  func health() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let path = "/api/v1/apps/\(ConsoleScene.bundleID)/credentials"
      var anna = try await scene.signIn(.viewer)
      let quiet = try await scene.call(.get, path, as: .viewer)
      #expect(quiet.text.contains("\"closed\""))
      scene.provider.stand(
        ProviderHealth(
          circuit: .open(reason: "InvalidProviderToken", since: scene.now, until: scene.now + 5), limit: 60,
          stormShare: 0.31, stormAt: scene.now, lost: 900))
      let page = try await anna.get("/apps/\(app.id)").text
      #expect(page.contains("sent with this credential since 20 Nov 2026, 12:00 UTC: InvalidProviderToken"))
      #expect(page.contains("31% of requests around 20 Nov 2026, 12:00 UTC were refused"))
      #expect(page.contains("Connections closed before 900 requests were answered"))
      // The requests may have been those of another push, and one is a limit, too.
      #expect(page.contains("Until connections are stable, Signalbox limits unanswered requests to 60."))
      #expect(!page.contains("may already have the push"))
      let told = try await scene.call(.get, path, as: .viewer)
      #expect(told.text.contains("\"open\"") && told.text.contains("\"slowed_to\":60"))
      #expect(
        try OpenAPIDocument().errors(told, to: .init(method: "GET", path: "/api/v1/apps/{app}/credentials")) == [])
    }
  }

  @Test("a refused credential is told on the page of a push that needs it, and on no other")
  func refusedCredential() async throws {
    try await ConsoleScene.with { scene in
      let push = try await held(scene)
      scene.provider.stand(
        ProviderHealth(circuit: .open(reason: "BadCertificate", since: scene.now, until: scene.now + 5)))
      var anna = try await scene.signIn(.viewer)
      let page = try await anna.get("/pushes/\(push.uid)").text
      #expect(
        page.contains("Nothing has been sent with this credential") && page.contains(Reason.of("BadCertificate").remedy)
      )
      #expect(page.contains("Open the app’s credentials") && !page.contains("data-blocked hidden"))
      let uid = try await scene.send([
        "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
        "notification": ["body": "hello"], "send_at": "2026-12-01T09:00:00Z",
      ])
      #expect(try await !anna.get("/pushes/\(uid)").text.contains("BadCertificate"))
      scene.provider.answer { _ in .outcome(.accepted) }
      _ = try await scene.finished(push.uid)
      #expect(try await !anna.get("/pushes/\(push.uid)").text.contains("BadCertificate"))
    }
  }

  @Test("devices refused for their environment are moved by one button, which asks, and back")
  func move() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let push = try await held(scene, devices: 14)
      let target = "/pushes/\(push.uid)"
      // Registered before the push was sent, or the refusal would not count.
      try await scene.store.write { database in
        _ = try database.run("UPDATE devices SET registered_at = registered_at - 1000")
      }
      scene.provider.answer { _ in
        .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil))
      }
      _ = try await scene.finished(push.uid)
      var anna = try await scene.signIn(.operator)
      #expect(try await anna.get(target).text.contains("Move 14 devices to production"))
      let ask = try await anna.get("\(target)/move").text
      #expect(ask.contains("You can undo this"))
      #expect(ask.contains("None of these tokens was ever registered for production"))
      #expect(ask.contains("class=\"env-production\"") && ask.contains("Type the app’s name, Shop"))
      for typed in [[], [("confirm", "shop")]] {
        let refused = try await anna.post("\(target)/move", typed)
        #expect(refused.status == 422 && refused.text.contains("Doesn’t match the app’s name. Type Shop."))
      }
      #expect(try await scene.audit("push.move").isEmpty)
      #expect(try await anna.post("\(target)/move", [("confirm", "Shop")]).status == 303)
      #expect(try await scene.audit("push.move").count == 1)
      let moved = try await scene.store.read { try Device.list($0, DeviceFilter(), limit: 100).items }
      #expect(moved.count == 14 && moved.allSatisfy { $0.environment == .production && $0.state == .active })
      #expect(try await anna.get(target).text.contains("Move 14 devices back to development"))
      let back = try await scene.call(.post, "\(Self.api)/\(push.uid)/move-back", as: .operator)
      let path = "/api/v1/pushes/{id}/move-back"
      #expect(back.json == ["devices": 14, "environment": "development"], "\(back.text)")
      #expect(try document.errors(back, to: .init(method: "POST", path: path)) == [])
      #expect(try await scene.audit("push.move_back").count == 1)
      #expect(try await scene.call(.post, "\(Self.api)/\(push.uid)/move-back", as: .operator).status == 409)
      let again = try await scene.call(.post, "\(Self.api)/\(push.uid)/move", as: .operator)
      #expect(again.json == ["devices": 14, "environment": "production"], "\(again.text)")
      let parked = try await scene.store.read { try MovedTokens.find($0, .push(push)) }
      #expect(parked.parked.isEmpty && parked.moved.count == 14)
      var viewer = try await scene.signIn(.viewer)
      #expect(try await !viewer.get(target).text.contains("Move 14"))
    }
  }
}
