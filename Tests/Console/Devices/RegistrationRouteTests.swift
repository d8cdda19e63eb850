import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import Store
import Testing

@testable import Console

/// An app on a phone, which registers by itself.
private struct ClientApp: Sendable {
  static let path = "/notificationtokenupload"

  let scene: ConsoleScene
  let app: App
  let key: String

  static func with(
    aliasRule: String? = nil, _ body: @Sendable (ClientApp) async throws -> Void
  ) async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp(aliasRule: aliasRule)
      let key = try await scene.store.write { try ClientKey.add($0, app: app, by: "anna", now: ConsoleScene.noon).key }
      try await body(ClientApp(scene: scene, app: app, key: key))
    }
  }

  static func fields(_ number: Int = 1) -> JSONValue {
    ["token": .string(ConsoleScene.token(number).hexadecimal), "platform": "ios", "environment": "development"]
  }

  func upload(
    _ json: JSONValue, method: HTTPServer.Method = .post, key: String? = nil, address: String? = nil
  ) async throws -> SceneAnswer {
    try await send(
      Array(json.data()), "application/json", method: method, key: key ?? self.key, address: address)
  }

  func send(
    _ body: [UInt8], _ type: String, method: HTTPServer.Method = .post, key: String, address: String? = nil
  ) async throws -> SceneAnswer {
    var headers: Headers = ["Content-Type": type]
    if !key.isEmpty { headers.append("Authorization", "Bearer \(key)") }
    let request = try Request(
      method, Self.path, headers: headers, body: body, remoteAddress: address.flatMap { SocketAddress($0) })
    return SceneAnswer(response: await scene.router.respond(to: request))
  }

  func device(_ number: Int = 1) async throws -> Device? {
    try await scene.store.read { [app] in try Device.find($0, app: app.id, token: ConsoleScene.token(number)) }
  }
}

@Suite("Registration by apps: /notificationtokenupload")
struct RegistrationRouteTests {
  @Test("register, log in, start again, log out, refresh and remove, with the same answer each time")
  func life() async throws {
    try await ClientApp.with { client in
      let answer = try await client.upload(
        ClientApp.fields().with("tags", ["beta"]).with("app_version", "2.1").with("time_zone", "Asia/Shanghai"))
      #expect(answer.status == 200 && answer.json == ["code": 0, "message": "success"])
      let login = try await client.upload(ClientApp.fields().with("user", "usr_1").with("tags_add", ["vip"]))
      #expect(login.bytes == answer.bytes)
      let again = try await client.upload(ClientApp.fields().with("language", "en"))
      #expect(again.bytes == answer.bytes)
      let device = try #require(try await client.device())
      #expect(device.alias == "usr_1" && device.tags == ["beta", "vip"])
      for logout in [JSONValue.null, ""] {
        #expect(try await client.upload(ClientApp.fields().with("alias", "usr_1")).bytes == answer.bytes)
        #expect(try await client.upload(ClientApp.fields().with("alias", logout)).bytes == answer.bytes)
        #expect(try await client.device()?.alias == nil)
      }
      let refresh = ClientApp.fields(2).with("previous_token", .string(ConsoleScene.token(1).hexadecimal))
      #expect(try await client.upload(refresh).bytes == answer.bytes)
      #expect(try await client.device(2)?.id == device.id)
      var viewer = try await client.scene.signIn(.viewer)
      let page = try await viewer.get("/devices/\(device.id)")
      for text in ["Token changed from", "Alias changed from usr_1 to none", "Asia/Shanghai", "2.1"] {
        #expect(ScenePage(page).text.contains(text), "\(text)")
      }
      let removal = ClientApp.fields(2).without("environment")
      #expect(try await client.upload(removal, method: .delete).bytes == answer.bytes)
      #expect(try await client.device(2) == nil)
      #expect(try await client.upload(removal, method: .delete).bytes == answer.bytes, "nobody learns that it is gone")
    }
  }

  @Test("a form does the same")
  func form() async throws {
    try await ClientApp.with { client in
      let token = ConsoleScene.token(1).hexadecimal
      let type = "application/x-www-form-urlencoded"
      let body = "client_key=\(client.key)&token=\(token)&platform=ios&environment=development&user=a%2Bb&tags=x,y"
      #expect(try await client.send(Array(body.utf8), type, key: "").status == 200)
      let device = try #require(try await client.device())
      #expect(device.alias == "a+b" && device.tags == ["x", "y"])
      let logout = "token=\(token)&platform=ios&environment=development&user=&registration_id="
      #expect(try await client.send(Array(logout.utf8), type, key: client.key).status == 200)
      #expect(try await client.device()?.alias == nil)
      let twice = try await client.send(Array((logout + "&token=x").utf8), type, key: client.key)
      #expect(twice.json?["code"] == 6017)
    }
  }

