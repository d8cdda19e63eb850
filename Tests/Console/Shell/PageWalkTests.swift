import Foundation
import HTTPServer
import JSON
import Logging
import SQLite
import Store
import TestSupport
import Testing

/// Every page of the console in three worlds. Templates are strict: a key that a handler does not give is an error.
@Suite("Pages: every one, in every world")
struct PageWalkTests {
  /// What the routes serve to people with GET.
  static func pages(_ scene: ConsoleScene) -> [String] {
    let folders = ["/assets/", "/css/", "/js/", "/icons/", "/api/", "/favicon.ico"]
    return scene.router.routes.filter { route in
      route.method == .get && route.name == nil && !folders.contains { route.pattern.hasPrefix($0) }
    }.map(\.pattern)
  }

  private static let redirects: Set<String> = [
    "/session/new", "/session/oidc", "/session/second-step", "/audiences/explanation",
  ]

  /// What no page may have: inline scripts and styles (the policy refuses them), two elements with one id, forms
  /// without a token.
  private static func faults(_ page: ScenePage) -> [String] {
    var faults: [String] = []
    var ids: Set<String> = []
    for tag in page.tags {
      for (name, value) in tag.attributes {
        if name == "style" || name.hasPrefix("on") { faults.append("<\(tag.name) \(name)>") }
        if ["href", "src", "action"].contains(name), value.lowercased().hasPrefix("javascript:") {
          faults.append("<\(tag.name) \(name)=\(value)>")
        }
      }
      if tag.name == "style" || tag.name == "script" && tag.attributes["src"] == nil { faults.append("<\(tag.name)>") }
      if let id = tag.attributes["id"], !ids.insert(id).inserted { faults.append("two elements have the id \(id)") }
    }
    for (index, tag) in page.tags.enumerated() where tag.name == "form" && tag.attributes["method"] == "post" {
      let fields = page.tags[index...].prefix { $0.name != "/form" }
      if !fields.contains(where: { $0.attributes["name"] == "csrf" && $0.attributes["value"]?.isEmpty == false }) {
        faults.append("a form to \(tag.attributes["action"] ?? "") without a token")
      }
    }
    for tag in page.tags {
      for id in tag.attributes["aria-describedby"]?.split(separator: " ").map(String.init) ?? [] {
        if page.text(id: id)?.isEmpty != false { faults.append("\(id) describes <\(tag.name)> with no word") }
      }
    }
    faults += page.tags.filter { $0.attributes["id"]?.hasSuffix("-hint") == true }.compactMap { tag in
      let id = tag.attributes["id"] ?? ""
      return page.text(id: id)?.isEmpty == false ? nil : "an empty line: \(id)"
    }
    for tag in page.tags where tag.name == "label" {
      if let field = tag.attributes["for"], !ids.contains(field) { faults.append("a label for no field: \(field)") }
    }
    return faults
  }

  private static func check(_ answer: SceneAnswer, _ target: String) {
    let headers = answer.response.headers
    #expect(headers["Cache-Control"] == "no-store", "\(target)")
    let policy = headers["Content-Security-Policy"] ?? ""
    #expect(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"), "\(target)")
    #expect(!policy.contains("unsafe"), "\(target)")
    #expect(headers["X-Content-Type-Options"] == "nosniff", "\(target)")
    #expect(headers["X-Frame-Options"] == "DENY", "\(target)")
    #expect(headers["Referrer-Policy"] != nil, "\(target)")
    #expect(headers["Cross-Origin-Opener-Policy"] == "same-origin", "\(target)")
    guard answer.type == "text/html" else { return }
    let html = answer.text
    #expect(html.hasPrefix("<!doctype html>"), "\(target)")
    #expect(!html.contains("<script>alert") && !html.contains("<img src=x"), "unescaped in \(target)")
    #expect(faults(ScenePage(html)) == [], "\(target)")
  }

