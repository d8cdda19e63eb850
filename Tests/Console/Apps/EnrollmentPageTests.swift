import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@testable import Console

@Suite("Pages: a phone is added by a QR code")
struct EnrollmentPageTests {
  private static func register(
    _ scene: ConsoleScene, key: String, token: Int, _ method: HTTPServer.Method = .post, previous: Int? = nil
  ) async throws -> SceneAnswer {
    scene.clock.advance(60)
    var body: JSONValue = [
      "client_key": .string(key), "platform": "ios", "token": .string(ConsoleScene.token(token).hexadecimal),
    ]
    if method == .post { body = body.with("environment", "development") }
    if let previous { body = body.with("previous_token", .string(ConsoleScene.token(previous).hexadecimal)) }
    let request = try Request(
      method, "/notificationtokenupload", headers: ["Content-Type": "application/json"], body: Array(body.data()))
    return SceneAnswer(response: await scene.router.respond(to: request))
  }

  @Test("the page waits with a code, says which phone registered, and its key is for one phone and half an hour")
  func life() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      var olga = try await scene.signIn(.operator)
      let made = try await olga.post("/apps/\(app.id)/phones")
      let path = try #require(made.location)
      let key = try #require(path.split(separator: "/").last.map(String.init))
      let waiting = try await olga.get(path)
      #expect(waiting.status == 200 && waiting.text.contains("class=\"qr\"") && waiting.text.contains("reload.js"))
      let link = try #require(ScenePage(waiting).text(id: "link"))
      #expect(link.hasPrefix("signalbox://register?server=http") && link.contains("app=com.example.shop"))
      #expect(link.hasSuffix("key=\(key)"))
      #expect(try await olga.get("/apps/\(app.id)").text.contains(key) == false, "it is no key for a binary")

      #expect(try await Self.register(scene, key: key, token: 1).status == 200)
      let registered = try await olga.get(path)
      #expect(registered.text.contains("is registered") && registered.text.contains("/pushes/new?device="))
      #expect(!registered.text.contains("reload.js"))
      #expect(try await Self.register(scene, key: key, token: 1).status == 200, "the same phone again")
      #expect(try await Self.register(scene, key: key, token: 2).status == 401, "another phone")

      let second = try #require(try await olga.post("/apps/\(app.id)/phones").location)
      scene.clock.advance(ClientKey.enrollmentTime)
      #expect(try await olga.get(second).text.contains("The code has expired"))
      let late = try #require(second.split(separator: "/").last.map(String.init))
      #expect(try await Self.register(scene, key: late, token: 3).status == 401)
    }
  }

  private static func key(_ scene: ConsoleScene, _ app: App) async throws -> String {
    try await scene.store.write {
      try ClientKey.add($0, app: app, by: "anna", for: ClientKey.enrollmentTime, now: ConsoleScene.noon).key
    }
  }

  @Test("of twelve phones at once one uses the key up")
  func atOnce() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let key = try await Self.key(scene, app)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 1...12 {
          group.addTask { try await Self.register(scene, key: key, token: number).status }
        }
        return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(statuses == [200: 1, 401: 11])
      #expect(try await scene.count("devices") == 1)
    }
  }

  @Test("with the key of one phone no other is removed, nor taken over by its token; its own may be")
  func ownOnly() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let others = try await scene.addDevices(3, of: app)
      let number = { (index: Int) in
        try #require((0..<9).first { ConsoleScene.token($0) == others[index].token })
      }
      let (first, second) = (try number(0), try number(1))
      let key = try await Self.key(scene, app)
      #expect(try await Self.register(scene, key: key, token: first, .delete).status == 401, "before its phone")
      #expect(try await Self.register(scene, key: key, token: 20, previous: first).status == 200)
      for token in [first, second, 99] {
        #expect(try await Self.register(scene, key: key, token: token, .delete).status == 401)
      }
      #expect(try await Self.register(scene, key: key, token: second, previous: 20).status == 401, "into another")
      #expect(try await scene.count("devices") == 4)
      #expect(try await Self.register(scene, key: key, token: 21, previous: 20).status == 200, "its own new token")
      #expect(try await Self.register(scene, key: key, token: 21, .delete).status == 200)
      #expect(try await scene.count("devices") == 3)
      #expect(try await Self.register(scene, key: key, token: 22).status == 401, "it was for one phone")
    }
  }
}
