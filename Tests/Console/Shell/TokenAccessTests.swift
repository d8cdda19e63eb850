import Foundation
import HTTPServer
import JSON
import Model
import OpenSSL
import SQLite
import Store
import Testing

/// Every route against every principal.
@Suite("API: tokens, their scopes and their apps")
struct TokenAccessTests {
  private static let entries = TokenAccessTable.entries

  /// A token in the database.
  static func token(
    _ scene: ConsoleScene, _ words: [String], apps: [Int64]? = nil, addresses: [String] = []
  ) async throws -> [String: String] {
    let text = Random.token(bytes: 24)
    _ = try await scene.store.write {
      try APIToken.add(
        $0, name: words.joined(separator: " "), hash: Secret.hash(text), scopes: words, user: nil, apps: apps,
        addresses: addresses, now: ConsoleScene.noon)
    }
    return ["Authorization": "Bearer \(text)"]
  }

  /// The address of a call; of things that are not there without `ids`.
  private static func target(_ pattern: String, _ ids: [String: String] = [:]) -> String {
    let parts = pattern.split(separator: "/").map(String.init)
    let noun = parts.count > 2 ? parts[2] : ""
    return "/"
      + parts.map { part in
        switch part {
        case ":app": ids["app"] ?? "com.example.none"
        case ":environment": "development"
        case ":id" where !pattern.hasPrefix("/simulator"): ids[noun] ?? (noun == "apps" ? "none" : "99999")
        case _ where part.hasPrefix(":"): "99999"
        default: part
        }
      }.joined(separator: "/")
  }

  @Test("the table has every route of the API, and no other")
  func complete() async throws {
    try await ConsoleScene.with { scene in
      let routes = scene.router.routes.filter { $0.name == "api" }.map { "\($0.method) \($0.pattern)" }
      #expect(Set(routes) == Set(Self.entries.map { "\($0.method) \($0.pattern)" }))
      let others = Set(scene.router.routes.compactMap(\.name)).subtracting(["api"])
      #expect(others == ["jpush", "app", "legacy", "kept"], "a door that no test looks at")
    }
  }

  @Test("the document names the scope that the table has")
  func document() throws {
    let document = try OpenAPIDocument()
    for entry in Self.entries {
      let path = entry.pattern.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
      let operation = OpenAPIDocument.Operation(
        method: entry.method.rawValue, path: "/" + path.joined(separator: "/"))
      let expected =
        switch entry.need {
        case .send: "send-development or send-production"
        case .sendEverywhere: "send-development and send-production"
        case .read, .devices, .certificates, .admin: "\(entry.need)"
        }
      #expect(try document.description(operation)["x-scope"]?.string == expected, "\(operation)")
      #expect(try document.role(operation) == entry.role, "\(operation)")
    }
  }

