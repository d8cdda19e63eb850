import Foundation
import JSON
import Logging
import Model
import SQLite
import Store
import TestSupport
import Testing

@testable import Console
@testable import HTTPServer

@Suite("Errors: pages for people, problems for programs")
struct ErrorPageTests {
  private static func form(_ body: String, type: String = "application/x-www-form-urlencoded") -> [String: String] {
    ["Content-Type": type, "Content-Length": String(body.utf8.count)]
  }

  @Test("an address or method that is not there: a page in the reader's frame, or a problem")
  func notThere() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      for target in ["/nothing", "/pushes/", "/apps/1/nothing"] {
        let answer = try await anna.get(target)
        #expect(answer.status == 404 && answer.text.contains("admin@example.com"), "\(target)")
        #expect(ScenePage(answer).links.contains("/devices"), "the navigation is there: \(target)")
        let stranger = try await scene.call(.get, target, as: nil)
        #expect(stranger.status == 404 && !ScenePage(stranger).links.contains("/devices"), "\(target)")
      }
      for target in ["/nothing", "/css/none.css", "/css/..%2f..%2fetc/passwd", "/pushes/", "/apps/1/nothing"] {
        let answer = try await anna.get(target)
        #expect(answer.status == 404, "\(target)")
        #expect(answer.type == "text/html", "\(target)")
        #expect(ScenePage(answer).text.contains("Page not found"), "\(target)")
        #expect(answer.response.headers["Content-Security-Policy"] != nil, "\(target)")
        #expect(answer.response.headers["Cache-Control"] == "no-store", "\(target)")
      }
      let json = try await anna.get("/nothing", headers: ["Accept": "application/json"])
      #expect(json.status == 404 && json.type == "application/problem+json")
      let api = try await scene.call(.get, "/api/nothing", as: .admin)
      #expect(api.status == 404 && api.type == "application/problem+json")
      #expect(api.response.headers["X-Content-Type-Options"] == "nosniff")
      let put = try await anna.send(.put, "/apps")
      #expect(put.status == 405 && put.response.headers["Allow"] == "GET, HEAD, OPTIONS, POST")
      #expect(put.type == "text/html")
      for (method, target) in [(HTTPServer.Method.post, "/healthz"), (.post, "/readyz"), (.get, "/fcm/send")] {
        let refused = try await scene.call(method, target, as: nil)
        #expect(refused.status == 405 && refused.type == "text/plain", "\(target): programs read no page")
        #expect(refused.response.headers["Allow"] != nil, "\(target)")
      }
      for target in ["/", "/apps", "/api/v1/apps", "/healthz"] {
        let traced = try await anna.send("TRACE", target)
        #expect(traced.status == 405 && traced.response.headers["Allow"]?.contains("GET") == true, "\(target)")
      }
      let listed = try await scene.call(.options, "/api/v1/apps/com.example.shop", as: .admin)
      #expect(listed.status == 204 && listed.response.headers["Accept-Patch"] == "application/json")
      let typed = try await scene.call(
        .patch, "/api/v1/apps/com.example.shop", as: .admin, headers: ["Content-Type": "text/plain"], body: [0x7B])
      #expect(typed.status == 415 && typed.response.headers["Accept-Patch"] == "application/json", "\(typed.text)")
      #expect(try await anna.send(.put, "/apps").response.headers["Accept-Patch"] == nil)
      let own = try await anna.get("/apps/999")
      #expect(own.status == 404 && own.text.contains("admin@example.com"), "in the frame of who is signed in")
      #expect(ScenePage(own).links.contains("/apps"), "with a way out")
      #expect(try await anna.send(.head, "/apps").status == 200)
    }
  }

  @Test("every page of something that is not there says so in words, with a link to where to look")
  func missing() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      try await scene.addApp()
      var anna = try await scene.signIn(.admin)
      var met = 0
      for pattern in PageWalkTests.pages(scene) where pattern.contains(":") && !pattern.hasSuffix("/events") {
        // The app is there, what belongs to it is not.
        let target = pattern.split(separator: "/").map { part in
          part == ":id" && pattern.hasPrefix("/apps/:id/") ? "1" : part.hasPrefix(":") ? "987654" : String(part)
        }.joined(separator: "/")
        let answer = try await anna.get("/\(target)")
        guard answer.status == 404 else { continue }
        met += 1
        let page = ScenePage(answer)
        #expect(!page.text.contains(/\b(nav|errors)\.[a-z_]/), "\(target)")
        #expect(page.links.contains("/"), "\(target)")
      }
      #expect(met >= 15)
    }
  }

  @Test("bodies that cannot be read: too large, of another type, with wrong escapes")
  func bodies() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let before = try await scene.changes()
      let large = "csrf=\(anna.csrf)&name=" + String(repeating: "x", count: 1 << 20)
      let tooLarge = try await anna.send(.post, "/apps", headers: Self.form(large), body: Array(large.utf8))
      #expect(tooLarge.status == 413)
      #expect(tooLarge.text.contains("The file or form is too large"))
      for type in ["application/json", "text/plain", "nonsense"] {
        let answer = try await anna.send(.post, "/apps", headers: Self.form("{}", type: type), body: Array("{}".utf8))
        #expect(answer.status == 415, "\(type)")
        #expect(answer.type == "text/html", "\(type)")
      }
      for body in ["csrf=%zz", "csrf=%", "a=%4"] {
        let answer = try await anna.send(.post, "/apps", headers: Self.form(body), body: Array(body.utf8))
        #expect(answer.status == 400, "\(body)")
      }
      for (type, body) in [
        ("multipart/form-data", "x"), ("multipart/form-data; boundary=a", "--b\r\n\r\nx"),
        ("multipart/form-data; boundary=a", "--a\r\nnonsense\r\n\r\nx\r\n--a--\r\n"),
      ] {
        let answer = try await anna.send(
          .post, "/certificates", headers: Self.form(body, type: type), body: Array(body.utf8))
        #expect(answer.status == 400, "\(type) \(body)")
        #expect(answer.type == "text/html")
      }
      #expect(try await scene.changes() == before)
    }
  }

  @Test("a part of a form may be as large as the route lets the whole be")
  func largePart() async throws {
    let multipart = Multipart([.file("file", name: "devices.csv", Array(repeating: 0x20, count: 9 << 20))])
    let request = try Request(
      .post, "/devices/import", headers: ["Content-Type": multipart.contentType], body: multipart.body)
    #expect(try await Form(request).file("file")?.bytes.count == 9 << 20)
  }

  @Test("an error that nobody expected: its words go to the log, masked, and not to the reader")
  func unexpected() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let token = ConsoleScene.token(5).hexadecimal
      _ = try await scene.store.write { try $0.run("ALTER TABLE apps RENAME TO apps_\(token)") }
      for (target, headers) in [("/apps", [:]), ("/apps", ["Accept": "application/json"])] {
        let answer = try await anna.get(target, headers: headers)
        #expect(answer.status == 500)
        #expect(
          !answer.text.contains("no such table") && !answer.text.contains("SELECT") && !answer.text.contains(token))
        let isJSON = !headers.isEmpty
        #expect(answer.type == (isJSON ? "application/problem+json" : "text/html"))
        if !isJSON { #expect(ScenePage(answer).text.contains("Something went wrong")) }
      }
      let api = try await scene.call(.get, "/api/v1/apps", as: .viewer)
      #expect(api.status == 500 && !api.text.contains("no such table"))
      let entries = scene.log.entries.filter { $0.level == .error }
      #expect(entries.count == 3)
      #expect(entries.allSatisfy { "\($0)".contains("no such table") && "\($0)".contains("/apps") })
      #expect(!entries.contains { "\($0)".contains(token) })
      let cookies = Array(anna.cookies.values) + [anna.csrf]
      #expect(!scene.log.entries.contains { entry in cookies.contains { "\(entry)".contains($0) } })
    }
  }

  @Test("a busy database is said so, with the advice to try again: 503, for pages and for programs")
  func busy() async throws {
    try await ConsoleScene.with { scene in
      let console = scene.console
      let error = SQLiteError(.busy, "database is locked", sql: "UPDATE secrets")
      for (target, type) in [("/apps", "text/html"), ("/api/v1/apps", "application/problem+json")] {
        let request = try Request(.post, target)
        let failure = Failure(error, request: request, requestID: "r1")
        let answer = SceneAnswer(response: ErrorResponses(console).response(to: failure))
        #expect(answer.status == 503 && answer.type == type)
        #expect(answer.text.contains("kept the database busy") && answer.text.contains("r1"))
        #expect(!answer.text.contains("secrets") && !answer.text.contains("locked"))
      }
    }
  }

  @Test("a query that was stopped for its length is said so: 503, for pages and for programs")
  func slow() async throws {
    try await ConsoleScene.with { scene in
      let console = scene.console
      let error = SQLiteError(.interrupt, "interrupted", sql: "SELECT secrets")
      for (target, type) in [("/activity", "text/html"), ("/api/v1/activity", "application/problem+json")] {
        let failure = Failure(error, request: try Request(.get, target), requestID: "r1")
        let answer = SceneAnswer(response: ErrorResponses(console).response(to: failure))
        #expect(answer.status == 503 && answer.type == type)
        #expect(answer.text.contains("took too long and was stopped") && !answer.text.contains("secrets"))
      }
    }
  }

  @Test("what could not be read as a request gets a page, too")
  func noRequest() async throws {
    try await ConsoleScene.with { scene in
      let failure = Failure(HTTPError(.badRequest, "The request line is no good."), request: nil, requestID: "r2")
      let answer = SceneAnswer(response: scene.router.errorResponse(for: failure))
      #expect(answer.status == 400 && answer.type == "text/html")
      #expect(answer.text.contains("The request line is no good.") && answer.text.contains("r2"))
      #expect(answer.response.headers["Content-Security-Policy"] != nil)
    }
  }

  @Test("files are served with their type; what is only part of a page without the fields that are for documents")
  func files() async throws {
    try await ConsoleScene.with(address: "https://push.example.com") { scene in
      for (target, type) in [
        ("/css/signalbox.css", "text/css"), ("/js/console.js", "text/javascript"),
        ("/icons/signalbox.svg", "image/svg+xml"),
      ] {
        let answer = try await scene.call(.get, target, as: nil)
        #expect(answer.status == 200 && answer.type == type, "\(target)")
        #expect(answer.response.headers["X-Content-Type-Options"] == "nosniff", "\(target)")
      }
      let assets = scene.console.assets.prefix
      for (target, isDocument) in [
        ("\(assets)/css/signalbox.css", false), ("\(assets)/js/console.js", false), ("/js/console.js", false),
        ("\(assets)/icons/icons.svg", true), ("/icons/icons.svg", true),
        ("/api/openapi.json", true), ("\(assets)/css/none.css", true), ("/css/none.css", true),
      ] {
        let answer = try await scene.call(.get, target, as: nil)
        let headers = answer.response.headers
        #expect(headers["X-Content-Type-Options"] == "nosniff", "\(target)")
        #expect(headers["Cross-Origin-Resource-Policy"] == "same-origin", "\(target)")
        #expect(headers["Strict-Transport-Security"] != nil, "\(target)")
        for name in [
          "Content-Security-Policy", "X-Frame-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy",
        ] {
          #expect((headers[name] != nil) == isDocument, "\(name) of \(target)")
        }
        guard answer.status == 200, let tag = headers["ETag"] else { continue }
        let known = try await scene.call(.get, target, as: nil, headers: ["If-None-Match": tag])
        #expect(known.status == 304 && (known.response.headers["Content-Security-Policy"] != nil) == isDocument)
      }
    }
  }

  @Test("a database that was removed under the server: not ready, said on the Overview, and nothing is accepted")
  func lostDatabase() async throws {
    try await ConsoleScene.with { scene in
      _ = try await scene.addApp()
      var anna = try await scene.signIn(.operator)
      let (file, aside) = (scene.store.pool.path + "-wal", scene.store.pool.path + ".aside")
      try FileManager.default.moveItem(atPath: file, toPath: aside)
      let ready = try await scene.call(.get, "/readyz", as: nil)
      #expect(ready.status == 503)
      let words = "The database's files were replaced or removed while the server runs."
      let answer = try await scene.call(
        .post, "/api/v1/apps", as: .admin, json: ["bundle_id": "com.example.other", "name": "Other"])
      #expect(answer.status == 503 && answer.text.contains(words), "\(answer.text)")
      #expect(ScenePage(try await anna.get("/")).text.contains("Not saved"))
      try FileManager.default.moveItem(atPath: aside, toPath: file)
      #expect(try await scene.call(.get, "/readyz", as: nil).text == "ready\n")
    }
  }

  @Test("health needs nobody")
  func health() async throws {
    try await ConsoleScene.with { scene in
      let alive = try await scene.call(.get, "/healthz", as: nil)
      #expect(alive.text == "ok\n")
      #expect(try await scene.call(.get, "/readyz", as: nil).text == "ready\n")
      scene.store.close()
      #expect(try await scene.call(.get, "/healthz", as: nil).status == 200)
      #expect(try await scene.call(.get, "/readyz", as: nil).status == 503)
    }
  }
}
