import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Console

@Suite("Lists: taken away as CSV and JSON", .timeLimit(.minutes(2)))
struct ListExportTests {
  @Test(
    "both forms have what the page lists, the page leads to them, and the activity log knows",
    arguments: [
      ("/incidents", "", "incident", "BadDeviceToken"), ("/schedules", "", "schedule", "com.example.shop"),
      ("/smoke-tests", "", "smoke_test", "com.example.shop"), ("/templates", "", "template", "Order"),
      ("/apps", "", "app", "com.example.shop"), ("/audiences", "?kind=tags", "audience", "vip"),
      ("/audiences", "?kind=aliases&q=usr", "audience", "usr_grace"), ("/audiences", "", "audience", "Insiders"),
      ("/settings/people", "", "user", "admin@example.com"), ("/settings/tokens", "", "token", "Reports"),
      ("/settings/webhooks", "", "webhook", "push.finished"), ("/apps/1/topics", "", "topic", "news"),
      ("/apps/1/channels", "", "channel", "Match day"), ("/settings/receivers", "", "receiver", "Ops"),
      ("/certificates/requests", "", "certificate_request", "waiting"),
      ("/codes", "?q=token", "code", "BadDeviceToken"),
    ])
  func lists(path: String, query: String, noun: String, word: String) async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.demo.fill(scene)
      var anna = try await scene.signIn(.admin)
      try await scene.store.write { database in
        let app = try #require(try App.all(database).first?.id)
        let rule = try SegmentRule(json: ["platforms": ["ios"]])
        _ = try APIToken.add(
          database, name: "Reports", hash: Secret.hash("a token"), scopes: ["read"], user: nil, now: ConsoleScene.noon)
        try Channel.keep(
          database, app: app, environment: .production, channel: "c3RyYW5nZXI=", policy: nil, name: "Match day",
          by: "anna", now: ConsoleScene.noon)
        _ = try Segment.add(database, app: app, name: "Insiders", rule, by: "anna", now: ConsoleScene.noon)
      }
      let links = ScenePage(try await anna.get(path + query)).links
      try await scene.served(to: anna) { served in
        let list = try JSONValue(
          parsing: Data(DeviceListExportTests.body(try await served.get("\(path).json\(query)")).utf8))
        let items = try #require(list.array)
        let csv = try await served.get("\(path).csv\(query)")
        for item in items {
          // The first column identifies the item.
          let id = item["id"] ?? item["bundle_id"] ?? item["name"] ?? item["code"]
          let cell = (id?.string ?? id?.text() ?? "?").replacing("\"", with: "\"\"")
          #expect(csv.contains(cell), "\(item)")
        }
        #expect(!items.isEmpty && csv.contains(word))
      }
      #expect(try await scene.audit("\(noun).export").count == 2)
      #expect(Set(links).isSuperset(of: ["\(path).csv\(query)", "\(path).json\(query)"]))
    }
  }

  @Test(
    "what belongs to one schedule, smoke test or webhook can be taken away from its page",
    arguments: [
      ("schedules", "/schedules", "runs", "missed"), ("smoke-tests", "/smoke-tests", "runs", "not_sent"),
      ("webhooks", "/settings/webhooks", "deliveries", "test"),
    ])
  func parts(kind: String, list: String, part: String, word: String) async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let id = try #require(try await SceneWorld.demo.fill(scene).ids[kind]?.first)
      var anna = try await scene.signIn(.admin)
      let path = "\(list)/\(id)/\(part)"
      let links = ScenePage(try await anna.get("\(list)/\(id)")).links
      #expect(Set(links).isSuperset(of: [path + ".csv", path + ".json"]), "\(links)")
      try await scene.served(to: anna) { served in
        let json = DeviceListExportTests.body(try await served.get(path + ".json"))
        let items = try #require(try JSONValue(parsing: Data(json.utf8)).array)
        let csv = DeviceListExportTests.body(try await served.get(path + ".csv"))
        #expect(!items.isEmpty && csv.contains(word), "\(csv)")
        for item in items {
          let id = item["id"] ?? item["at"]
          #expect(csv.contains(id?.string ?? id?.text() ?? "?"), "\(csv)")
        }
      }
      #expect(try await anna.get("\(list)/999999/\(part).csv").status == 404)
    }
  }

  @Test("cells hold words, lists of words, and other values as JSON; a formula is guarded")
  func cells() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(2, of: app)
      _ = try await scene.store.write { try $0.run("UPDATE apps SET name = '=1+1'") }
      try await scene.served(to: try await scene.signIn(.viewer)) { served in
        let csv = try await served.get("/apps.csv")
        #expect(
          csv.contains(
            "bundle_id,name,package_name,alias_rule,production_needs_approval,created_at,devices,credentials\r\n"))
        #expect(csv.contains("\(ConsoleScene.bundleID),'=1+1,,none,false,"))
        #expect(csv.contains("\"[{\"\"active\"\":2,"))
      }
    }
  }
}
