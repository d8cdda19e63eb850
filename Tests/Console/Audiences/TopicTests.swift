import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Store
import Testing

@Suite("Topics: page, API, form and result")
struct TopicTests {
  private static let list = "/api/v1/apps/com.example.shop/topics/production"
  private static func token(_ number: Int) -> String {
    "phone-\(number):APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8vSsdtQ"
  }

  private static func addAndroid(_ scene: ConsoleScene, _ app: App, _ count: Int) async throws {
    let registrations = (0..<count).map {
      Registration(token: DeviceToken(bytes: Array(token($0).utf8)), environment: .production, platform: .android)
    }
    _ = try await scene.store.write { try Device.register($0, app: app.id, registrations, now: ConsoleScene.noon) }
  }

  @Test("the API subscribes with a result for each token, lists, and sets the rules; each answer fits its schema")
  func api() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await Self.addAndroid(scene, app, 3)
      scene.provider.answerTopics { token in
        switch token.text {
        case Self.token(1): .refused(reason: "UNREGISTERED")
        case Self.token(2): .later(reason: "QUOTA_EXCEEDED", after: nil)
        default: .done
        }
      }
      let body: JSONValue = ["topic": "news", "tokens": .array((0..<3).map { .string(Self.token($0)) })]
      let made = try await scene.call(.post, Self.list + "/subscribe", as: .operator, json: body)
      #expect(made.status == 200, "\(made.text)")
      let path = "/api/v1/apps/{app}/topics/{environment}"
      #expect(try document.errors(made, to: .init(method: "POST", path: path + "/subscribe")) == [])
      let states = made.json?["results"]?.array?.compactMap { $0["state"]?.string }
      #expect(states == ["done", "refused", "pending"] && made.json?["succeeded"] == 1)
      #expect(made.text.contains("The app was removed"))
      let known = try await scene.call(.get, Self.list, as: .viewer)
      #expect(try document.errors(known, to: .init(method: "GET", path: path)) == [])
      let topic = known.json?["items"]?.array?.first
      #expect(topic?["name"] == "news" && topic?["subscribed"] == 1 && topic?["pending"] == 1, "\(known.text)")