  @Test("the codes of JPush's client library, and nothing is changed")
  func codes() async throws {
    try await ClientApp.with(aliasRule: "jpush") { client in
      let many = JSONValue.array((0...1000).map { .string("t\($0)") })
      for (name, value, status, code) in [
        ("alias", "user-e6882cab-cedf-4335-9b7c-612cd5b4d37d", 400, 6004),
        ("user", "e6882cab-cedf-4335-9b7c-612cd5b4d37d", 400, 6003), ("alias", 7, 400, 6017),
        ("tags", ["a-b"], 400, 6005), ("tags_add", [.string(String(repeating: "x", count: 41))], 400, 6006),
        ("tags", many, 400, 6007), ("token", "short", 400, 6017), ("platform", "symbian", 400, 6017),
        ("environment", .null, 400, 6017), ("colour", "blue", 400, 6017), ("previous_token", "short", 400, 6017),
        ("registration_id", "not an id", 400, 6017), ("tags", "beta", 400, 6017),
      ] as [(String, JSONValue, Int, Int64)] {
        let answer = try await client.upload(ClientApp.fields().with(name, value))
        #expect(answer.status == status && answer.json?["code"] == .integer(code), "\(name): \(answer.text)")
        #expect(answer.json?["message"]?.string?.isEmpty == false)
      }
      #expect(try await client.upload([]).json?["code"] == 6017)
      #expect(try await client.send(Array("{".utf8), "application/json", key: client.key).json?["code"] == 6017)
      #expect(try await client.send([], "text/plain", key: client.key).status == 415)
      let long = [UInt8](repeating: 0x20, count: 65 << 10)
      #expect(try await client.send(long, "application/json", key: client.key).status == 413)
      #expect(try await client.device() == nil)
      let good = ClientApp.fields().with("alias", "usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d")
      #expect(try await client.upload(good).json?["code"] == 0)
      for number in 2...10 { _ = try await client.upload(ClientApp.fields(number).with("alias", "full")) }
      #expect(try await client.upload(ClientApp.fields(11).with("alias", "full")).json?["code"] == 0)
      let full = try await client.upload(ClientApp.fields(12).with("alias", "full"))
      #expect(full.status == 409 && full.json?["code"] == 6027)
    }
  }

