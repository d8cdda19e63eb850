import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import Store
import TestSupport
import Testing

@testable import Console

/// What only a connection shows: bytes on the wire, and requests that cannot be read.
@Suite("The console on the wire")
struct WireTests {
  /// What curl received.
  private struct Received {
    let status: Int
    /// With the head.
    let wire: Int
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
  }

  /// Asks as a browser does, and unpacks what came in gzip.
  private static func ask(
    _ server: SocketAddress, _ target: String, _ headers: [String] = ["Accept-Encoding: gzip, deflate, br"]
  ) async throws -> Received {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let body = folder.appendingPathComponent("body")
    try Data().write(to: body)
    let packed = headers.contains { $0.hasPrefix("Accept-Encoding") } ? ["--compressed"] : []
    let report = try await OtherProgram.run(
      "curl",
      [
        "-sS", "--max-time", "60", "--path-as-is", "-o", body.path, "-w",
        "%{http_code} %{size_header} %{size_download} %{header_json}",
      ]
        + packed + headers.flatMap { ["-H", $0] } + ["http://\(server)\(target)"])
    let parts = report.output.split(separator: " ", maxSplits: 3)
    try #require(parts.count == 4, "curl said nothing")
    let json = try JSONValue(parsing: Data(parts[3].utf8))
    return Received(
      status: try #require(Int(parts[0])), wire: try #require(Int(parts[1])) + (try #require(Int(parts[2]))),
      fields: (json.object ?? [:]).compactMapValues { $0.array?.first?.string }, body: Array(try Data(contentsOf: body))
    )
  }

  /// The paths that a script imports, as the browser resolves them.
  private static func imports(_ script: String, at path: String) -> [String] {
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    return script.matches(of: /(?m)^import [^;]*'\.\/([a-z]+\.js)';/).map { "/\(folder)/\($0.1)" }
  }

  /// What a browser asks for because of a page: its style sheet, scripts and icons, and the pictures behind its phones.
  private static func parts(of page: ScenePage) -> Set<String> {
    let links = page.tags.flatMap { tag in
      ["link", "script", "img", "use"].contains(tag.name) ? [tag.attributes["href"], tag.attributes["src"]] : []
    }
    var paths = Set(links.compactMap { $0?.split(separator: "#").first.map(String.init) })
    let style = paths.first { $0.contains("/css/") } ?? ""
    let folder = "/" + style.split(separator: "/").prefix(2).joined(separator: "/")
    // A blank send form shows no notification, and no wallpaper behind it: `[data-fresh]` in the style sheet.
    guard !page.forms.contains(where: { $0.attributes["data-fresh"] != nil }) else { return paths }
    for tag in page.tags {
      let names = tag.attributes["class"]?.split(separator: " ") ?? []
      guard names.contains("screen") else { continue }
      paths.insert("\(folder)/icons/wallpaper-\(names.contains("alt") ? "dawn" : "dusk").svg")
    }
    return paths
  }

  /// Every component may be larger than 30 kB for who opens that page first. From the Overview, as people come to it, it
  /// is not.
  private static let larger = ["/styleguide": 32_500]

