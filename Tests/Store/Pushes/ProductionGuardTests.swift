import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

/// Where a push in development reaches phones.
@Suite("Production guard: what counts as production")
struct ProductionGuardTests {
  /// Who uses which file of which account: `app/environment=file@account`, or `=simulator`.
  struct Case: Sendable, CustomTestStringConvertible {
    let bound: [String]
    let isShared: Bool

    var testDescription: String { "\(bound) \(isShared ? "reach production" : "serve development alone")" }
  }

  static let cases = [
    Case(bound: ["shop/development=a@one", "shop/production=a@one"], isShared: true),
    Case(bound: ["shop/development=a@one", "shop/production=b@one"], isShared: true),
    Case(bound: ["shop/development=a@one", "other/production=a@one"], isShared: true),
    Case(bound: ["shop/development=a@one", "other/production=b@one"], isShared: true),
    Case(bound: ["shop/development=simulator", "shop/production=simulator"], isShared: true),
    Case(bound: ["shop/production=a@one"], isShared: true),
    Case(bound: [], isShared: true),
    Case(bound: ["shop/development=a@one"], isShared: false),
    Case(bound: ["shop/development=a@one", "shop/production=b@two"], isShared: false),
    Case(bound: ["shop/development=a@one", "other/development=b@one"], isShared: false),
    Case(bound: ["shop/development=simulator", "shop/production=a@one"], isShared: false),
    Case(bound: ["shop/development=a@", "shop/production=b@"], isShared: false),
  ]

  /// Binds what a case names, through FCM and JPush alike.
  private func bind(_ database: Database, _ app: App, _ bound: [String]) throws {
    let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
    var files: [String: Int64] = [:]
    for text in bound {
      let parts = text.split(separator: "=").map(String.init)
      let place = parts[0].split(separator: "/").map(String.init)
      for (provider, kind) in [(ProviderKind.fcm, "fcm-service-account"), (.jpush, "jpush-key-pair")] {
        let file = parts[1].split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        let certificate: Int64? =
          try file.count < 2
          ? nil : files["\(provider)\(file[0])"] ?? add(database, kind, name: file[0], account: file[1])
        files["\(provider)\(file[0])"] = certificate
        try Credential.bind(
          database, app: place[0] == "shop" ? app.id : other.id, provider: provider,
          environment: try #require(Environment(rawValue: place[1])), certificate: certificate,
          endpoint: certificate == nil ? "simulator" : provider.serviceWord, now: noon)
      }
    }
  }

  private func add(_ database: Database, _ kind: String, name: String, account: String) throws -> Int64 {
    let details = TrackedCertificate.Details(kind: kind, name: name, fileName: name)
    let id = try TrackedCertificate.add(
      database, details, material: [1], sealer: TestSealer(), by: "anna", now: noon
    ).id
    let says: JSONValue =
      account.isEmpty
      ? .null : ["service_account": ["project_id": .string(account)], "jpush_app_key": .string(account)]
    try database.run("DELETE FROM certificate_facts WHERE certificate_id = ?", id)
    try database.run("INSERT INTO certificate_facts(certificate_id, says) VALUES (?, ?)", id, says.text())
    return id
  }

  private func draft(_ app: App, _ audience: JSONValue, _ environment: String = "development") throws -> PushDraft {
    try PushDraft(json: [
      "app": .string(app.bundleID), "environment": .string(environment), "platforms": ["android"],
      "audience": audience, "notification": ["body": "x"],
    ])
  }

  @Test(
    "a topic and a condition in development, by whose credential it is; audiences name their devices", arguments: cases)
  func credentials(_ found: Case) throws {
    try withApp { database, app in
      try bind(database, app, found.bound)
      var jpush = Registration(
        token: DeviceToken(bytes: Array("1a0018970a9f2e7c6d1".utf8)), environment: .development, platform: .android)
      jpush.provider = .jpush
      _ = try Device.register(database, app: app.id, [jpush], now: noon)
      let reached = { (audience: JSONValue) in
        try ProductionGuard(database, app: app.id, draft(app, audience))
      }
      for audience in [["topic": "news"], ["condition": "'news' in topics || 'sport' in topics"]] as [JSONValue] {
        let found = (try reached(audience), found.isShared)
        #expect(found.0.environment == (found.1 ? .production : .development), "\(audience)")
        #expect(found.0.service == (found.1 ? .fcm : nil), "\(audience)")
      }
      // Each device is registered in development, and named by its own ID.
      for audience in ["all", ["tag": ["vip"]], ["alias": ["anna"]], ["tag_not": ["vip"]]] as [JSONValue] {
        #expect(try reached(audience).environment == .development, "\(audience)")
      }
      let token = JSONValue.string("1a0018970a9f2e7c6d1")
      #expect(try reached(["registration_id": [token], "tag": ["vip"]]).environment == .development)
      #expect(try ProductionGuard(database, app: app.id, draft(app, "all", "production")).service == nil)
    }
  }

  @Test("an audience without devices of JPush is what its devices are registered as; a stored draft counts likewise")
  func others() throws {
    try withApp { database, app in
      try bind(database, app, ["shop/development=simulator", "shop/production=simulator"])
      #expect(try ProductionGuard(database, app: app.id, draft(app, "all")).environment == .development)
      let topic = try draft(app, ["topic": "news"])
      var new = NewPush(
        uid: "p", seed: 1, appID: app.id, environment: .development, draftJSON: topic.json.text(), source: .api,
        createdBy: "anna")
      new.pushType = .alert
      let push = try Push.create(database, new, now: noon)
      #expect(try ProductionGuard(database, push).environment == .production)
      #expect(try TokenSubject.push("p").owners(database)?.environment == .production)
    }
  }
}