  @Test("a missing, unknown, removed or foreign key opens nothing; a client key opens nothing else")
  func keys() async throws {
    try await ClientApp.with { client in
      for key in ["", "sbc_x", client.key + "x", String(client.key.dropLast())] {
        let answer = try await client.upload(ClientApp.fields(), key: key)
        #expect(answer.status == 401 && answer.json?["code"] == 1008, "\(key)")
        #expect(answer.response.headers["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
      }
      #expect(
        try await client.upload(ClientApp.fields().with("client_key", .string(client.key)), key: "").status == 200)
      for target in ["/api/v1/devices", "/v3/tags", "/metrics"] {
        let answer = try await client.scene.call(
          .get, target, as: nil, headers: ["Authorization": "Bearer \(client.key)"])
        #expect(answer.status == 401, "\(target)")
      }
      let other = try await client.scene.addApp("com.example.other")
      let foreign = try await client.scene.store.write {
        try ClientKey.add($0, app: other, by: "anna", now: ConsoleScene.noon).key
      }
      let removal = ClientApp.fields().without("environment")
      #expect(try await client.upload(removal, method: .delete, key: foreign).status == 200)
      #expect(try await client.device() != nil, "another app's key")
      let answer = try await client.scene.call(
        .delete, "/api/v1/apps/\(client.app.bundleID)/client-keys/\(client.key)", as: .admin)
      #expect(answer.status == 204)
      #expect(try await client.upload(ClientApp.fields()).status == 401)
    }
  }

  @Test("one device and one address are slowed down with Retry-After, others are not")
  func limits() async throws {
    try await ClientApp.with { client in
      for _ in 0..<ClientLimits.Rate.device { #expect(try await client.upload(ClientApp.fields()).status == 200) }
      let device = try await client.upload(ClientApp.fields())
      #expect(device.status == 429 && device.json?["code"] == 6011)
      #expect(device.response.headers["Retry-After"] == "60")
      #expect(try await client.upload(ClientApp.fields(2)).status == 200)
      client.scene.clock.advance(61)
      #expect(try await client.upload(ClientApp.fields()).status == 200)
      for _ in 0..<ClientLimits.Rate.registrations {
        _ = try await client.upload(ClientApp.fields(), key: "wrong", address: "192.0.2.1:1000")
      }
      let address = try await client.upload(ClientApp.fields(), address: "192.0.2.1:1001")
      #expect(address.status == 429 && address.json?["code"] == 6011)
      #expect(try await client.upload(ClientApp.fields(), address: "192.0.2.2:1000").status == 200)
    }
  }

  @Test("of many addresses no more are remembered than fit")
  func memory() {
    let limits = ClientLimits()
    for number in 0..<100_000 { _ = limits.wait(.registrations("\(number)"), now: ConsoleScene.noon) }
    let shared = (0..<6001).map { limits.wait(.registrations("new \($0)"), now: ConsoleScene.noon) }
    #expect(shared.prefix(6000).allSatisfy { $0 == nil } && shared.last == 60, "they share ten times one's limit")
    #expect(limits.wait(.registrations("5"), now: ConsoleScene.noon) == nil)
    #expect(limits.wait(.registrations("fresh"), now: ConsoleScene.noon + 61) == nil)
  }

  @Test("an app removes its device with the registration's own body, with a form, or with a query")
  func removal() async throws {
    try await ClientApp.with { client in
      func remove(_ query: String, _ body: JSONValue?, key: String? = nil) async throws -> SceneAnswer {
        var headers: Headers = key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        if body != nil { headers.append("Content-Type", "application/json") }
        let request = try Request(
          .delete, ClientApp.path + query, headers: headers, body: body.map { Array($0.data()) } ?? [])
        return SceneAnswer(response: await client.scene.router.respond(to: request))
      }
      let whole = ClientApp.fields().with("user", "usr_1").with("tags", ["a"]).with("app_version", "1")
      let query =
        "?token=\(ConsoleScene.token(1).hexadecimal)&platform=ios&environment=development&client_key=\(client.key)"
      for (query, body, key) in [
        ("", whole, client.key), (query, nil, nil), (query, [:], nil), (query, ClientApp.fields(), nil),
        ("?client_key=\(client.key)", ClientApp.fields(), nil),
      ] as [(String, JSONValue?, String?)] {
        #expect(try await client.upload(whole).status == 200)
        let answer = try await remove(query, body, key: key)
        #expect(answer.status == 200 && answer.json?["code"] == 0, "\(query) \(answer.text)")
        #expect(try await client.device() == nil, "\(query)")
      }
      #expect(try await client.upload(whole).status == 200)
      for (query, body) in [
        (query, ClientApp.fields(2)), (query + "&colour=blue", nil),
        (query.replacing("platform=ios", with: "platform=windows"), nil),
        ("?client_key=\(client.key)&token=x", nil),
      ] as [(String, JSONValue?)] {
        #expect(try await remove(query, body).json?["code"] == 6017, "\(query)")
      }
      #expect(try await client.device() != nil)
      let post = try Request(.post, ClientApp.path + query, headers: ["Content-Type": "application/json"], body: [])
      #expect(await client.scene.router.respond(to: post).status.code == 400, "a registration stands in the body")
    }
  }

  @Test(
    "an iPhone with a Firebase token is registered with FCM, whether the app says so or not",
    arguments: [nil, "fcm"] as [String?])
  func firebase(provider: String?) async throws {
    let token = "fWx9:APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8vSsdtQ"
    try await ClientApp.with { client in
      let fields: JSONValue = [
        "token": .string(token), "platform": "ios", "environment": "production", "user": "usr_1",
      ]
      let named = provider.map { fields.with("provider", .string($0)) } ?? fields
      #expect(try await client.upload(named).status == 200)
      func device(_ token: DeviceToken) async throws -> Device? {
        try await client.scene.store.read { [app = client.app] in try Device.find($0, app: app.id, token: token) }
      }
      let known = try await device(DeviceToken(bytes: Array(token.utf8)))
      #expect(known?.platform == .ios && known?.provider == .fcm && known?.tokenText == token)
      let document = try OpenAPIDocument("app.json")
      #expect(try document.requestErrors(named, of: .init(method: "POST", path: ClientApp.path)) == [])
      // The app is built anew without Flutter: the same phone, by its APNs token.
      let moved = ClientApp.fields().with("environment", "production").with("previous_token", .string(token))
      #expect(try await client.upload(moved).status == 200)
      let now = try await client.device()
      #expect(now?.id == known?.id && now?.provider == .apns && now?.alias == "usr_1")
      for wrong in [
        named.with("provider", "apns"), named.with("provider", "jpush"),
        ClientApp.fields().with("platform", "android").with("provider", "apns"),
      ] {
        #expect(try await client.upload(wrong).json?["code"] == 6017, "\(wrong.text())")
      }
      #expect(try await client.upload(named, method: .delete).status == 200)
    }
  }

  @Test("answers fit the document")
  func document() async throws {
    let document = try OpenAPIDocument("app.json")
    try await ClientApp.with { client in
      let patterns = client.scene.router.routes.filter { $0.name == "app" }
      let served = patterns.map { OpenAPIDocument.Operation(method: $0.method.rawValue, path: $0.pattern) }
      #expect(Set(served) == document.operations)
      let post = OpenAPIDocument.Operation(method: "POST", path: ClientApp.path)
      let delete = OpenAPIDocument.Operation(method: "DELETE", path: ClientApp.path)
      let full = ClientApp.fields().with("user", .null).with("tags", ["a"]).with("registration_id", "r1")
      let sent = try document.requestErrors(full, of: post)
      #expect(sent == [])
      for (fields, key) in [(full, client.key), (full.with("token", "x"), client.key), (full, "wrong")] {
        let registered = try document.errors(try await client.upload(fields, key: key), to: post)
        #expect(registered == [])
        let removal = fields.without("tags").without("registration_id")
        #expect(try document.requestErrors(removal, of: delete) == [])
        let removed = try document.errors(try await client.upload(removal, method: .delete, key: key), to: delete)
        #expect(removed == [])
      }
    }
  }
}

