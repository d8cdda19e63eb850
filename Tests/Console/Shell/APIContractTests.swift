import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@testable import Simulator

/// The document against the routes: nothing undescribed is served, nothing described is missing.
@Suite("API: the document and the routes")
struct APIContractTests {
  private typealias Operation = OpenAPIDocument.Operation

  /// As the document writes paths.
  private static func operation(_ route: Route) -> OpenAPIDocument.Operation {
    let path = route.pattern.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
    return Operation(method: route.method.rawValue, path: "/" + path.joined(separator: "/"))
  }

  /// A path that could be, for questions that end before anything is looked up.
  private static func target(_ operation: OpenAPIDocument.Operation) -> String {
    // The first token, and its owner, are those that the tests use.
    let isOwn = operation.path.contains("/people/") || operation.path.contains("/tokens/")
    let id = isOwn ? "99999" : "1"
    return operation.path.replacing("{id}", with: id).replacing("{app}", with: "com.example.none")
      .replacing("{environment}", with: "development").replacing("{key}", with: "sbc_none")
      .replacing("{run}", with: "1")
  }

  @Test("every operation of the document has a route, and every route of the API is in the document")
  func bothWays() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let served = Set(scene.router.routes.filter { $0.name == "api" }.map(Self.operation))
      #expect(served.count > 20)
      #expect(document.operations.subtracting(served) == [], "described, not served")
      #expect(served.subtracting(document.operations) == [], "served, not described")
      for operation in document.operations where operation.path.hasPrefix("/api/") {
        let description = try document.description(operation)
        #expect(description["responses"]?["429"] != nil, "\(operation): each call is limited")
      }
    }
  }

  @Test("without a token, or with a wrong one: 401 with a challenge")
  func unauthorized() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      for operation in document.operations {
        let (method, target) = (HTTPServer.Method(rawValue: operation.method), Self.target(operation))
        let bare = try await scene.call(method, target, as: nil)
        #expect(bare.status == 401, "\(operation)")
        #expect(bare.response.headers["WWW-Authenticate"]?.hasPrefix("Bearer") == true, "\(operation)")
        #expect(try document.errors(bare, to: operation) == [], "\(operation)")
        let wrong = try await scene.call(method, target, as: nil, headers: ["Authorization": "Bearer wrong"])
        #expect(wrong.status == 401, "\(operation)")
        #expect(wrong.response.headers["WWW-Authenticate"]?.contains("invalid_token") == true, "\(operation)")
      }
    }
  }

  @Test("x-role holds: the role below gets 403, the role itself gets further")
  func roles() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      for operation in document.operations {
        let role = try document.role(operation)
        let (method, target) = (HTTPServer.Method(rawValue: operation.method), Self.target(operation))
        for lower in User.Role.allCases where lower < role {
          let answer = try await scene.call(method, target, as: lower)
          #expect(answer.status == 403, "\(operation) as \(lower)")
          #expect(answer.type == "application/problem+json")
          #expect(try document.errors(answer, to: operation) == [], "\(operation)")
        }
        let allowed = try await scene.call(method, target, as: role)
        #expect(allowed.status != 401 && allowed.status != 403, "\(operation) as \(role)")
        #expect(allowed.status < 500, "\(operation) as \(role)")
      }
    }
  }

  @Test("an unknown query parameter is refused by name, at every operation")
  func unknownParameters() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      for operation in document.operations {
        let answer = try await scene.call(
          HTTPServer.Method(rawValue: operation.method), Self.target(operation) + "?colour=blue", as: .admin)
        #expect(answer.status == 422 && answer.fields == ["colour"], "\(operation)")
        #expect(try document.errors(answer, to: operation) == [], "\(operation)")
      }
    }
  }

  @Test("a field is refused by name where a call takes no body; nothing and an empty object are none")
  func unknownFields() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      var count = 0
      for operation in document.operations where operation.method == "POST" && operation.path.hasPrefix("/api/") {
        guard try document.description(operation)["requestBody"] == nil else { continue }
        count += 1
        let answer = try await scene.call(.post, Self.target(operation), as: .admin, json: ["colour": "blue"])
        #expect(answer.status == 422 && answer.fields == ["colour"], "\(operation): \(answer.text)")
        #expect(answer.text.contains("Unknown field. Known fields: none."), "\(operation)")
        #expect(try document.errors(answer, to: operation) == [], "\(operation)")
        let type = ["Content-Type": "application/json"]
        for body in ["", "{}"] {
          let plain = try await scene.call(
            .post, Self.target(operation), as: .admin, headers: type, body: Array(body.utf8))
          #expect(plain.fields != ["colour"] && plain.status != 415, "\(operation): \(plain.text)")
        }
      }
      #expect(count > 20)
    }
  }

  @Test("the query parameters of the document are taken, and each only once")
  func parameters() async throws {
    let document = try OpenAPIDocument()
    let samples = [
      "limit": "5", "cursor": "1", "app": ConsoleScene.bundleID, "environment": "development", "platform": "ios",
      "provider": "apns",
      "state": "failed", "alias": "anna", "tag": "odd", "token": ConsoleScene.token(1).hexadecimal,
      "registration_id": "1a2b3c", "outcome": "failed", "reason": "Unregistered", "q": "hello", "within": "30d",
      "schedule": "none", "msg_id": "1", "schedule_id": "none",
      "band": "soon", "kind": "host", "wait": "1ms", "format": "junit", "count": "1", "phone": "1", "title": "Hello",
      "body": "World",
      "apns_id": "A1", "message": "m1", "push": "p1", "after": "1",
      "actor": "cli", "action": "push.create", "subject": "push%20p1", "from": "2026-11-20T12:00:00Z",
      "before": "2026-11-20T12:00:00Z", "source": "api", "to": "2026-11-20",
      "push_type": "alert", "receipt": "displayed", "contains": "ell", "pointer": "/aps", "name": "Ada",
      "value": "1", "server": "fcm", "status": "200",
    ]
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      for operation in document.operations where operation.method == "GET" {
        let described = try document.description(operation)["parameters"]?.array ?? []
        let role = try document.role(operation)
        for parameter in described where parameter["in"] == "query" {
          let name = try #require(parameter["name"]?.string)
          var value = try #require(samples[name])
          if ["/api/v1/devices", "/api/v1/schedules"].contains(operation.path), name == "state" { value = "active" }
          if operation.path.hasSuffix("/changes/{change}/devices"), name == "state" { value = "pending" }
          if operation.path == "/api/v1/incidents", name == "state" { value = "open" }
          if operation.path == "/api/v1/activity", name == "kind" { value = "pushes" }
          if operation.path == "/simulator/v1/requests", name == "outcome" { value = "refused" }
          // A list out of two tables.
          if ["/api/v1/certificates", "/api/v1/hosts"].contains(operation.path), name == "cursor" { value = "1.c.1" }
          let target = "\(Self.target(operation))?\(name)=\(value)"
          let answer = try await scene.call(.get, target, as: role)
          #expect([200, 404].contains(answer.status), "\(operation) with \(name): \(answer.text)")
          let twice = try await scene.call(.get, "\(target)&\(name)=\(value)", as: role)
          #expect(twice.status == 422 && twice.codes == ["query.twice"], "\(operation) with \(name)")
        }
      }
    }
  }

  @Test("a text of the query is as long as the document says, in characters, and no longer")
  func longest() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with(simulator: true) { scene in
      try await scene.addApp()
      var count = 0
      for operation in document.operations where operation.method == "GET" {
        let role = try document.role(operation)
        for parameter in try document.description(operation)["parameters"]?.array ?? [] {
          guard parameter["in"] == "query", let limit = parameter["schema"]?["maxLength"]?.integer else { continue }
          let name = try #require(parameter["name"]?.string)
          // As long as the document allows, it is refused for anything else at most.
          for (length, isTooLong) in [(Int(limit), false), (Int(limit) + 1, true)] {
            let text = String(repeating: "a", count: length)
            let answer = try await scene.call(.get, "\(Self.target(operation))?\(name)=\(text)", as: role)
            // What the path names is looked up first.
            if answer.status == 404 { continue }
            count += 1
            let isTold = answer.status == 422 && answer.text.contains("Must have at most \(limit) characters")
            #expect(isTold == isTooLong, "\(operation) with \(name) of \(length): \(answer.text)")
          }
        }
      }
      #expect(count > 30)
    }
  }

  @Test("names are as long as the document says, in characters of any script")
  func names() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with(simulator: true) { scene in
      let app = try await scene.addApp()
      let device = try await scene.addDevices(1, of: app)[0]
      let (bundleID, role) = (app.bundleID, User.Role.admin)
      let calls: [(HTTPServer.Method, String, String, String, JSONValue)] = [
        (.post, "/api/v1/apps", "AppInput", "name", ["bundle_id": "com.example.new"]),
        (.patch, "/api/v1/apps/\(bundleID)", "AppPatch", "name", [:]),
        (.patch, "/api/v1/devices/\(device.id)", "DevicePatch", "name", [:]),
        (.patch, "/api/v1/devices/\(device.id)", "DevicePatch", "alias", [:]),
        (
          .put, "/api/v1/devices", "DeviceInput", "name",
          [
            "app": .string(bundleID), "environment": "development", "platform": "ios",
            "token": .string(device.tokenText),
          ]
        ),
        (.post, "/api/v1/apps/\(bundleID)/segments", "SegmentInput", "name", ["rule": ["tag": ["a"]]]),
        (.post, "/api/v1/tokens", "TokenInput", "name", ["scopes": ["read"]]),
        (
          .post, "/api/v1/webhooks", "NewWebhook", "name",
          ["url": "https://example.com/x", "events": ["push.finished"]]
        ),
        (
          .post, "/api/v1/receivers", "NewReceiver", "name",
          ["channel": "webhook", "address": "https://example.com/x"]
        ),
        (.post, "/api/v1/templates", "TemplateInput", "name", ["content": ["notification": ["title": "x"]]]),
      ]
      for (method, path, schema, member, base) in calls {
        let described = document.json["components"]?["schemas"]?[schema]?["properties"]?[member]
        let limit = Int(try #require(described?["maxLength"]?.integer, "\(schema)"))
        for (count, fits) in [(limit, true), (limit + 1, false)] {
          let body = base.with(member, .string(String(repeating: "名", count: count)))
          let answer = try await scene.call(method, path, as: role, json: body)
          let isTold = answer.status == 422 && answer.text.contains("at most \(limit) characters")
          #expect(isTold != fits && (answer.status < 300) == fits, "\(path) \(member) \(count): \(answer.text)")
        }
      }
    }
  }

  @Test("generated clients get a class for every body: no variant fits everything before others are tried")
  func shapes() throws {
    let document = try OpenAPIDocument()
    let schemas = try #require(document.json["components"]?["schemas"]?.object)
    func isLoose(_ schema: JSONValue) -> Bool {
      let schema = document.schema.resolved(schema)
      return schema["properties"] != nil && schema["required"]?.array?.isEmpty ?? true
    }
    for (name, schema) in schemas {
      #expect(schema["properties"] == nil || schema["anyOf"] == nil && schema["oneOf"] == nil, "\(name)")
      let variants = (schema["oneOf"] ?? schema["anyOf"])?.array ?? []
      #expect(!variants.dropLast().contains(where: isLoose), "\(name)")
    }
    let input = OpenAPIDocument.Operation(method: "PUT", path: "/api/v1/devices")
    let device: JSONValue = ["app": "com.example.shop", "environment": "production", "platform": "ios"]
    let token = device.with("token", "13165ffa4e0b5fb6ba3")
    for body in [token, device.with("provider", "jpush").with("registration_id", "13165ffa4e0b5fb6ba3")] {
      #expect(try document.requestErrors(body, of: input) == [], "\(body.text())")
    }
    let pattern = document.json["paths"]?["/simulator/v1/notifications"]?["get"]?["parameters"]?.array?
      .first { $0["name"] == "token" }?["schema"]?["pattern"]?.string
    let filter = try Regex(try #require(pattern))
    for provider in ProviderKind.allCases {
      let text = SimulatedPhone.newToken(provider).text
      #expect(try filter.wholeMatch(in: text) != nil, "\(text)")
    }
  }

  @Test("addresses and methods that are not there are problems, too")
  func elsewhere() async throws {
    try await ConsoleScene.with { scene in
      for (method, target, status) in [
        (HTTPServer.Method.get, "/api/v1/nothing", 404), (.put, "/api/v1/apps", 405), (.get, "/api/v1/devices/x", 404),
        (.post, "/api/v1/push", 404), (.delete, "/api/v1/apps/x/nothing", 404), (.get, "/api/v1", 404),
        (.get, "/simulator/v1/nothing", 404),
      ] {
        let answer = try await scene.call(method, target, as: .admin)
        #expect(answer.status == status, "\(target)")
        #expect(answer.type == "application/problem+json")
        #expect(answer.json?["status"]?.integer == Int64(status))
        let tellsWhere = answer.json?["detail"]?.string?.contains("/api/openapi.json") == true
        #expect(tellsWhere == (status == 404 && target != "/api/v1/devices/x"), "\(answer.text)")
      }
      let unknown = try await scene.call(.get, "/api/v1/nothing", as: .admin)
      #expect(unknown.json?["detail"]?.string == "The API has no such path. /api/openapi.json lists all of them.")
      #expect(try await scene.call(.get, "/api/openapi.json", as: nil).status == 200)
    }
  }

  @Test("a body of another type, beyond the limit, or that is no JSON, is refused before anything is looked up")
  func bodies() async throws {
    let document = try OpenAPIDocument()
    let large = Array("{\"name\":\"".utf8) + [UInt8](repeating: 0x61, count: 1 << 20) + Array("\"}".utf8)
    try await ConsoleScene.with { scene in
      for operation in document.operations {
        let description = try document.description(operation)
        guard description["requestBody"]?["content"]?["application/json"] != nil else { continue }
        let method = HTTPServer.Method(rawValue: operation.method)
        for (type, body, status) in [
          ("text/plain", Array("{}".utf8), 415), ("application/json", large, 413),
          ("application/json", Array("{\"a\": 1,}".utf8), 400), ("application/json", [], 400),
          ("application/json", Array("[]".utf8), 422),
        ] {
          let answer = try await scene.call(
            method, Self.target(operation), as: .admin, headers: ["Content-Type": type], body: body)
          // A body that may be left out: what the path names is looked up.
          let isLeftOut = body.isEmpty && description["requestBody"]?["required"] == false
          #expect(answer.status == (isLeftOut ? 404 : status), "\(operation): \(answer.text)")
          #expect(try document.errors(answer, to: operation) == [], "\(operation)")
        }
      }
      #expect(try await scene.audit() == [])
    }
  }

  @Test("no text that fits the schema is refused with a code that begins with field.")
  func texts() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var count = 0
      for operation in document.operations {
        let media = try document.description(operation)["requestBody"]?["content"]?["application/json"]
        guard let schema = media?["schema"], let example = media?["example"] else { continue }
        let target = Self.target(operation).replacing("com.example.none", with: ConsoleScene.bundleID)
        for text in ["", "a\u{0}b", String(repeating: "x", count: 9000)] {
          for variant in try document.schema.variants(of: example, schema, with: text) {
            guard try document.requestErrors(variant, of: operation) == [], var body = variant.object else { continue }
            count += 1
            // An unknown field is refused together with the others, so that nothing is saved or sent.
            body["colour"] = "blue"
            let answer = try await scene.call(
              HTTPServer.Method(rawValue: operation.method), target, as: .admin, json: .object(body))
            let codes = zip(answer.fields, answer.codes).filter { $0 != "colour" && $1.hasPrefix("field.") }
            #expect(codes.isEmpty, "\(operation): \(answer.text)")
          }
        }
      }
      #expect(count > 50)
    }
  }

  @Test("a token that was revoked or has expired opens nothing")
  func tokens() async throws {
    try await ConsoleScene.with { scene in
      try await scene.store.write { database in
        for token in try APIToken.all(database) where token.name != "admin" {
          try APIToken.revoke(database, id: token.id, now: ConsoleScene.noon)
        }
      }
      #expect(try await scene.call(.get, "/api/v1/apps", as: .viewer).status == 401)
      #expect(try await scene.call(.get, "/api/v1/apps", as: .operator).status == 401)
      #expect(try await scene.call(.get, "/api/v1/apps", as: .admin).status == 200)
    }
  }
}
