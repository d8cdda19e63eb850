import Foundation
import HTTPServer
import Model
import Reactor
import Store
import TestSupport
import Testing

/// Who may send something is decided before anything of it is read. Each request here announces a body and waits for
/// `100 Continue`, which a server sends when it begins to read: whoever is refused never sees it.
@Suite("Bodies are read last", .timeLimit(.minutes(2)))
struct BodyOrderTests {
  private static let form = "application/x-www-form-urlencoded"

  /// A request as far as its body, and what it must be answered with.
  private struct Ask: Sendable {
    let route: Route
    var fields: [String]
    let expected: [Int]
    let isRead: Bool

    var text: String {
      let target = route.pattern.replacing(":uid", with: "none").replacing(":device", with: "1")
        .replacing(":id", with: "999").replacing(":environment", with: "development")
        .replacing(":app", with: "com.example.none")
      return "\(route.method) \(target) HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n"
        + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }
  }

  /// What the server says first, over connections of their own.
  private static func answers(_ asks: [Ask], _ router: Router) async throws -> [String] {
    let server = Server(ServerConfiguration(address: try #require(SocketAddress("127.0.0.1:0"))), router)
    let address = try await server.start()
    let result: Result<[String], any Error> = await withCheckedContinuation { continuation in
      // A thread, because it waits.
      Thread { continuation.resume(returning: Result { try asks.map { try answer(address, $0.text) } }) }.start()
    }
    await server.stop(within: .seconds(5))
    return try result.get()
  }

  private static func answer(_ address: SocketAddress, _ text: String) throws -> String {
    let client = try PlainSocket(address, seconds: 60)
    defer { client.close() }
    client.send(text)
    return client.text(until: "\r\n\r\n")
  }

  private static func check(_ asks: [Ask], _ scene: ConsoleScene) async throws {
    for (ask, answer) in zip(asks, try await answers(asks, scene.router)) {
      let line = "\(ask.route.method) \(ask.route.pattern) \(ask.fields)"
      let status = Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0
      #expect((status == 100) == ask.isRead, "\(line): \(status)")
      if !ask.isRead { #expect(ask.expected.contains(status), "\(line): \(status)") }
    }
  }

  private static func changing(_ scene: ConsoleScene, api: Bool) -> [Route] {
    scene.router.routes.filter { !$0.method.isSafe && $0.name == (api ? "api" : nil) }
  }

  @Test("pages: a stranger's form is never read, nor one from another site, of a role below, or of another type")
  func pages() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let routes = Self.changing(scene, api: false)
      #expect(routes.count > 50)
      let open = ["/session", "/session/code", "/session/setup", "/session/link", "/language"]
      func session(_ role: User.Role) async throws -> String {
        "Cookie: signalbox_session=\(try #require(try await scene.signIn(role).cookies["signalbox_session"]))"
      }
      let (admin, viewer) = (try await session(.admin), try await session(.viewer))
      var asks: [Ask] = []
      for route in routes {
        let isOpen = open.contains(route.pattern)
        for type in [Self.form, "multipart/form-data; boundary=x", "application/json"] {
          asks.append(
            Ask(route: route, fields: ["Content-Type: \(type)"], expected: isOpen ? [403] : [303], isRead: false))
        }
        let type = "Content-Type: \(Self.form)"
        let cross = "Sec-Fetch-Site: cross-site"
        asks.append(Ask(route: route, fields: [type, admin, cross], expected: [403], isRead: false))
        asks.append(
          Ask(route: route, fields: ["Content-Type: application/json", admin], expected: [415], isRead: false))
        asks.append(Ask(route: route, fields: [type, admin], expected: [], isRead: true))
        let below = [
          "/certificates", "/apps", "/devices/import", "/settings/mail", "/pushes", "/settings/tokens",
        ].contains(route.pattern)
        asks.append(Ask(route: route, fields: [type, viewer], expected: [403], isRead: !below))
      }
      // Who may do what is RouteAccessTests' to know: here only that the refused are not read.
      let sure = asks.filter { !$0.fields.contains(viewer) || !$0.isRead }
      try await Self.check(sure, scene)
    }
  }

  @Test("the API: a body is not read without a token, with one of a role below, or if it is of another type")
  func api() async throws {
    try await ConsoleScene.with { scene in
      let document = try OpenAPIDocument()
      let routes = Self.changing(scene, api: true)
      #expect(routes.count > 20)
      var asks: [Ask] = []
      for route in routes {
        let json = "Content-Type: application/json"
        asks.append(Ask(route: route, fields: [json], expected: [401], isRead: false))
        asks.append(Ask(route: route, fields: [json, "Authorization: Bearer wrong"], expected: [401], isRead: false))
        let path = route.pattern.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
        let role = try document.role(
          OpenAPIDocument.Operation(method: route.method.rawValue, path: "/" + path.joined(separator: "/")))
        for lower in User.Role.allCases where lower < role {
          let fields = [json, "Authorization: \(scene.authorization(lower))"]
          asks.append(Ask(route: route, fields: fields, expected: [403], isRead: false))
        }
        // What needs no body answers at once; what needs one says that it is none of its kind.
        let odd = ["Content-Type: image/png", "Authorization: \(scene.authorization(.admin))"]
        asks.append(
          Ask(route: route, fields: odd, expected: Array(200..<300) + [400, 404, 409, 415, 422], isRead: false))
      }
      let create = try #require(routes.first { $0.pattern == "/api/v1/pushes" })
      asks.append(
        Ask(
          route: create,
          fields: ["Content-Type: application/json", "Authorization: \(scene.authorization(.operator))"],
          expected: [], isRead: true))
      try await Self.check(asks, scene)
    }
  }

  @Test("a list of devices is registered while it comes, and what follows the file is read over")
  func importing() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let lines = (0..<3000).map { "\(ConsoleScene.bundleID),development,ios,\(ConsoleScene.token($0).hexadecimal)" }
      let csv = "app,environment,platform,token\n" + lines.joined(separator: "\n")
      let parts: [Multipart.Part] = [
        .field("app", ""), .file("file", name: "d.csv", Array(csv.utf8)), .field("text", "nonsense"),
      ]
      let answer = try await ben.upload("/devices/import", parts)
      #expect(answer.status == 200)
      #expect(try await scene.count("devices") == 3000)
      let blank = try await ben.upload(
        "/devices/import", [.file("file", name: "d.csv", Array(repeating: 0x0A, count: 200_000))])
      #expect(blank.status == 422 && ScenePage(blank).failedFields == ["file"])
      let long = try await ben.upload("/devices/import", [.field("text", String(repeating: "x", count: 9 << 20))])
      #expect(long.status == 413)
      var eve = ben
      eve.csrf = "no token of hers"
      #expect(try await eve.upload("/devices/import", parts).status == 403)
      #expect(try await scene.count("devices") == 3000)
    }
  }
}