  @Test("a person's token allows no more than the person's role now", arguments: ["admin", "send-production"])
  func ownerRole(word: String) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      _ = try await scene.signIn(.admin, name: "ben@example.com")
      let headers = try await ApprovalPageTests.token(scene, of: "ben@example.com", [word, "read"])
      let (read, send) = ("/api/v1/apps", "/api/v1/pushes")
      func status(_ method: HTTPServer.Method, _ path: String) async throws -> Int {
        try await scene.call(method, path, as: nil, json: method == .get ? nil : [:], headers: headers).status
      }
      #expect(try await status(.get, read) == 200)
      #expect(try await status(.post, send) == 422, "allowed, and empty")
      #expect(try await status(.get, "/api/v1/people") == (word == "admin" ? 200 : 403))
      let id = try #require(try await scene.store.read { try User.find($0, name: "ben@example.com")?.id })
      for (role, sends) in [(User.Role.operator, 422), (.viewer, 403)] {
        _ = try await scene.store.write { try User.update($0, id: id, role: role, language: nil) }
        #expect(try await status(.get, read) == 200)
        #expect(try await status(.post, send) == sends)
        #expect(try await status(.get, "/api/v1/people") == 403)
      }
    }
  }

  @Test("nobody, each role and each scope get through exactly where the table says")
  func matrix() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      var principals: [(name: String, headers: [String: String]?, allows: @Sendable (TokenAccessTable.Entry) -> Bool)] =
        [("nobody", nil, { _ in false })]
      for role in User.Role.allCases {
        let headers = try await Self.token(scene, [role.rawValue])
        principals.append((role.rawValue, headers, { $0.role <= role }))
      }
      for scope in TokenScope.allCases {
        let headers = try await Self.token(scene, [scope.rawValue])
        principals.append((scope.rawValue, headers, { $0.allows(scope) }))
      }
      for entry in Self.entries {
        let target = Self.target(entry.pattern)
        for principal in principals {
          let answer = try await scene.call(entry.method, target, as: nil, headers: principal.headers ?? [:])
          let place = "\(entry.method) \(target) as \(principal.name): \(answer.status)"
          if principal.headers == nil {
            #expect(answer.status == 401, "\(place)")
          } else if principal.allows(entry) {
            #expect(answer.status != 401 && answer.status != 403 && answer.status < 500, "\(place)")
          } else {
            #expect(answer.status == 403, "\(place)")
            #expect(answer.text.contains("This token"), "\(place)")
          }
        }
      }
    }
  }

  @Test("a token of another app touches nothing of this one, and a person’s cookie opens no call")
  func otherApp() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.demo.fill(scene)
      let other = try await scene.addApp("com.example.other", name: "Other")
      let headers = try await Self.token(scene, ["admin", "read"], apps: [other.id])
      let ids = try await scene.store.read { database in
        func one(_ sql: String) throws -> String? { try database.fetchOne(sql) { $0.text(0) } }
        return [
          "app": try one("SELECT bundle_id FROM apps ORDER BY id"), "pushes": try one("SELECT uid FROM pushes"),
          "devices": try one("SELECT id FROM devices"), "schedules": try one("SELECT uid FROM schedules"),
          "incidents": try one("SELECT id FROM incidents"), "smoke-tests": try one("SELECT id FROM smoke_tests"),
          "certificates": try one("SELECT id FROM certificates"),
        ].compactMapValues { $0 }
      }
      #expect(ids.count == 7, "the world lacks something: \(ids.keys)")
      let anna = try await scene.signIn(.admin, name: "anna@example.com")
      let cookie = anna.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
      // The first use of a token is recorded.
      _ = try await scene.call(.get, "/api/v1/apps", as: nil, headers: headers)
      let before = try await scene.changes()
      for entry in Self.entries {
        let target = Self.target(entry.pattern, ids)
        #expect(
          try await scene.call(entry.method, target, as: nil, headers: ["Cookie": cookie]).status == 401, "\(target)")
        let answer = try await scene.call(entry.method, target, as: nil, headers: headers)
        let place = "\(entry.method) \(target): \(answer.status)"
        switch entry.other {
        case .closed: #expect(answer.status == 403, "\(place)")
        case .hidden: #expect(answer.status == 404, "\(place)")
        case .open: #expect(answer.status != 401 && answer.status != 404 && answer.status < 500, "\(place)")
        }
      }
      #expect(try await scene.changes() == before)
      for list in ["pushes", "devices", "schedules", "incidents", "smoke-tests", "certificates"] {
        let answer = try await scene.call(.get, "/api/v1/\(list)?limit=1", as: nil, headers: headers)
        #expect(answer.status == 200 && answer.json?["items"]?.array == [], "\(list): \(answer.text)")
        let all = try await scene.call(.get, "/api/v1/\(list)?limit=1", as: .admin)
        #expect(all.json?["items"]?.array?.count == 1, "\(list)")
      }
      let apps = try await scene.call(.get, "/api/v1/apps", as: nil, headers: headers)
      #expect(apps.json?["items"]?.array?.compactMap { $0["bundle_id"]?.string } == ["com.example.other"])
    }
  }

  @Test("a body that names another app, or another environment, is refused by name")
  func bodies() async throws {
    try await ConsoleScene.with { scene in
      let shop = try await scene.addApp()
      let other = try await scene.addApp("com.example.other", name: "Other")
      for app in [shop, other] { try await scene.addDevices(2, of: app) }
      let mine = try await Self.token(
        scene, ["read", "devices", "certificates", "send-development"], apps: [other.id])
      func push(_ app: String, _ environment: String) -> JSONValue {
        ["app": .string(app), "environment": .string(environment), "audience": "all", "notification": ["body": "Hi"]]
      }
      func ask(_ method: HTTPServer.Method, _ path: String, _ json: JSONValue) async throws -> SceneAnswer {
        try await scene.call(method, "/api/v1" + path, as: nil, json: json, headers: mine)
      }
      let device: JSONValue = [
        "app": "com.example.shop", "environment": "development", "platform": "ios",
        "token": .string(ConsoleScene.token(9).hexadecimal),
      ]
      let question: JSONValue = ["app": "com.example.shop", "environment": "development", "audience": "all"]
      for (method, path, json) in [
        (.post, "/pushes", push("com.example.shop", "development")), (.put, "/devices", device),
        (.post, "/audience/count", question), (.post, "/audience/explain", question),
        (.post, "/smoke-tests", ["name": "x", "push": push("com.example.shop", "development")]),
      ] as [(HTTPServer.Method, String, JSONValue)] {
        let answer = try await ask(method, path, json)
        #expect(answer.status == 403 && answer.text.contains("com.example.shop"), "\(path): \(answer.text)")
      }
      let production = try await ask(.post, "/pushes", push("com.example.other", "production"))
      #expect(production.status == 403 && production.text.contains("send-production"))
      #expect(production.response.headers["WWW-Authenticate"]?.contains("insufficient_scope") == true)
      #expect(try await ask(.post, "/pushes", push("com.example.other", "development")).status == 202)
      let filter = try await scene.call(.get, "/api/v1/pushes?app=com.example.shop", as: nil, headers: mine)
      #expect(filter.status == 403)
      var lines = mine
      lines["Content-Type"] = "application/x-ndjson"
      let body = ["com.example.shop", "com.example.other"].map { app in
        "{\"app\":\"\(app)\",\"environment\":\"development\",\"platform\":\"ios\",\"token\":\"\(ConsoleScene.token(7).hexadecimal)\"}"
      }.joined(separator: "\n")
      let imported = try await scene.call(
        .post, "/api/v1/devices/import", as: nil, headers: lines, body: Array(body.utf8))
      #expect(imported.json?["added"] == 1 && imported.json?["rejected"] == 1, "\(imported.text)")
    }
  }

  @Test("a push of the other environment is not stopped by a token that may not send there")
  func environments() async throws {
    try await ConsoleScene.with { scene in
      let shop = try await scene.addApp()
      try await scene.addDevices(1, of: shop, environment: .production)
      let made = try await scene.call(
        .post, "/api/v1/pushes", as: .admin,
        json: [
          "app": "com.example.shop", "environment": "production", "audience": "all", "notification": ["body": "Hi"],
          "send_at": "2027-01-01T09:00:00Z",
        ])
      let id = try #require(made.json?["id"]?.string)
      for (scope, status) in [("send-development", 403), ("send-production", 200)] {
        let headers = try await Self.token(scene, [scope])
        let answer = try await scene.call(.post, "/api/v1/pushes/\(id)/cancel", as: nil, headers: headers)
        #expect(answer.status == status, "\(scope): \(answer.text)")
      }
    }
  }

  @Test("a page of a list is full although other apps' items lie between")
  func fullPages() async throws {
    try await ConsoleScene.with { scene in
      let (shop, other) = (try await scene.addApp(), try await scene.addApp("com.example.other", name: "Other"))
      for _ in 0..<5 {
        try await scene.addDevices(3, of: other)
        try await scene.addDevices(1, of: shop)
      }
      let headers = try await Self.token(scene, ["read"], apps: [shop.id])
      let first = try await scene.call(.get, "/api/v1/devices?limit=3", as: nil, headers: headers)
      #expect(first.json?["items"]?.array?.count == 3)
      let next = try #require(first.json?["next"]?.string)
      let second = try await scene.call(.get, "/api/v1/devices?limit=3&cursor=\(next)", as: nil, headers: headers)
      #expect(second.json?["items"]?.array?.count == 2 && second.json?["next"] == .null)
    }
  }

  @Test("a token for some addresses is refused from others, and tells why")
  func addresses() async throws {
    try await ConsoleScene.with { scene in
      let headers = try await Self.token(scene, ["read"], addresses: ["10.0.0.0/8", "2001:db8::/32"])
      for (address, status) in [("10.1.2.3", 200), ("2001:db8::9", 200), ("192.0.2.1", 403), ("11.0.0.1", 403)] {
        let answer = try await scene.call(.get, "/api/v1/apps", as: nil, headers: headers, from: address)
        #expect(answer.status == status, "\(address)")
        if status == 403 { #expect(answer.text.contains(address)) }
      }
      #expect(try await scene.call(.get, "/api/v1/apps", as: nil, headers: headers).status == 403, "no address")
    }
  }
}
