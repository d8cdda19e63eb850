import Calendar
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import Store
import Testing

@testable import Console
@testable import Simulator

/// `/simulator/v1`, behind the API's tokens and alone.
@Suite("API: the simulator", .timeLimit(.minutes(2)))
struct SimulatorAPITests {
  private typealias Operation = OpenAPIDocument.Operation

  /// Calls with the rights of an operator; the answer must fit the document.
  private static func call(
    _ scene: ConsoleScene, _ method: HTTPServer.Method, _ path: String, of pattern: String? = nil,
    json: JSONValue? = nil
  ) async throws -> SceneAnswer {
    let answer = try await scene.call(method, SimulatorAPI.prefix + path, as: .operator, json: json)
    let operation = Operation(
      method: method.rawValue, path: SimulatorAPI.prefix + (pattern ?? String(path.prefix { $0 != "?" })))
    #expect(try OpenAPIDocument().errors(answer, to: operation) == [], "\(operation): \(answer.text)")
    return answer
  }

  @Test("an iPhone is added with a Firebase token, its own or a new one")
  func appleByFCM() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let text = SimulatedPhone.newToken(.fcm).text
      let phone: JSONValue = ["app": "com.example.other", "environment": "production", "platform": "ios"]
      for (input, status) in [
        (phone.with("token", .string(text)), 201), (phone.with("provider", "fcm"), 201),
        (phone.with("token", .string(text)), 409),
      ] {
        let added = try await Self.call(scene, .post, "/phones", json: input)
        #expect(added.status == status, "\(added.text)")
        guard status == 201 else { continue }
        #expect(added.json?["provider"] == "fcm" && added.json?["platform"] == "ios" && added.json?["android"] == .null)
      }
      let android = try await Self.call(
        scene, .post, "/phones",
        json: phone.without("platform").with("token", .string(SimulatedPhone.newToken(.fcm).text)))
      #expect(android.json?["platform"] == "android")
    }
  }

  @Test("a phone's life: added, uninstalled, installed anew, switched off, removed")
  func life() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let book = try #require(scene.simulator).phones
      let token = ConsoleScene.token(7).hexadecimal
      let input: JSONValue = ["app": "com.example.other", "environment": "production", "token": .string(token)]
      let added = try await Self.call(scene, .post, "/phones", json: input)
      #expect(added.status == 201 && added.location == "/simulator/v1/phones/1")
      #expect(added.json?["token"] == .string(token) && added.json?["name"] == "Phone 1")
      #expect(try await Self.call(scene, .post, "/phones", json: input).status == 409, "the token is taken")
      var other = input.object ?? [:]
      other["environment"] = "development"
      #expect(try await Self.call(scene, .post, "/phones", json: .object(other)).status == 201)
      #expect(try await Self.call(scene, .get, "/phones").json?["items"]?.array?.count == 2)

      let gone = try await Self.call(scene, .post, "/phones/1/uninstall", of: "/phones/{id}/uninstall")
      #expect(gone.status == 200 && gone.json?["uninstalled_at"] == .string(Timestamp.text(ConsoleScene.noon)))
      #expect(try await Self.call(scene, .post, "/phones/1/uninstall", of: "/phones/{id}/uninstall").status == 409)
      let back = try await Self.call(scene, .post, "/phones/1/install", of: "/phones/{id}/install")
      #expect(back.json?["uninstalled_at"] == .null && back.json?["token"] != .string(token))

      let quiet: JSONValue = ["notifications": "off"]
      let denied = try await Self.call(scene, .patch, "/phones/1", of: "/phones/{id}", json: quiet)
      #expect(denied.json?["notifications"] == "off")
      #expect(back.json?["notifications"] == "allowed")
      let wrong: JSONValue = ["notifications": "on"]
      #expect(try await Self.call(scene, .patch, "/phones/1", of: "/phones/{id}", json: wrong).status == 422)

      let patch: JSONValue = ["power": "off", "app_state": "background"]
      let off = try await Self.call(scene, .patch, "/phones/1", of: "/phones/{id}", json: patch)
      #expect(off.json?["power"] == "off" && off.json?["app_state"] == "not_running")
      let front: JSONValue = ["app_state": "foreground"]
      #expect(try await Self.call(scene, .patch, "/phones/1", of: "/phones/{id}", json: front).status == 409)
      #expect(try await Self.call(scene, .patch, "/phones/1", of: "/phones/{id}", json: [:]).status == 422)
      #expect(try await Self.call(scene, .get, "/phones/1", of: "/phones/{id}").json == off.json)
      #expect(try await Self.call(scene, .delete, "/phones/1", of: "/phones/{id}").status == 204)
      #expect(try await Self.call(scene, .get, "/phones/1", of: "/phones/{id}").status == 404)
      #expect(book.phones().map(\.id) == [2])
    }
  }

  @Test("an Android phone: its token, doze, channels, a refreshed token, and what arrived")
  func android() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let simulator = try #require(scene.simulator)
      let input: JSONValue = ["app": "com.example.other", "environment": "production", "platform": "android"]
      let added = try await Self.call(scene, .post, "/phones", json: input)
      let token = try #require(added.json?["token"]?.string)
      #expect(added.status == 201 && token.contains(":APA91b") && added.json?["model"] == "Android phone")
      let patch: JSONValue = ["dozing": true, "muted_channels": ["ads"]]
      let changed = try await Self.call(scene, .patch, "/phones/1", of: "/phones/{id}", json: patch)
      #expect(changed.json?["android"]?["dozing"] == true && changed.json?["android"]?["muted_channels"] == ["ads"])
      let message: JSONValue = [
        "message": [
          "token": .string(token), "notification": ["title": "Hello"],
          "android": ["priority": "high", "notification": ["channel_id": "ads", "tag": "t"]],
        ]
      ]
      let sent = simulator.phones.deliver(
        try FCMMessage.read(message.bytes).message, name: "projects/p/messages/1", isDry: false, now: scene.now)
      let landing = try sent.get()
      #expect(landing.arrived == 1 && landing.phones == [1] && landing.successor == nil)
      for query in ["?token=\(token.replacing(":", with: "%3A"))", "?message=projects/p/messages/1", "?title=Hello"] {
        let found = try await Self.call(scene, .get, "/notifications\(query)").json?["items"]?.array ?? []
        #expect(found.count == 1, "\(query)")
        #expect(found.first?["apns_id"] == .null && found.first?["push_type"] == .null)
        #expect(found.first?["channel"] == "ads" && found.first?["shown"] == false)
      }
      let refreshed = try await Self.call(scene, .post, "/phones/1/refresh", of: "/phones/{id}/refresh")
      #expect(refreshed.status == 200 && refreshed.json?["token"] != .string(token))
      var other: [String: JSONValue] = input.object ?? [:]
      other["token"] = .string(token)
      other["platform"] = "ios"
      #expect(try await Self.call(scene, .post, "/phones", json: .object(other)).status == 409, "not an iPhone's token")
      let iPhone: JSONValue = ["app": "com.example.other", "environment": "production"]
      #expect(try await Self.call(scene, .post, "/phones", json: iPhone).json?["android"] == .null)
      #expect(try await Self.call(scene, .post, "/phones/2/refresh", of: "/phones/{id}/refresh").status == 409)
      #expect(try await Self.call(scene, .patch, "/phones/2", of: "/phones/{id}", json: patch).status == 409)
    }
  }

  @Test("a body with mistakes names each field")
  func mistakes() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let input: JSONValue = ["app": "a b", "environment": "test", "token": "xyz", "colour": "blue"]
      let answer = try await Self.call(scene, .post, "/phones", json: input)
      #expect(answer.status == 422)
      #expect(Set(answer.fields) == ["app", "environment", "token", "colour"])
      let query = "?wait=soon&count=-1&phone=x&token=zz&environment=test&after=-1&limit=501"
      let looked = try await Self.call(scene, .get, "/notifications" + query)
      #expect(looked.status == 422)
      #expect(looked.fields == ["wait", "count", "phone", "token", "environment", "after", "limit"])
    }
  }

  @Test("what arrived is found by title, text, token, push and apns-id, newest first; and forgotten")
  func arrived() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let book = try #require(scene.simulator).phones
      let ada = try book.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      let alan = try book.add(NewPhone(name: "Alan", environment: .production, topic: ConsoleScene.bundleID))
      try book.receive(ada, ["aps": ["alert": ["title": "Hello", "body": "World"]], "sbid": "p1"], id: "A1")
      try book.receive(alan, ["aps": ["alert": "World"]], id: "A2")
      func ids(_ query: String) async throws -> [String] {
        let answer = try await Self.call(scene, .get, "/notifications\(query)")
        #expect(answer.status == 200, "\(query): \(answer.text)")
        return answer.json?["items"]?.array?.compactMap { $0["apns_id"]?.string } ?? []
      }
      #expect(try await ids("") == ["A2", "A1"])
      #expect(try await ids("?title=Hello") == ["A1"])
      #expect(try await ids("?body=World") == ["A2", "A1"])
      #expect(try await ids("?body=World&limit=1") == ["A2"])
      #expect(try await ids("?environment=production") == ["A2"])
      #expect(try await ids("?token=\(ada.tokenText)") == ["A1"])
      #expect(try await ids("?phone=\(alan.id)") == ["A2"])
      #expect(try await ids("?push=p1") == ["A1"])
      #expect(try await ids("?apns_id=A2") == ["A2"])
      #expect(try await ids("?after=1") == ["A2"])
      #expect(try await ids("?title=World") == [])
      let cleared = try await Self.call(scene, .post, "/phones/\(ada.id)/clear", of: "/phones/{id}/clear")
      #expect(cleared.json?["received"] == 0)
      #expect(try await ids("") == ["A2"])
      #expect(try await Self.call(scene, .delete, "/notifications").status == 204)
      #expect(try await ids("") == [])
    }
  }

  @Test("waiting ends with the arrival; where nothing comes, with 404 and what came instead")
  func waits() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let book = try #require(scene.simulator).phones
      let phone = try book.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      async let waiting = Self.call(scene, .get, "/notifications?wait=1min&title=Second&count=2")
      try book.receive(phone, ["aps": ["alert": ["title": "First"]]], id: "A1")
      try book.receive(phone, ["aps": ["alert": ["title": "Second"]]], id: "A2")
      try book.receive(phone, ["aps": ["alert": ["title": "Second"]]], id: "A3")
      let answer = try await waiting
      #expect(answer.status == 200 && answer.json?["total"] == 2)
      let none = try await Self.call(scene, .get, "/notifications?wait=20ms&title=Third")
      #expect(none.status == 404)
      #expect(none.json?["detail"] == "No matching notification arrived within 20ms; 3 arrived on all phones.")
      let few = try await Self.call(scene, .get, "/notifications?wait=20ms&title=First&count=2")
      #expect(few.status == 404 && few.text.contains("Only 1 of 2"))
    }
  }

  @Test("that nothing arrives is asserted by count=0: the answer comes at the end, or with the first as an error")
  func absence() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let book = try #require(scene.simulator).phones
      let phone = try book.add(NewPhone(name: "Ada’s iPhone", environment: .development, topic: ConsoleScene.bundleID))
      let none = try await Self.call(scene, .get, "/notifications?count=0&wait=20ms")
      #expect(none.status == 200 && none.json?["total"] == 0)
      async let waiting = Self.call(scene, .get, "/notifications?count=0&wait=1min&contains=SALE")
      try book.receive(phone, ["aps": ["alert": ["title": "Hello"]]], id: "A1")
      try book.receive(phone, ["aps": ["alert": ["title": "x", "subtitle": "Weekend sale: 20%"]]], id: "A2")
      #expect(try await waiting.status == 409)
      for (query, status) in [
        ("count=0", 409), ("count=0&contains=sale", 409), ("count=0&contains=winter", 200), ("count=0&after=2", 200),
        ("count=0&name=Grace", 200), ("count=0&name=Ada%E2%80%99s%20iPhone", 409), ("count=0&title=Hell", 200),
        ("count=0&contains=hell&wait=10ms", 409),
      ] {
        let answer = try await Self.call(scene, .get, "/notifications?\(query)")
        #expect(answer.status == status, "\(query): \(answer.text)")
      }
      let two = try await Self.call(scene, .get, "/notifications?count=0")
      #expect(two.json?["detail"] == "2 matching notifications arrived, and none was to.")
    }
  }

  @Test("a notification is found by a part of its text, and by a JSON Pointer into its payload")
  func content() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let book = try #require(scene.simulator).phones
      let phone = try book.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      try book.receive(
        phone, ["aps": ["alert": ["title": "Order #48213", "body": "has shipped"], "badge": 3], "link": "orders"],
        id: "A1")
      try book.receive(phone, ["aps": ["alert": "Other"]], id: "A2")
      for (query, count) in [
        ("contains=%2348213", 1), ("contains=SHIPPED", 1), ("contains=o", 2), ("contains=orders", 0),
        ("pointer=/aps/badge", 1), ("pointer=/aps/badge&value=3", 1), ("pointer=/aps/badge&value=4", 0),
        ("pointer=/link&value=orders", 1), ("pointer=/aps/alert&value=Other", 1), ("pointer=/aps/alert/title", 1),
      ] {
        let answer = try await Self.call(scene, .get, "/notifications?\(query)")
        #expect(answer.json?["total"] == .number(count), "\(query): \(answer.text)")
      }
      let wrong = try await Self.call(scene, .get, "/notifications?pointer=aps.badge")
      #expect(wrong.status == 422 && wrong.codes == ["simulator.pointer"])
    }
  }

  @Test("requests are listed with their answers, asserted, found and forgotten")
  func requests() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let simulator = try #require(scene.simulator)
      func send(_ body: JSONValue, key: String = "key=server") async throws {
        _ = try await simulator.fcm.answer(
          SimulatedCall(method: "POST", target: "/fcm/send", authorization: key, body: body.bytes))
      }
      let nothing = try await Self.call(scene, .get, "/requests?count=0&wait=10ms")
      #expect(nothing.status == 200 && nothing.json?["total"] == 0)
      let missing = try await Self.call(scene, .get, "/requests?wait=10ms&contains=sale")
      #expect(missing.status == 404)
      #expect(missing.json?["detail"] == "No matching request arrived within 10ms; 0 reached the simulator.")
      async let waiting = Self.call(scene, .get, "/requests?wait=1min&outcome=refused&reason=InvalidRegistration")
      try await send(["to": "x", "notification": ["title": "Weekend sale", "body": "20% off"], "data": ["link": "a"]])
      let found = try await waiting
      #expect(found.status == 200 && found.json?["total"] == 1)
      let one = try #require(found.json?["items"]?.array?.first)
      #expect(one["server"] == "fcm" && one["method"] == "POST" && one["target"] == "/fcm/send" && one["status"] == 200)
      #expect(one["title"] == "Weekend sale" && one["body"] == "20% off" && one["tokens"] == ["x"])
      #expect(one["json"]?["data"]?["link"] == "a" && one["text"] == .null && one["fault"] == false)
      #expect(one["answer"]?.string?.contains("InvalidRegistration") == true)
      for (query, status, total) in [
        ("contains=SALE", 200, 1), ("contains=winter", 200, 0), ("pointer=/data/link&value=a", 200, 1),
        ("server=fcm&status=200&token=x", 200, 1), ("server=jpush", 200, 0), ("after=1", 200, 0),
        ("count=0&contains=sale", 409, nil), ("count=0&outcome=arrived", 200, 0), ("count=2&wait=10ms", 404, nil),
      ] as [(String, Int, Int?)] {
        let answer = try await Self.call(scene, .get, "/requests?\(query)")
        #expect(answer.status == status, "\(query): \(answer.text)")
        #expect(total == nil || answer.json?["total"] == total.map(JSONValue.number), "\(query)")
      }
      try await send([:], key: "")
      let text = try await Self.call(scene, .get, "/requests?status=401").json?["items"]?.array?.first
      #expect(text?["reason"] == "Unauthorized" && text?["outcome"] == "refused")
      #expect(try await Self.call(scene, .get, "/requests?outcome=lost2").status == 422)
      #expect(try await Self.call(scene, .delete, "/requests").status == 204)
      #expect(try await Self.call(scene, .get, "/requests?count=0").status == 200)
    }
  }

  @Test("a phone tells the tokens that its app has for other push types, and is found by them")
  func ownTokens() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let book = try #require(scene.simulator).phones
      let phone = try book.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      try book.receive(phone, ["aps": ["event": "update"]], id: "L1", pushType: .liveactivity)
      let tokens = try await Self.call(scene, .get, "/phones/1", of: "/phones/{id}").json?["tokens"]
      let token = try #require(tokens?["liveactivity"]?.string)
      #expect(token != phone.tokenText && tokens?["voip"]?.string != nil && tokens?["alert"] == nil)
      for one in [token, phone.tokenText] {
        #expect(try await Self.call(scene, .get, "/notifications?token=\(one)").json?["total"] == 1)
      }
      let android = try book.add(
        NewPhone(name: "B", platform: .android, environment: .development, topic: ConsoleScene.bundleID))
      #expect(try await Self.call(scene, .get, "/phones/\(android.id)", of: "/phones/{id}").json?["tokens"] == [:])
    }
  }

  @Test("a wait that begins after the arrival does not wait, and one that is given up ends")
  func waitAtOnce() async throws {
    let scene = PhoneBook()
    let phone = try scene.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
    try scene.receive(phone, ["aps": ["alert": "x"]])
    #expect(await scene.arrivals(NotificationQuery(), atLeast: 1, within: .seconds(3600)).count == 1)
    let waiting = Task { await scene.arrivals(NotificationQuery(), atLeast: 2, within: .seconds(3600)).count }
    waiting.cancel()
    #expect(await waiting.value == 1)
  }

  @Test("faults are set as on the command line, and counters tell what was done")
  func faults() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let simulator = try #require(scene.simulator)
      let text: JSONValue = ["faults": "status=503,reason=ServiceUnavailable,next=10,delay=200ms"]
      let pattern = "/faults/{server}"
      let set = try await Self.call(scene, .put, "/faults/production", of: pattern, json: text)
      #expect(set.status == 200 && set.json?["faults"] == text["faults"])
      #expect(simulator.faults(.production).faults.delay == .milliseconds(200))
      #expect(simulator.faults(.development).faults == Faults())
      let both = try await Self.call(scene, .get, "/faults")
      #expect(both.json?["items"]?.array?.compactMap { $0["faults"]?.string }.filter { !$0.isEmpty }.count == 1)
      let wrong = try await Self.call(scene, .put, "/faults/production", of: pattern, json: ["faults": "next=3"])
      #expect(wrong.status == 422 && wrong.fields == ["faults"])
      #expect(try await Self.call(scene, .put, "/faults/test", of: pattern, json: text).status == 404)
      let fcm: JSONValue = ["faults": "status=429,reason=QUOTA_EXCEEDED,next=2,retry=30"]
      #expect(try await Self.call(scene, .put, "/faults/fcm", of: pattern, json: fcm).json?["faults"] == fcm["faults"])
      #expect(simulator.faults(.fcm).faults.answers.first?.retryAfter == 30)
      let endless: JSONValue = ["faults": "reason=ACCESS_TOKEN_EXPIRED"]
      #expect(try await Self.call(scene, .put, "/faults/fcm", of: pattern, json: endless).fields == ["faults"])
      #expect(try await Self.call(scene, .delete, "/faults").status == 204)
      #expect(simulator.faults(.production).faults == Faults())
      let counters = try await Self.call(scene, .get, "/counters")
      #expect(counters.json?["development"]?["requests"] == 0)
      let overview = try await Self.call(scene, .get, "")
      #expect(overview.json?["authority"]?.string == simulator.authorityPEM)
      #expect(overview.json?["development"] == .null, "its servers do not listen")
    }
  }

  @Test("without the simulator there is nothing, and the answer says how to start one")
  func none() async throws {
    try await ConsoleScene.with { scene in
      let answer = try await Self.call(scene, .get, "/phones")
      #expect(answer.status == 404 && answer.text.contains("--demo"))
    }
  }

  @Test("alone it needs no token, and pages of other sites get nowhere")
  func alone() async throws {
    let simulator = try PushSimulator()
    let router = SimulatorControl.router(simulator, clock: { ConsoleScene.noon })
    func call(_ method: HTTPServer.Method, _ target: String, _ headers: Headers = Headers()) async throws -> SceneAnswer
    {
      SceneAnswer(response: await router.respond(to: try Request(method, target, headers: headers, body: [])))
    }
    #expect(try await call(.get, "/healthz").status == 200)
    #expect(try await call(.get, "/simulator/v1/phones").json == ["items": []])
    let unknown = try await call(.get, "/simulator/v1/phones?colour=blue")
    #expect(unknown.status == 422 && unknown.fields == ["colour"])
    let missing = try await call(.get, "/simulator/v1/phones/9")
    #expect(missing.status == 404 && missing.type == "application/problem+json")
    #expect(try await call(.get, "/").status == 404)
    let site: Headers = ["Sec-Fetch-Site": "cross-site"]
    #expect(try await call(.delete, "/simulator/v1/notifications", site).status == 403)
    for place in ["", "http://fcm.googleapis.com"] {
      let unsigned = try await call(.post, place + "/fcm/send")
      #expect(unsigned.status == 401 && unsigned.text.contains("Authorization: key="), "\(place)")
    }
    for host in ["localhost", "LOCALHOST:2199", "127.0.0.1:2199", "127.9.9.9", "[::1]:2199"] {
      #expect(try await call(.get, "/simulator/v1/phones", ["Host": host]).status == 200, "\(host)")
    }
    for host in ["evil.example", "evil.example:2199", "localhost.evil.example", "10.0.0.1", "[2001:db8::1]:80"] {
      for (method, path) in [(HTTPServer.Method.get, "/requests"), (.delete, "/notifications"), (.get, "/nothing")] {
        let answer = try await call(method, "/simulator/v1\(path)", ["Host": host])
        #expect(answer.status == 421 && answer.text.contains("--name"), "\(host) \(path)")
      }
      #expect(try await call(.get, "/%73imulator/v1/phones", ["Host": host]).status == 421, "however it is written")
      #expect(try await call(.post, "/fcm/send", ["Host": host]).status == 401, "clients call it by any name")
    }
    let served = Set(router.routes.filter { $0.name == "api" }.map(\.pattern))
    #expect(served.count == Set(SimulatorAPI.all.map(\.pattern)).count)
  }

  @Test(
    "the control API has the names that it was given, and its address; on all interfaces any address",
    arguments: [
      ("push.test:2199", "127.0.0.1:2199", 200), ("PUSH.test", "127.0.0.1:2199", 200), ("10.0.0.1", "127.0.0.1:1", 421),
      ("10.0.0.1:9", "10.0.0.1:2199", 200), ("10.0.0.2", "10.0.0.1:2199", 421), ("10.0.0.2", "0.0.0.0:2199", 200),
      ("[fd00::1]:2199", "[::]:2199", 200), ("evil.example", "0.0.0.0:2199", 421),
    ])
  func names(host: String, address: String, status: Int) async throws {
    let router = SimulatorControl.router(
      try PushSimulator(), names: ["push.test"], address: SocketAddress(address))
    let answer = await router.respond(to: try Request(.get, "/simulator/v1/phones", headers: ["Host": host]))
    #expect(answer.status.code == status)
  }
}