@Suite("Client keys: API and page")
struct ClientKeyPageTests {
  @Test("keys are listed, created and removed by API and on the app's page, with code that has the newest")
  func keys() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let path = "/api/v1/apps/\(app.bundleID)/client-keys"
      #expect(try await scene.call(.get, path, as: .viewer).json == ["items": []])
      #expect(try await scene.call(.post, path, as: .operator).status == 403)
      let made = try await scene.call(.post, path, as: .admin)
      let key = try #require(made.json?["key"]?.string)
      #expect(made.status == 201)
      var admin = try await scene.signIn(.admin)
      #expect(ScenePage(try await admin.get("/apps/\(app.id)")).links.contains("/apps/\(app.id)/code"))
      let page = try await admin.get("/apps/\(app.id)/code")
      for text in [key, "http://localhost:8080", "group.\(app.bundleID)", "FirebaseMessagingService"] {
        #expect(ScenePage(page).text.contains(text), "\(text)")
      }
      // A new token does not drop a user whom the server does not have yet; in Kotlin, a late report has its time, and a
      // refusal is logged.
      for text in ["fields.merge(unsent)", "unsent[\"user\"] = user", ".put(\"at\", at)", "Log.w(\"Signalbox\""] {
        #expect(ScenePage(page).text.contains(text), "\(text)")
      }
      // Repeats are dropped, pages change only after a tap, and by the app's rules.
      for text in [
        #"Signalbox.isNew(userInfo, "arrived")"#, #"Signalbox.isNew(userInfo, "opened")"#, "UNPushNotificationTrigger",
        #"if let page = Signalbox.page(of: userInfo) { open(page) }"#, #""comment": "Message list","#,
        #"isNew(this, message.data["sbid"], "arrived")"#, #"isNew(context, id, "opened")"#,
        #""follow" to "Profile","#, "jpushNotificationCenter",
      ] {
        #expect(ScenePage(page).text.contains(text), "\(text)")
      }
      let rules = PageRules([.init(type: #"a"$b"#, page: "A", deepLink: "shop://orders/{id}")])
      try await scene.store.write { try App.setPageRules($0, id: app.id, rules, now: scene.now) }
      let own = ScenePage(try await admin.get("/apps/\(app.id)/code")).text
      #expect(own.contains(#""a\"$b": "shop://orders/{id}","#) && own.contains(#""a\"\$b" to "shop://orders/{id}","#))
      try await scene.store.write { try App.setPageRules($0, id: app.id, PageRules([]), now: scene.now) }
      #expect(ScenePage(try await admin.get("/apps/\(app.id)/code")).text.contains("[String: String] = [ : ]"))
      #expect(try await admin.post("/apps/\(app.id)/client-keys").status == 303)
      let keys = try await scene.store.read { try ClientKey.all($0, app: app.id).map(\.key) }
      #expect(keys.count == 2)
      #expect(try await admin.post("/apps/\(app.id)/client-keys/remove", [("key", key)]).status == 303)
      #expect(try await scene.store.read { try ClientKey.all($0, app: app.id).map(\.key) } == keys.filter { $0 != key })
      #expect(try await scene.call(.delete, "\(path)/\(key)", as: .admin).status == 404)
      #expect(try await scene.audit("client_key.create").count == 2)
      #expect(try await scene.audit("client_key.delete").count == 1)
    }
  }
}
