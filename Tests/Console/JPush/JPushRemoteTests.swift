import Foundation
import HTTPServer
import JSON
import Model
import OpenSSL
import Providers
import Store
import Synchronization
import Testing

@Suite("Pages: what JPush itself keeps")
struct JPushRemoteTests {
  private static let id = "1a0018970a8f4a3b2c1"

  /// An app with a device that is registered with JPush.
  private static func addDevice(_ scene: ConsoleScene) async throws -> (app: App, device: Int64) {
    let app = try await scene.addApp()
    let device = try await scene.store.write { database in
      var registration = Registration(
        token: DeviceToken(bytes: Array(id.utf8)), environment: .development, platform: .android)
      registration.provider = .jpush
      (registration.alias, registration.tags) = (.set("usr_ada"), .set(["vip"]))
      _ = try Device.register(database, app: app.id, [registration], now: ConsoleScene.noon)
      _ = try Credential.bind(
        database, app: app.id, provider: .jpush, environment: .development, certificate: nil, endpoint: "simulator",
        now: ConsoleScene.noon)
      return try #require(try Device.find(database, app: app.id, token: registration.token)).id
    }
    return (app, device)
  }

  @Test("a device's page asks JPush only when it is asked to, shows what differs, and brings it to ours")
  func device() async throws {
    try await ConsoleScene.with { scene in
      let (_, device) = try await Self.addDevice(scene)
      let asked = Mutex<[JPushOperation]>([])
      let known = Mutex<JSONValue>(["alias": "usr_old", "tags": ["old"], "mobile": "13800138000"])
      scene.provider.answerJPush { operation in
        asked.withLock { $0.append(operation) }
        guard case .changeDevice(_, let change) = operation else { return known.withLock { $0 } }
        #expect(change.alias == "usr_ada" && change.added == ["vip"] && change.removed == ["old"])
        known.withLock { $0 = ["alias": "usr_ada", "tags": ["vip"]] }
        return .null
      }
      var vera = try await scene.signIn(.viewer)
      let plain = try await vera.get("/devices/\(device)")
      #expect(ScenePage(plain).links.contains("/devices/\(device)/jpush#jpush") && asked.withLock { $0.isEmpty })
      let seen = try await vera.get("/devices/\(device)/jpush")
      #expect(seen.text.contains("usr_old") && seen.text.contains("13800138000") && seen.text.contains("different"))
      #expect(!seen.text.contains("Update JPush"), "a viewer changes nothing")
      #expect(try await vera.post("/devices/\(device)/jpush").status == 403)
      var ben = try await scene.signIn(.operator)
      #expect(try await ben.get("/devices/\(device)/jpush").text.contains("Update JPush"))
      #expect(try await ben.post("/devices/\(device)/jpush").location == "/devices/\(device)/jpush")
      let after = try await ben.get("/devices/\(device)/jpush").text
      #expect(after.contains("JPush now has the same alias and tags.") && !after.contains("Update JPush"))
      let entry = try #require(try await scene.audit().first { $0.action == "device.jpush" })
      #expect(entry.detail?["outcome"] == "done" && entry.detail?["added"] == 1)

      scene.provider.answerJPush { _ in throw ServiceRefusal(status: 503, reason: "JPush 7030") }
      let busy = try await ben.get("/devices/\(device)/jpush")
      #expect(busy.status == 200 && busy.text.contains("device service is busy."), "\(busy.text)")
      scene.provider.answerJPush(nil)
      #expect(try await ben.get("/devices/\(device)/jpush").text.contains("no credential for this push service"))
      #expect(try await ben.post("/devices/\(device)/jpush").status == 422)
      #expect(try await ben.get("/devices/999/jpush").status == 404)
    }
  }