      let rules = "/api/v1/apps/com.example.shop/topic-rules"
      let set = try await scene.call(.put, rules, as: .operator, json: ["rules": ["version", "common"]])
      #expect(set.status == 200 && set.json?["rules"] == ["common", "version"], "\(set.text)")
      #expect(try document.errors(set, to: .init(method: "PUT", path: "/api/v1/apps/{app}/topic-rules")) == [])
      #expect(try await scene.call(.get, rules, as: .viewer).json?["rules"] == ["common", "version"])
      let wrongs: [(String, JSONValue)] = [
        (rules, ["rules": ["weather"]]), (rules, JSONValue.object([:])),
        (Self.list + "/subscribe", ["topic": "/topics/a", "tokens": [.string(Self.token(0))]]),
        (Self.list + "/unsubscribe", ["topic": "a", "tokens": []]),
      ]
      for (path, wrong) in wrongs {
        let answer = try await scene.call(path == rules ? .put : .post, path, as: .operator, json: wrong)
        #expect(answer.status == 422, "\(answer.text)")
      }
      #expect(try await scene.call(.put, rules, as: .viewer, json: ["rules": []]).status == 403)
      scene.provider.answerTopics(nil)
      let none = try await scene.call(.post, Self.list + "/unsubscribe", as: .operator, json: body)
      #expect(none.status == 409 && none.text.contains("service account"))
      let actions = try await scene.audit().map(\.action).filter { $0.hasPrefix("topic.") }
      #expect(actions == ["topic.rules", "topic.subscribe"])
      let detail = try await scene.audit("topic.rules").first?.detail
      #expect(detail == ["before": ["rules": []], "after": ["rules": ["common", "version"]]])
    }
  }

  @Test("the page switches rules on, subscribes, says what was refused, and shows what is pending and why")
  func page() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await Self.addAndroid(scene, app, 2)
      var ben = try await scene.signIn(.operator)
      let path = "/apps/\(app.id)/topics"
      #expect(try await ben.get(path).text.contains("No device is subscribed through Signalbox yet."))
      scene.provider.answerTopics(nil)
      let saved = try await ben.post(path + "/rules", [("rules", "common"), ("rules", "time_zone")])
      #expect(saved.status == 303)
      let rules = try await scene.store.read { try TopicRules.find($0, app: app.id).rules }
      #expect(rules == [.common, .timeZone])
      while try await scene.engine.topics.work() {}
      let waiting = try await ben.get(path)
      #expect(waiting.text.contains("NoCredential") && ScenePage(waiting).values("rules") == ["common", "time_zone"])

      scene.provider.answerTopics { $0.text == Self.token(1) ? .refused(reason: "TOO_MANY_TOPICS") : .done }
      let form = [("environment", "production"), ("topic", "news"), ("tokens", Self.token(0))]
      #expect(try await ben.post(path + "/subscribe", form).status == 303)
      let both = form.dropLast() + [("tokens", "\(Self.token(0)) \(Self.token(1))")]
      let partly = try await ben.post(path + "/subscribe", Array(both))
      #expect(partly.status == 200 && partly.text.contains("2000 topics"), "\(partly.text)")
      #expect(partly.text.contains("topic=news"))
      for wrong in [("topic", "a b"), ("tokens", "short"), ("environment", "")] {
        let changed = form.map { $0.0 == wrong.0 ? wrong : $0 }
        #expect(try await ben.post(path + "/subscribe", changed).status == 422, "\(wrong)")
      }
      var vera = try await scene.signIn(.viewer)
      let seen = try await vera.get(path).text
      #expect(!seen.contains("<form class=\"stack\"") && seen.contains("common"))
    }
  }

  @Test("an audience is queued on a page of its own, and its devices are shown with their results")
  func audience() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await Self.addAndroid(scene, app, 3)
      scene.provider.answerTopics { $0.text == Self.token(1) ? .refused(reason: "UNREGISTERED") : .done }
      var ben = try await scene.signIn(.operator)
      let path = "/apps/\(app.id)/topics"
      #expect(ScenePage(try await ben.get(path)).links.contains(path + "/audience"))
      #expect(try await ben.get(path + "/audience").text.contains("name=\"tag_and\""))
      let form = [("environment", "production"), ("topic", "news"), ("audience", "all")]
      for wrong in [
        ("topic", "a b"), ("environment", ""), ("audience", ""), ("audience", "tag"), ("audience", "alias"),
      ] {
        let changed = form.map { $0.0 == wrong.0 ? wrong : $0 }
        let answer = try await ben.post(path + "/audience/subscribe", changed)
        #expect(
          answer.status == 422 && ScenePage(answer).error(wrong.0 == "audience" ? "audience" : wrong.0) != "",
          "\(wrong)")
      }
      let nobody = try await ben.post(
        path + "/audience/subscribe", [("environment", "development")] + form.dropFirst())
      #expect(nobody.status == 422 && nobody.text.contains("No active device that FCM reaches"))
      let queued = try await ben.post(path + "/audience/subscribe", form)
      let page = try #require(queued.location)
      #expect(queued.status == 303 && page == path + "/changes/1")
      #expect(try await ben.get(page).text.contains("Collecting the devices"))
      while try await scene.engine.topics.work() {}
      let done = try await ben.get(page)
      #expect(
        done.text.contains("UNREGISTERED: The app was removed") && !done.text.contains("Collecting"), "\(done.text)")
      #expect(try await ben.get(page + "?state=pending").text.contains("No devices."))
      #expect(ScenePage(try await ben.get(page)).text.contains("1–3 of 3"))
      let refused = ScenePage(try await ben.get(page + "?state=refused"))
      #expect(refused.text.contains("1–1 of 1"))
      let links = refused.links
      #expect(Set(links).isSuperset(of: ["csv", "json"].map { "\(page)/devices.\($0)?state=refused" }))
      try await scene.served(to: ben) { served in
        let csv = DeviceListExportTests.body(try await served.get(page + "/devices.csv?state=refused"))
        #expect(csv.hasPrefix("\u{FEFF}device,") && csv.contains(",refused,UNREGISTERED,") && !csv.contains(",done,"))
      }
      #expect(try await ben.get(path).text.contains("2 / 3"))
      #expect(try await ben.get(path + "/changes/9").status == 404)
      let left = try await ben.post(path + "/audience/unsubscribe", form)
      #expect(left.location == path + "/changes/2")
      let actions = try await scene.audit().map(\.action).filter { $0.hasPrefix("topic.") }
      #expect(actions == ["topic.unsubscribe", "topic.subscribe"])
    }
  }

  @Test("the form, the review and the result say that only FCM knows the receivers")
  func push() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      _ = try await scene.store.write { database in
        try Credential.bind(
          database, app: app.id, provider: .fcm, environment: .development, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
      }
      var ben = try await scene.signIn(.operator)
      let fresh = ScenePage(try await ben.get("/pushes/new?app=com.example.shop&environment=production&topic=news"))
      #expect(fresh.values("audience") == ["topic"] && fresh.values("topic") == ["news"])
      let form = [
        ("app", "com.example.shop"), ("environment", "development"), ("platforms", "ios"), ("audience", "topic"),
        ("topic", "news"), ("body", "Hello"),
      ]
      let review = try await ben.post("/pushes/preview", form)
      #expect(review.status == 200, "\(review.text)")
      #expect(review.text.contains("FCM does not say how many") && review.text.contains("Send to the topic"))
      let bad = form.map { $0.0 == "topic" ? ("topic", "/topics/news") : $0 }
      let refused = try await ben.post("/pushes/preview", bad)
      #expect(refused.status == 422 && refused.text.contains("Leave out /topics/."))
      let sent = try await ben.post("/pushes", form)
      #expect(sent.status == 303, "\(sent.text)")
      let uid = try #require(sent.location?.split(separator: "/").last.map(String.init))
      let push = try await scene.finished(uid)
      #expect(push.target == 1 && push.counts.accepted == 1)
      let page = try await ben.get("/pushes/\(uid)")
      #expect(
        page.text.contains("Accepted by FCM for the topic") && page.text.contains("Only FCM knows the subscribers"))
      #expect(!page.text.contains("id=\"devices\"") && page.text.contains("the subscribers of topic news"))
      #expect(app.bundleID == "com.example.shop")
      let draft = try await scene.store.read { try Push.find($0, uid: uid)?.draftJSON }
      #expect(draft?.contains("\"platforms\":[\"android\"]") == true, "\(draft ?? "")")
    }
  }
}