  @Test(
    "every page, with all that belongs to it and the head of each answer: at most 30 kB in 7 requests for who opens it first; from the Overview the page and one file at most",
    arguments: ["en", "zh-Hans"])
  func weights(language: String) async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let addresses = try await SceneWorld.demo.fill(scene)
      var anna = try await scene.signIn(.admin)
      #expect(try await anna.post("/language", [("lang", language)]).status == 303)
      let cookie = anna.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
      // Chinese takes more bytes on the wire: its characters repeat less than English words.
      let usual = ["Accept-Encoding: gzip, deflate, br", "Accept-Language: \(language)"]
      try await WebTestServer.with(scene.router) { server in
        var wires: [String: Int] = [:]
        /// What a page weighs alone, and what it brings.
        func load(_ target: String, _ headers: [String]) async throws -> (wire: Int, parts: Set<String>)? {
          let page = try await Self.ask(server, target, headers)
          guard page.status == 200, page.fields["content-type"]?.hasPrefix("text/html") == true else { return nil }
          #expect(page.fields["content-encoding"] == "gzip" && page.text.contains("</html>"), "\(target)")
          #expect(page.text.contains("<html lang=\"\(language)\">"), "\(target)")
          let parts = Self.parts(of: ScenePage(page.text))
          for path in parts where wires[path] == nil {
            let part = try await Self.ask(server, path)
            // So it is asked for once: later, the page is the only request.
            #expect(part.status == 200 && part.fields["cache-control"]?.contains("immutable") == true, "\(path)")
            wires[path] = part.wire
            guard path.hasSuffix(".js") else { continue }
            let isCore = path.hasSuffix("/console.js")
            #expect(Self.imports(part.text, at: path).allSatisfy { !isCore && $0.hasSuffix("/console.js") }, "\(path)")
          }
          return (page.wire, parts)
        }
        func weight(_ paths: Set<String>) -> Int { paths.reduce(0) { $0 + (wires[$1] ?? 0) } }
        let first = try #require(try await load("/", usual + ["Cookie: \(cookie)"]))
        var lines = [
          "| page | page alone | from the Overview | requests | from nowhere | requests |",
          "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        func judge(_ pattern: String, _ page: (wire: Int, parts: Set<String>)) {
          let fresh = page.parts.subtracting(first.parts)
          let (later, all) = (page.wire + weight(fresh), page.wire + weight(page.parts))
          lines.append(
            "| \(pattern) | \(page.wire) | \(later) | \(fresh.count + 1) | \(all) | \(page.parts.count + 1) |")
          // Chinese texts take some 600 bytes more than English ones.
          #expect(all <= Self.larger[pattern] ?? (language == "en" ? 30_000 : 30_500), "\(pattern): \(all) bytes")
          #expect(later <= 30_000, "\(pattern): \(later) bytes")
          #expect(page.parts.count < 7, "\(pattern): \(page.parts.sorted())")
          // Wallpapers come once, with the first phone.
          #expect(fresh.count { !$0.contains("/wallpaper-") } <= 1, "\(pattern): \(fresh.sorted())")
        }
        judge("/", first)
        judge("/session/new", try #require(try await load("/session/new", usual)))
        // A stream of events goes on for as long as its page is open.
        for pattern in PageWalkTests.pages(scene) where pattern != "/" && !pattern.hasSuffix("/events") {
          guard let target = addresses.targets(pattern).first,
            let page = try await load(target, usual + ["Cookie: \(cookie)"])
          else { continue }
          judge(pattern, page)
        }
        print(lines.joined(separator: "\n"))
        for pattern in ["/pushes", "/pushes/:uid", "/pushes/new", "/certificates", "/phones", "/devices", "/apps/:id"] {
          #expect(lines.contains { $0.hasPrefix("| \(pattern) |") }, "\(pattern)")
        }
        #expect(lines.count > 50)
      }
    }
  }

  @Test("each page names in its head every module that its scripts import, and the script whose elements it has")
  func modules() async throws {
    let markers = [
      "data-filter": ["filter", "certificates", "devices", "result", "running"],
      "data-upload": ["upload", "certificates"], "data-import": ["importing"],
      "data-pick": ["picker", "send"],
      "data-progress": ["running"], "data-phones": ["phones"],
      "data-countdown": ["running"], "data-preview": ["send"], "data-choose-all": ["devices"],
    ]
    try await ConsoleScene.with(simulator: true) { scene in
      let addresses = try await SceneWorld.demo.fill(scene)
      var anna = try await scene.signIn(.admin)
      // One that waits to be taken back, and one whose answers do not come.
      scene.provider.answer { _ in nil }
      var pushes: [String] = []
      for seconds in [60, 0] {
        let made = try await scene.call(
          .post, "/api/v1/pushes", as: .operator,
          json: [
            "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
            "notification": ["title": "x"], "options": ["undo_seconds": .integer(Int64(seconds))],
          ])
        pushes.append("/pushes/\(try #require(made.json?["id"]?.string))")
      }
      var met: Set<String> = []
      var imported: [String: [String]] = [:]
      for pattern in PageWalkTests.pages(scene) {
        for target in pattern == "/pushes/:uid" ? pushes : Array(addresses.targets(pattern).prefix(1)) {
          let answer = try await anna.get(target)
          guard answer.status == 200, answer.type == "text/html" else { continue }
          let tags = ScenePage(answer).tags
          let scripts = tags.filter { $0.name == "script" }.compactMap { $0.attributes["src"] }
          var named = Set(tags.filter { $0.attributes["rel"] == "modulepreload" }.compactMap { $0.attributes["href"] })
          named.formUnion(scripts)
          for path in named {
            if imported[path] == nil {
              let script = try await anna.get(path)
              #expect(script.status == 200, "\(path) of \(target)")
              imported[path] = Self.imports(script.text, at: path)
            }
            #expect(Set(imported[path] ?? []).isSubset(of: named), "\(path) of \(target)")
          }
          #expect(scripts.count <= 2, "the core and one other: \(target)")
          for (marker, names) in markers where tags.contains(where: { $0.attributes[marker] != nil }) {
            met.insert(marker)
            let isNamed = names.contains { name in scripts.contains { $0.hasSuffix("/js/\(name).js") } }
            #expect(isNamed, "\(marker) of \(target)")
          }
        }
      }
      #expect(met == Set(markers.keys))
    }
  }

  @Test("a target that cannot be read: a problem below /api, a page elsewhere")
  func malformed() async throws {
    try await ConsoleScene.with { scene in
      let token = "Authorization: \(scene.authorization(.viewer))"
      try await WebTestServer.with(scene.router) { server in
        for target in [
          "/api/v1/pushes?q=%", "/api/v1/pushes?q=%zz", "/api/v1/devices?token=%ff", "/api/v1/apps/%00", "/api/v1/%C3",
          "/api/v1/../x",
        ] {
          let answer = try await Self.ask(server, target, [token])
          #expect(answer.status == 400 && answer.fields["content-type"] == "application/problem+json", "\(target)")
          let json = try JSONValue(parsing: Data(answer.body))
          #expect(json["status"] == 400 && json["instance"]?.string?.isEmpty == false, "\(target)")
          #expect(answer.fields["x-content-type-options"] == "nosniff", "\(target)")
        }
        for target in ["/pushes?q=%", "/%zz"] {
          let answer = try await Self.ask(server, target, [])
          #expect(answer.status == 400 && answer.fields["content-type"]?.hasPrefix("text/html") == true, "\(target)")
        }
      }
    }
  }

  @Test("a body in gzip is refused with what is taken, and without a session or token nothing else is said")
  func codedBody() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let headers = ["Content-Encoding": "gzip", "Content-Type": "application/json", "Content-Length": "20"]
      let body = [UInt8](repeating: 0x1f, count: 20)
      let answer = try await scene.call(.post, "/api/v1/apps", as: .admin, headers: headers, body: body)
      #expect(answer.status == 415 && answer.response.headers["Accept-Encoding"] == "identity")
      #expect(try document.errors(answer, to: .init(method: "POST", path: "/api/v1/apps")) == [])
    }
  }

  @Test("a change under a condition that cannot hold is not made")
  func conditions() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let path = "/api/v1/apps/\(ConsoleScene.bundleID)"
      // The token's first use is noted.
      #expect(try await scene.call(.get, path, as: .admin).status == 200)
      let before = try await scene.changes()
      for (method, target, operation) in [
        (HTTPServer.Method.patch, path, "/api/v1/apps/{app}"), (.post, "/api/v1/apps", "/api/v1/apps"),
        (.delete, path, "/api/v1/apps/{app}"),
      ] {
        let answer = try await scene.call(
          method, target, as: .admin, json: ["name": "Other", "bundle_id": "com.example.b"],
          headers: ["If-Match": "\"7\""])
        #expect(answer.status == 412 && answer.type == "application/problem+json", "\(method)")
        #expect(try document.errors(answer, to: .init(method: method.rawValue, path: operation)) == [])
      }
      #expect(try await scene.changes() == before)
      let any = try await scene.call(.patch, path, as: .admin, json: ["name": "Other"], headers: ["If-Match": "*"])
      #expect(any.status == 200)
    }
  }

  @Test("the token of forms is another one in each answer, and each of them is good")
  func masked() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let session = anna.csrf
      func tokens(_ answer: SceneAnswer) -> Set<String> {
        Set(ScenePage(answer).tags.filter { $0.attributes["name"] == "csrf" }.compactMap { $0.attributes["value"] })
      }
      var all: Set<String> = []
      for target in ["/apps/new", "/apps/new", "/devices/new", "/nothing"] {
        let answer = try await anna.get(target)
        #expect(!answer.text.contains(session), "\(target)")
        #expect(tokens(answer).count == 1, "one for all forms of a page: \(target)")
        all.formUnion(tokens(answer))
      }
      #expect(all.count == 4)
      for (number, token) in all.enumerated() {
        anna.csrf = token
        let made = try await anna.post("/apps", [("bundle_id", "com.example.a\(number)"), ("name", "A")])
        #expect(made.status == 303)
      }
      let one = try #require(all.first)
      for wrong in [String(one.dropLast(4)), String(one.reversed()), one + "AAAA", "", "AAAA"] {
        anna.csrf = wrong
        #expect(try await anna.post("/apps", [("bundle_id", "com.example.b"), ("name", "B")]).status == 403)
      }
      // Before anybody has signed in, the token is a cookie's.
      var stranger = SceneBrowser(router: scene.router)
      let first = tokens(try await stranger.get("/session/new"))
      let cookie = try #require(stranger.cookies["signalbox_form"])
      let second = tokens(try await stranger.get("/session/new"))
      #expect(first.count == 1 && second.count == 1 && first != second && !first.contains(cookie))
      stranger.csrf = try #require(second.first)
      let answer = try await stranger.post("/session", [("email", "x"), ("password", "y")])
      #expect(answer.status == 422, "the token was good")
    }
  }
}