  @Test("an app's page lists schedules, tags and an alias's devices, and deletes after a question")
  func app() async throws {
    try await ConsoleScene.with { scene in
      let (app, device) = try await Self.addDevice(scene)
      let removed = Mutex<[JPushOperation]>([])
      scene.provider.answerJPush { operation in
        switch operation {
        case .schedules:
          return [
            "total_pages": 1,
            "schedules": [
              [
                "schedule_id": "s-1", "name": "morning", "enabled": true, "push": ["notification": ["alert": "Hello"]],
                "trigger": [
                  "periodical": [
                    "start": "2026-11-01 00:00:00", "end": "2027-06-01 00:00:00", "time": "09:00:00",
                    "time_unit": "week", "frequency": 1, "point": ["MON"],
                  ]
                ],
              ],
              ["schedule_id": "s-2", "name": "odd", "enabled": false, "push": [:], "trigger": ["sometimes": [:]]],
            ],
          ]
        case .tags: return ["tags": ["深圳"]]
        case .alias: return ["registration_ids": [.string(Self.id), "stranger"]]
        default:
          removed.withLock { $0.append(operation) }
          return .null
        }
      }
      var ben = try await scene.signIn(.operator)
      let path = "/apps/\(app.id)/jpush"
      #expect(try await !ben.get(path).text.contains("morning"), "nothing is asked without an environment")
      let page = try await ben.get(path + "?environment=development&alias=usr_ada")
      for text in ["morning", "09:00", "Hello", "sometimes", "Turned off", "深圳", "stranger", "not known here"] {
        #expect(page.text.contains(text), "\(text)")
      }
      let links = ScenePage(page).links
      #expect(links.contains("/devices/\(device)/jpush"))
      for kind in ["schedule", "tag", "alias"] {
        let link = try #require(links.first { $0.contains("kind=\(kind)") })
        let question = ScenePage(try await ben.get(link))
        #expect(question.values("kind") == [kind] && question.text.contains("at JPush?"))
        let fields = ["kind", "environment", "name"].map { ($0, question.values($0).first ?? "") }
        let done = try await ben.post(path + "/remove", fields)
        #expect(done.location == path + "?environment=development")
      }
      #expect(removed.withLock { $0 } == [.removeSchedule("s-1"), .removeTag("深圳"), .removeAlias("usr_ada")])
      #expect(try await ben.get(path + "/remove?kind=device&name=x&environment=development").status == 404)
      scene.provider.answerJPush { _ in throw ServiceRefusal(status: 404, reason: "JPush 8104") }
      let gone = try await ben.post(
        path + "/remove", [("kind", "schedule"), ("name", "s-1"), ("environment", "development")])
      #expect(gone.status == 422 && gone.text.contains("JPush 8104"))
      for (status, expected) in [(404, 404), (400, 422), (403, 502), (500, 502)] {
        scene.provider.answerJPush { _ in throw ServiceRefusal(status: status, reason: "refused") }
        let answer = try await scene.call(
          .delete, "/api/v1\(path.replacing("\(app.id)", with: app.bundleID))/development/schedules/s-1", as: .operator)
        #expect(answer.status == expected, "\(status): \(answer.text)")
        #expect(!answer.text.contains("invalid fields"), "JPush refused, whatever the fields were")
      }
      scene.provider.answerJPush { _ in throw ServiceRefusal(status: 404, reason: "JPush 8104") }
      let refused = try await ben.get(path + "?environment=development")
      #expect(refused.status == 200 && refused.text.contains("JPush 8104"))
      let actions = try await scene.audit().map(\.action).filter { $0.hasPrefix("jpush.") }
      #expect(actions == ["jpush.alias_remove", "jpush.tag_remove", "jpush.schedule_remove"])
    }
  }

  @Test("the review asks the services on a button, and the dry run of the API tells their answer")
  func validation() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      _ = try await Self.addDevice(scene)
      scene.provider.answerValidation(
        .outcome(.rejected(status: 400, reason: "JPush 1011", tokenInvalidSince: nil)))
      var ben = try await scene.signIn(.operator)
      let form = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "android"), ("audience", "alias"),
        ("alias", "usr_ada"), ("body", "Hello"),
      ]
      let review = try await ben.post("/pushes/preview", form)
      #expect(review.text.contains("Test with the push service") && !review.text.contains("would refuse this push"))
      let asked = try await ben.post("/pushes/preview", form + [("validate", "1")])
      #expect(
        asked.text.contains("would refuse this push. JPush 1011: JPush knows no device in this audience"),
        "\(asked.text)")
      let draft: JSONValue = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": ["alias": ["usr_ada"]],
        "notification": ["body": "Hello"], "options": ["dry_run": true],
      ]
      let dry = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: draft)
      #expect(try document.errors(dry, to: .init(method: "POST", path: "/api/v1/pushes")) == [])
      let service = dry.json?["services"]?.array?.first
      #expect(service?["provider"] == "jpush" && service?["answer"] == "refused" && service?["devices"] == 1)
      scene.provider.answerValidation(.outcome(.accepted))
      let fine = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: draft)
      #expect(fine.json?["services"]?.array?.first?["answer"] == "accepted")
      scene.provider.failValidation(TLSError(.trust, "The trusted certificates cannot be read."))
      let unusable = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: draft)
      let told = unusable.json?["services"]?.array?.first
      #expect(told?["answer"] == "undecided" && told?["reason"]?.string == OwnReason.credentialUnusable.rawValue)
    }
  }
}