  @Test("each page answers, whole and escaped", arguments: SceneWorld.allCases)
  func walk(world: SceneWorld) async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let addresses = try await world.fill(scene)
      if world != .empty {
        for group in ["apps", "devices", "pushes", "deliveries", "certificates", "phones", "schedules", "hosts"] {
          #expect(addresses.ids[group]?.isEmpty == false, "the world has no \(group)")
        }
        for state in DeviceState.allCases {
          #expect(try await scene.count("devices WHERE state = \(state.rawValue)") > 0, "no device is \(state)")
        }
      }
      let name = world == .hostile ? "\(SceneWorld.attack)@example.com" : "anna@example.com"
      var anna = try await scene.signIn(.admin, name: name)
      for pattern in Self.pages(scene) {
        for target in addresses.targets(pattern) {
          let answer = try await anna.get(target)
          // Nothing of that name is there in an empty world, apart from the API; who is signed in needs no sign-in page,
          // and who names no audience is sent to where one is chosen.
          let isMissing =
            world == .empty && pattern.contains(":") && !["/docs/:section", "/codes/:code"].contains(pattern)
          let isSecret = ["/certificates.ics", "/metrics"].contains(pattern)
          if isSecret {
            #expect([401, 404].contains(answer.status), "\(target)")
            continue
          }
          let expected = isMissing ? 404 : Self.redirects.contains(pattern) ? 303 : 200
          #expect(answer.status == expected, "\(target)")
          if answer.status != 303, !["/healthz", "/readyz", "/phones/ca.pem"].contains(pattern) {
            Self.check(answer, target)
          }
        }
      }
      let errors = scene.log.entries.filter { $0.level >= .error }.map { "\($0)" }
      #expect(errors == [], "nothing unexpected is in the log")
    }
  }

  @Test("every link leads somewhere, in a new console and in the demo, for each role", arguments: User.Role.allCases)
  func links(role: User.Role) async throws {
    for world in [SceneWorld.empty, .demo] { try await Self.follow(as: role, world) }
  }

  private static func follow(as role: User.Role, _ world: SceneWorld) async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await world.fill(scene)
      var anna = try await scene.signIn(role)
      var seen: Set<String> = []
      var open = ["/"]
      while let target = open.popLast() {
        let answer = try await anna.get(target)
        #expect(answer.status == 200, "\(role), \(world): \(target)")
        guard answer.type == "text/html" else { continue }
        for link in ScenePage(answer).links where link.hasPrefix("/") {
          let bare = String(link.prefix { $0 != "#" })
          if seen.insert(bare).inserted { open.append(bare) }
        }
      }
      #expect(seen.count > 30)
    }
  }

  @Test("only admins are told to upload a file where there is none", arguments: User.Role.allCases)
  func uploads(role: User.Role) async throws {
    try await ConsoleScene.with { scene in
      _ = try await scene.addApp()
      var anna = try await scene.signIn(role)
      let instructions = [
        "/certificates": "shows what a file is", "/certificates/requests": "submit it to Apple",
        // The link of an app's page, which is also a filter: there is nothing to filter yet.
        "/certificates?app=\(ConsoleScene.bundleID)": "shows what a file is",
      ]
      for (target, words) in instructions {
        let text = ScenePage(try await anna.get(target)).text
        #expect(text.contains(words) == (role == .admin), "\(target)")
      }
    }
  }

  @Test("every filter of every list is taken, alone and with nonsense")
  func filters() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.demo.fill(scene)
      var anna = try await scene.signIn(.viewer)
      // A push that has not started has nothing to look through.
      let uid = try await scene.store.read { database in
        try database.fetchOne("SELECT uid FROM pushes WHERE started_at IS NOT NULL") { $0.text(0) }
      }
      for target in ["/pushes", "/devices", "/pushes/\(try #require(uid))"] {
        let page = ScenePage(try await anna.get(target))
        let names = Set(
          page.tags.filter { ["input", "select"].contains($0.name) }.compactMap { $0.attributes["name"] }
        ).subtracting(["csrf", "return", "lang"])
        #expect(!names.isEmpty)
        for name in names {
          for value in ["usr_ada", "1", "ios", "production", "failed", "2026-11-20", "💩", SceneWorld.attack] {
            let query = "\(name)=\(SceneBrowser.escaped(value))"
            let answer = try await anna.get("\(target)?\(query)")
            let isNamed = answer.status == 422 && ScenePage(answer).text.contains("Unknown filter: “")
            #expect(answer.status == 200 || isNamed, "\(target)?\(query)")
          }
        }
        let cursor = try await anna.get("\(target)?cursor=nonsense")
        #expect([200, 400].contains(cursor.status), "\(target) with a bad cursor: \(cursor.status)")
      }
    }
  }
}
