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
    _ scene: ConsoleScene, key: String, token: Int
  ) async throws -> SceneAnswer {
    scene.clock.advance(60)
    let body: JSONValue = [
      "client_key": .string(key), "platform": "ios", "environment": "development",
      "token": .string(ConsoleScene.token(token).hexadecimal),
    ]
    let request = try Request(
      .post, "/notificationtokenupload", headers: ["Content-Type": "application/json"], body: Array(body.data()))
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
}
