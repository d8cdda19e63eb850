import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Store
import Testing

@Suite("Broadcast channels: page and API")
struct ChannelTests {
  private static let list = "/api/v1/apps/com.example.shop/channels/production"

  @Test("the API creates, lists, reads, compares and deletes, and each answer fits its schema")
  func api() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let made = try await scene.call(.post, Self.list, as: .operator, json: ["storage": "latest", "name": "Final"])
      #expect(made.status == 201, "\(made.text)")
      #expect(
        try document.errors(made, to: .init(method: "POST", path: "/api/v1/apps/{app}/channels/{environment}")) == [])
      #expect(
        made.json?["name"] == "Final" && made.json?["storage"] == "latest"
          && made.json?["created_by"] == "token operator")
      let id = try #require(made.json?["id"]?.integer)
      scene.provider.addChannel("c3RyYW5nZXI=")
      let known = try await scene.call(.get, Self.list, as: .viewer)
      #expect(known.json?["items"]?.array?.count == 1)
      let refreshed = try await scene.call(.post, Self.list + "/refresh", as: .operator)
      #expect(refreshed.status == 200 && refreshed.json?["items"]?.array?.count == 2, "\(refreshed.text)")
      let read = try await scene.call(.get, "\(Self.list)/\(id)", as: .operator)
      #expect(read.status == 200 && read.json?["storage"] == "latest")
      #expect(try await scene.call(.get, Self.list + "/999", as: .operator).status == 404)
      let other = "/api/v1/apps/com.example.shop/channels/development/\(id)"
      #expect(try await scene.call(.get, other, as: .operator).status == 404)
      #expect(try await scene.call(.delete, "\(Self.list)/\(id)", as: .operator).status == 204)
      #expect(try await scene.call(.delete, "\(Self.list)/\(id)", as: .operator).status == 404)
      let wrong = try await scene.call(.post, Self.list, as: .operator, json: ["storage": "some"])
      #expect(wrong.status == 422 && wrong.fields == ["storage"])
      let actions = try await scene.audit().map(\.action)
      #expect(actions.filter { $0.hasPrefix("channel.") } == ["channel.delete", "channel.create"])
    }
  }

  @Test("Apple's refusal has its cause and remedy, in the API and on the page, and nothing is kept")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      scene.provider.refuseChannels(ServiceRefusal(status: 400, reason: "FeatureNotEnabled"))
      let refused = try await scene.call(.post, Self.list, as: .operator, json: ["storage": "none"])
      #expect(refused.status == 502)
      #expect(refused.text.contains("FeatureNotEnabled") && refused.text.contains("broadcast capability"))
      var ben = try await scene.signIn(.operator)
      let form = [("environment", "production"), ("storage", "none"), ("name", "Final")]
      let page = try await ben.post("/apps/\(app.id)/channels", form)
      #expect(page.status == 422)
      #expect(page.text.contains("broadcast capability") && page.text.contains("value=\"Final\""))
      #expect(try await scene.count("channels") == 0)
    }
  }

  @Test("the page creates, compares and deletes, and the send form offers what there is")
  func page() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let fresh = try await ben.get("/pushes/new").text
      #expect(!fresh.contains("value=\"channel\""), "none is offered without channels")
      let form = [("environment", "production"), ("storage", "latest"), ("name", "Final")]
      let unchosen = try await ben.post("/apps/\(app.id)/channels", Array(form.dropFirst()))
      let asked = ScenePage(unchosen)
      #expect(unchosen.status == 422 && asked.error("environment").contains("Choose an environment."))
      #expect(asked.values("name") == ["Final"] && asked.values("storage") == ["latest"], "what was typed is kept")
      #expect(try await ben.post("/apps/\(app.id)/channels", form).status == 303)
      scene.provider.addChannel("c3RyYW5nZXI=")
      let compared = try await ben.post("/apps/\(app.id)/channels/refresh", [("environment", "production")])
      #expect(compared.status == 303)
      let page = try await ben.get("/apps/\(app.id)/channels")
      #expect(page.text.contains("<span class=\"title\" dir=\"auto\">Final</span>"))
      #expect(page.text.contains("c3RyYW5nZXI="))
      let send = try await ben.get("/pushes/new?app=com.example.shop&environment=production&channel=c3RyYW5nZXI%3D")
      let fields = ScenePage(send)
      #expect(fields.values("audience") == ["channel"] && fields.values("channel") == ["c3RyYW5nZXI="], "\(send.text)")
      let remove = "/apps/\(app.id)/channels/remove?environment=production&channel=c3RyYW5nZXI%3D"
      #expect(ScenePage(page).links.contains(remove), "a click does not delete: it asks")
      let asking = try await ben.get(remove)
      #expect(asking.text.contains("Delete this channel at Apple?"))
      #expect(ScenePage(asking).values("channel") == ["c3RyYW5nZXI="])
      let gone = try await ben.post(
        "/apps/\(app.id)/channels/remove", [("environment", "production"), ("channel", "c3RyYW5nZXI=")])
      #expect(gone.status == 303)
      #expect(try await scene.count("channels") == 1)
    }
  }

  @Test("before a push is sent, the API compares its channel with the app's list")
  func known() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let made = try await scene.call(.post, Self.list, as: .operator, json: ["storage": "none"])
      let channel = try #require(made.json?["channel"]?.string)
      func codes(_ id: String, _ environment: String, _ options: [String: JSONValue] = [:]) async throws -> [String] {
        let answer = try await scene.call(
          .post, "/api/v1/pushes", as: .operator,
          json: [
            "app": "com.example.shop", "environment": .string(environment), "audience": ["channel": .string(id)],
            "apns": ["payload": ["aps": ["timestamp": 1_795_176_000, "event": "update", "content-state": [:]]]],
            "options": .object(options.merging(["dry_run": true]) { $1 }),
          ])
        if let callbacks = answer.json?["callbacks"] { #expect(callbacks == [], "ActivityKit calls none of them") }
        let found = answer.json?["findings"] ?? answer.json?["errors"]
        return found?.array?.compactMap { $0["code"]?.string } ?? []
      }
      let known = try await codes(channel, "production")
      #expect(known == [])
      let kept = try await codes(channel, "production", ["time_to_live": 60])
      #expect(kept == ["channel.stores_nothing"])
      let elsewhere = try await codes(channel, "development")
      #expect(elsewhere == ["channel.elsewhere"])
      let unknown = try await codes("c3RyYW5nZXI=", "production")
      #expect(unknown == ["channel.unknown"])
    }
  }

  @Test("a push to a channel says on its page that Apple tells no devices")
  func result() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let body: JSONValue = [
        "app": "com.example.shop", "environment": "development", "audience": ["channel": "c3RyYW5nZXI="],
        "apns": [
          "payload": ["aps": ["timestamp": 1_795_176_000, "event": "update", "content-state": ["score": "1:0"]]]
        ],
      ]
      let created = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: body)
      #expect(created.status == 202, "\(created.text)")
      let uid = try #require(created.json?["id"]?.string)
      let push = try await scene.finished(uid)
      #expect(push.counts.accepted == 1 && push.target == 1)
      let deliveries = try await scene.call(.get, "/api/v1/pushes/\(uid)/deliveries", as: .viewer)
      #expect(deliveries.json?["items"]?.array?.first?["device"] == .null, "\(deliveries.text)")
      var ben = try await scene.signIn(.viewer)
      let page = try await ben.get("/pushes/\(uid)")
      #expect(page.text.contains("This was a single request.") && page.text.contains("APNs accepted the update"))
      #expect(!page.text.contains("id=\"devices\"") && !page.text.contains("data-funnel"))
      #expect(page.text.contains("The subscribers of channel c3RyYW5nZXI=") && page.text.contains("score: 1:0"))
      #expect(!ScenePage(page).links.contains { $0.hasSuffix("#devices") }, "there is no list of devices")
      let link = try #require(ScenePage(page).links.first { $0.hasPrefix("/pushes/\(uid)/deliveries/") })
      let delivery = ScenePage(try await ben.get(link))
      #expect(delivery.text.contains("POST /4/broadcasts/apps/com.example.shop HTTP/2"), "\(delivery.text)")
      #expect(delivery.text.contains("apns-channel-id: c3RyYW5nZXI=") && delivery.text.contains("apns-request-id: "))
      #expect(!delivery.text.contains("deleted device") && !delivery.text.contains("apns-id"))
      #expect(delivery.text.contains("Reconstructed") && !delivery.text.contains("current token"), "\(delivery.text)")
      try await scene.served(to: ben) { served in
        let csv = try await served.get("/pushes/\(uid)/deliveries.csv")
        #expect(csv.contains(",language,channel\r\n") && csv.contains(",c3RyYW5nZXI=\r\n"), "\(csv)")
        #expect(csv.contains("\r\n,,,,accepted,200,"), "no device has a number: \(csv)")
        let json = try await served.get("/pushes/\(uid)/deliveries.json")
        #expect(json.contains(#""device_id":null"#) && json.contains(#""channel":"c3RyYW5nZXI=""#), "\(json)")
      }
    }
  }

  @Test("a channel that APNs does not know is no device: its push leads to the app's channels")
  func notRegistered() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      scene.provider.answer { _ in
        .outcome(.rejected(status: 400, reason: "ChannelNotRegistered", tokenInvalidSince: nil))
      }
      let body: JSONValue = [
        "app": "com.example.shop", "environment": "development", "audience": ["channel": "c3RyYW5nZXI="],
        "apns": [
          "payload": ["aps": ["timestamp": 1_795_176_000, "event": "update", "content-state": ["score": "1:0"]]]
        ],
      ]
      let created = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: body)
      let uid = try #require(created.json?["id"]?.string)
      _ = try await scene.finished(uid)
      var ben = try await scene.signIn(.viewer)
      let page = ScenePage(try await ben.get("/pushes/\(uid)"))
      #expect(page.links.contains("/apps/\(app.id)/channels"), "\(page.links)")
      #expect(!page.links.contains { $0.contains("quarantined") || $0.contains("?reason=") })
    }
  }
}
