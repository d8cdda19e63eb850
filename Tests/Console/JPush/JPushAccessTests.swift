import Foundation
import HTTPServer
import JSON
import Logging
import Model
import Reactor
import Store
import TestSupport
import Testing

@testable import Console

/// Who may call, how often, and that every refusal is what JPush's clients can read.
@Suite("JPush API: access", .timeLimit(.minutes(2)))
struct JPushAccessTests {
  private static func basic(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }

  private static func target(_ route: Route) -> String {
    route.pattern.replacing(":id", with: "r1").replacing(":name", with: "a")
  }

  private static func routes(_ jpush: JPushScene) -> [Route] {
    jpush.scene.router.routes.filter { $0.name == "jpush" }
  }

  @Test("every route refuses every principal but an app with its own secret, and changes nothing")
  func principals() async throws {
    try await JPushScene.with { jpush in
      let routes = Self.routes(jpush)
      #expect(routes.count > 50)
      let wrong = [
        "", "Basic", "Basic !", Self.basic("x"), Self.basic("\(jpush.appKey):"), Self.basic(":\(jpush.secret)"),
        Self.basic("\(jpush.appKey):\(jpush.secret)x"), Self.basic("\(jpush.secret):\(jpush.appKey)"),
        Self.basic("group-\(jpush.appKey):\(jpush.secret)"), jpush.scene.authorization(.admin),
        Self.basic("\(jpush.appKey):\(String(repeating: "x", count: 300))"),
      ]
      let before = try await jpush.scene.changes()
      for (index, route) in routes.enumerated() {
        let family = try #require(JPushFamily(path: route.pattern))
        for (number, authorization) in wrong.enumerated() {
          let answer = try await jpush.call(
            route.method, Self.target(route), ["x": 1], authorization: authorization,
            from: "10.\(index).\(number).1")
          #expect(answer.status == 401, "\(route.pattern) as \(authorization)")
          let code = family == .device && authorization.isEmpty ? 7001 : family.authentication.rawValue
          #expect(answer.jpushCode == Int64(code), "\(route.pattern)")
          #expect(answer.response.headers["WWW-Authenticate"]?.hasPrefix("Basic") == true)
          #expect(answer.response.headers["X-Rate-Limit-Remaining"] == String(family.quota))
        }
      }
      #expect(try await jpush.scene.changes() == before)
      for route in routes where !route.pattern.hasSuffix("/") {
        let right = try await jpush.call(route.method, Self.target(route), ["x": 1])
        #expect(right.status != 401 && right.status < 500, "\(route.pattern): \(right.text)")
      }
      // The key opens nothing else.
      #expect(
        try await jpush.scene.call(.get, "/api/v1/apps", as: nil, headers: ["Authorization": jpush.authorization])
          .status
          == 401)
    }
  }

  @Test("a stranger's body is not read")
  func bodies() async throws {
    try await JPushScene.with { jpush in
      try await WebTestServer.with(jpush.scene.router) { address in
        func answer(_ fields: String) async throws -> String {
          let text =
            "POST /v3/push HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n"
            + "Content-Length: 1000\r\n\(fields)\r\n\r\n"
          return try await withCheckedThrowingContinuation { continuation in
            // A thread, because it waits.
            Thread {
              continuation.resume(
                with: Result {
                  let client = try PlainSocket(address, seconds: 60)
                  defer { client.close() }
                  client.send(text)
                  return client.text(until: "\r\n\r\n")
                })
            }.start()
          }
        }
        for (fields, status) in [
          ("X: y", 401), ("Authorization: \(Self.basic("a:b"))", 401), ("Authorization: \(jpush.authorization)", 100),
        ] {
          let first = try await answer(fields)
          #expect(first.hasPrefix("HTTP/1.1 \(status)"), "\(first)")
        }
      }
    }
  }

  @Test("many strangers are counted, each, and only those seen longest ago are forgotten")
  func strangers() {
    let (limits, now) = (JPushLimits(), ConsoleScene.noon)
    func wrong(_ name: String, times: Int = 1) {
      for _ in 0..<times { limits.countWrong(.init(nil, appKey: name), now: now) }
    }
    func wait(_ name: String) -> Int? { limits.wait(.init(nil, appKey: name), now: now) }
    wrong("first", times: JPushLimits.wrongLimit)
    #expect(wait("first") == 60)
    for number in 1..<JPushLimits.strangersLimit { wrong("a\(number)") }
    wrong("late", times: JPushLimits.wrongLimit)
    #expect(wait("late") == 60, "one more than there is room for is counted, too")
    #expect(wait("first") == 60)
    for number in 0..<JPushLimits.strangersLimit { wrong("b\(number)") }
    #expect(wait("first") == nil && wait("late") == 60)
  }

  @Test("ten wrong secrets in a minute from one address; other addresses and keys are not affected")
  func throttle() async throws {
    try await JPushScene.with { jpush in
      let wrong = Self.basic("\(jpush.appKey):wrong")
      func status(_ authorization: String?, from address: String) async throws -> Int {
        try await jpush.call(.get, "/v3/tags", authorization: authorization, from: address).status
      }
      for _ in 0..<10 { #expect(try await status(wrong, from: "192.0.2.9") == 401) }
      let refused = try await jpush.call(.get, "/v3/tags", authorization: wrong, from: "192.0.2.9")
      #expect(refused.status == 429 && refused.jpushCode == 2002)
      #expect(refused.response.headers["X-Rate-Limit-Remaining"] == "0")
      #expect(refused.response.headers["Retry-After"] == "60")
      jpush.scene.clock.advance(15)
      let later = try await jpush.call(.get, "/v3/tags", from: "192.0.2.9")
      #expect(later.status == 429 && later.response.headers["Retry-After"] == "45", "the right one is not tried either")
      #expect(try await status(nil, from: "192.0.2.10") == 200, "nobody else is locked out")
      for _ in 0..<10 { #expect(try await status(Self.basic("nobody:x"), from: "192.0.2.10") == 401) }
      #expect(try await status(Self.basic("somebody:x"), from: "192.0.2.10") == 429, "guessing app keys")
      #expect(try await status(nil, from: "192.0.2.10") == 200)
      let noted = try await jpush.scene.audit("token.refused")
      #expect(
        Set(noted.map { "\($0.actor) \($0.detail?["status"]?.integer ?? 0)" }) == [
          "app key \(jpush.appKey) 401", "app key \(jpush.appKey) 429", "app key unknown 401", "app key unknown 429",
        ], "each once an hour")
      jpush.scene.clock.advance(61)
      #expect(try await status(nil, from: "192.0.2.9") == 200)
      #expect(jpush.scene.log.entries.allSatisfy { !"\($0)".contains(jpush.secret) })
    }
  }

  @Test("each part has its calls a minute, says so in four headers, and answers 2002 beyond")
  func rates() async throws {
    try await JPushScene.with { jpush in
      func fields(_ answer: SceneAnswer) -> [String] {
        ["Quota", "Limit", "Remaining", "Reset"].map { answer.response.headers["X-Rate-Limit-\($0)"] ?? "-" }
      }
      for (method, target, quota) in [
        (HTTPServer.Method.get, "/v3/schedules", 100), (.get, "/v3/tags", 600), (.get, "/v3/push/cid", 600),
        (.get, "/v3/received?msg_ids=1", 2400),
      ] {
        #expect(
          fields(try await jpush.call(method, target)) == ["\(quota)", "\(quota)", "\(quota - 1)", "60"], "\(target)")
      }
      let bad = try await jpush.call(.post, "/v3/schedules", [:])
      #expect(bad.status == 400 && fields(bad) == ["100", "100", "98", "60"], "on refusals, too")
      jpush.scene.clock.advance(20)
      for _ in 0..<98 { _ = try await jpush.call(.get, "/v3/schedules") }
      let beyond = try await jpush.call(.get, "/v3/schedules")
      #expect(beyond.status == 429 && beyond.jpushCode == 2002 && fields(beyond) == ["100", "100", "0", "40"])
      #expect(beyond.response.headers["Retry-After"] == "40")
      #expect(try await jpush.call(.get, "/v3/tags").status == 200, "other parts go on")
      jpush.scene.clock.advance(40)
      #expect(try await jpush.call(.get, "/v3/schedules").status == 200)
    }
  }

  @Test("below /v3 and /v1, every failure is JSON in JPush's form, whoever asks")
  func failures() async throws {
    try await JPushScene.with { jpush in
      let long = [UInt8](repeating: 0x20, count: (8 << 20) + 1)
      for (method, target, body, type, status, code) in [
        (HTTPServer.Method.get, "/v3/nothing", nil, "application/json", 404, 1003),
        (.get, "/v3", nil, "x/y", 404, 1003),
        (.post, "/v1/app", nil, "application/json", 403, 2007),
        (.post, "/v3/grouppush", nil, "application/json", 403, 2007),
        (.post, "/v3/push/grouppush", nil, "application/json", 403, 2007),
        (.post, "/v3/push/file", nil, "application/json", 403, 2007), (.post, "/v3/files/alias", nil, "", 403, 2007),
        (.get, "/v3/push/schedules", nil, "", 403, 2007), (.get, "/v3/report/received", nil, "", 403, 2007),
        (.get, "/v3/device/aliases/a", nil, "", 403, 2007), (.post, "/v3/push/1", nil, "application/json", 404, 1003),
        (.get, "/v3/push", nil, "application/json", 405, 1001),
        (.put, "/v3/tags/a", nil, "application/json", 405, 7002),
        (.get, "/v3/schedules/x/y", nil, "application/json", 404, 8104), (.get, "/v3/users/x", nil, "", 404, 1003),
        (.post, "/v3/push", long, "application/json", 413, 1005),
        (.post, "/v3/push", Array("{".utf8), "text/json", 400, 1003),
        (.post, "/v3/push", Array("[]".utf8), "application/vnd.x+json", 400, 1003),
        (.post, "/v3/push", Array("{}".utf8), "text/plain", 400, 1002),
        (.post, "/v3/push", Array("{}".utf8), "application/x-www-form-urlencoded", 400, 1002),
        (.post, "/v3/devices/r1", Array("1".utf8), "application/json", 400, 7002),
        (.post, "/v3/schedules", Array("nonsense".utf8), "application/json", 400, 8100),
      ] as [(HTTPServer.Method, String, [UInt8]?, String, Int, Int64)] {
        for authorization in [nil, ""] as [String?] where authorization == nil || body == nil {
          let answer = try await jpush.call(method, target, body: body, type: type, authorization: authorization)
          #expect(
            answer.status == status && answer.jpushCode == code, "\(method) \(target): \(answer.status) \(answer.text)")
          #expect(answer.type == "application/json" && !answer.text.contains("Not Found"))
          let quota = JPushFamily(path: target).map { String($0.quota) }
          #expect(answer.response.headers["X-Rate-Limit-Limit"] == quota, "\(method) \(target)")
        }
      }
      // Elsewhere they are what they were.
      #expect(try await jpush.call(.get, "/api/v1/nothing").type == "application/problem+json")
      #expect(try await jpush.call(.get, "/nothing").type == "text/html")
    }
  }

  @Test("a key pair is made, replaced and removed on the app's page, and its secret is shown once")
  func page() async throws {
    try await JPushScene.with { jpush in
      var anna = try await jpush.scene.signIn(.admin)
      let path = "/apps/\(jpush.app.id)"
      let page = try await anna.get(path)
      #expect(page.text.contains(jpush.appKey) && !page.text.contains(jpush.secret))
      let made = try await anna.post(path + "/jpush-key")
      #expect(made.status == 200 && made.response.headers["Cache-Control"] == "no-store")
      let secret = try #require(
        made.text.firstMatch(of: #/id="jpush-secret"[^>]*>([A-Za-z0-9]{24})</#).map { String($0.1) })
      #expect(ScenePage(made).text(id: "jpush-curl")?.contains("-u '\(jpush.appKey):\(secret)'") == true)
      let again = try await anna.get(path)
      #expect(!again.text.contains(secret))
      #expect(try await jpush.call(.get, "/v3/tags").status == 401, "the old secret")
      let right = Self.basic("\(jpush.appKey):\(secret)")
      #expect(try await jpush.call(.get, "/v3/tags", authorization: right).status == 200)
      #expect(try await anna.post(path + "/jpush-key/remove").status == 303)
      #expect(try await jpush.call(.get, "/v3/tags", authorization: right).status == 401)
      let actions = try await jpush.scene.audit().map(\.action).filter { $0.hasPrefix("jpush_key") }
      #expect(actions == ["jpush_key.delete", "jpush_key.rotate", "jpush_key.create"])
      let audit = try await jpush.scene.audit()
      #expect(audit.allSatisfy { !"\($0)".contains(secret) && !"\($0)".contains(jpush.secret) })
      var ben = try await jpush.scene.signIn(.viewer)
      let viewed = try await ben.get(path)
      #expect(!viewed.text.contains("/jpush-key\""), "no button without the right")
    }
  }
}
