import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

/// Who may send to production.
@Suite("Pages and API: sending to production is limited to some")
struct ProductionPermissionTests {
  private func forbid(_ scene: ConsoleScene, _ name: String, by anna: inout SceneBrowser) async throws {
    let id = try #require(try await scene.store.read { try User.find($0, name: name)?.id })
    let page = try await anna.get("/settings/people/\(id)")
    #expect(page.text.contains("may send to production"))
    #expect(try await anna.post("/settings/people/\(id)/production/forbid").status == 303)
    #expect(try await anna.get("/settings/people/\(id)").text.contains("may not send to production"))
  }

  @Test("the form says it before it is filled in, and every page that sends refuses; development goes on")
  func pages() async throws {
    try await ConsoleScene.with { scene in
      try await ApprovalPageTests.prepare(scene, needsApproval: false)
      var anna = try await scene.signIn(.admin)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      var cleo = try await scene.signIn(.operator, name: "cleo@example.com")
      let open = ScenePage(try await ben.get("/pushes/new"))
      let choice = { (page: ScenePage) in page.tags.first { $0.attributes["value"] == "production" } }
      #expect(choice(open)?.attributes["disabled"] == nil)
      let before = try #require(try await ben.post("/pushes", ApprovalPageTests.fields).location)
      _ = try await scene.finished(String(before.dropFirst("/pushes/".count)))
      let sent = scene.provider.sent.count
      let daily = [("when", "repeat"), ("every", "day"), ("at", "09:00"), ("time_zone", "UTC")]
      let later = [("when", "at"), ("send_at", "2026-11-20T13:00"), ("time_zone", "UTC")]
      var paused: [String] = []
      for time in [daily, later] {
        let path = try #require(try await cleo.post("/pushes", ApprovalPageTests.fields + time).location)
        #expect(try await cleo.post(path + "/pause").location == path)
        paused.append(path + "/resume")
      }
      try await forbid(scene, "ben@example.com", by: &anna)
      for resume in paused {
        let shows = { (page: ScenePage) in page.forms.contains { $0.attributes["action"] == resume } }
        let path = String(resume.dropLast("/resume".count))
        #expect(shows(ScenePage(try await cleo.get(path))), "\(path)")
        #expect(!shows(ScenePage(try await ben.get(path))), "\(path)")
        #expect(try await ben.post(resume).status == 403)
      }

      let form = ScenePage(try await ben.get("/pushes/new"))
      #expect(choice(form)?.attributes["disabled"] != nil && form.text.contains("You may not send to production"))
      let review = try await ben.post("/pushes/preview", ApprovalPageTests.fields)
      #expect(review.status == 422 && ScenePage(review).error("environment").contains("may not send to production"))
      let refused = try await ben.post("/pushes", ApprovalPageTests.fields)
      #expect(refused.status == 403 && refused.text.contains("You may not send to production"))
      #expect(try await scene.audit("user.refused").first?.actor == "ben@example.com")
      #expect(try await ben.post(before + "/retry").status == 403)
      _ = try await scene.store.write {
        try App.setApproval(
          $0, id: 1, true, by: NewAuditEntry(actor: "anna", action: "", subject: ""), now: ConsoleScene.noon)
      }
      let waiting = try #require(try await cleo.post("/pushes", ApprovalPageTests.fields).location)
      let shown = ScenePage(try await ben.get(waiting))
      #expect(shown.text.contains("may not send to production") && !shown.text.contains("Reject"))
      let barred = try await ben.post(waiting + "/approve")
      #expect(barred.status == 403 && ScenePage(barred).links.contains(waiting))
      #expect(scene.provider.sent.count == sent)
      let development = try await ben.post("/pushes/preview", SendPageTests.fields)
      #expect(ScenePage(development).error("environment").isEmpty)
    }
  }

  @Test("a token of such a person is refused with a code of its own, and noted; a token of nobody goes by its scopes")
  func tokens() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await ApprovalPageTests.prepare(scene, needsApproval: false)
      _ = try await scene.signIn(.operator, name: "ben@example.com")
      let bens = try await ApprovalPageTests.token(scene, of: "ben@example.com")
      let role = try await ApprovalPageTests.token(scene, of: "ben@example.com", ["operator"])
      let nobodys = try await ApprovalPageTests.token(scene, of: nil)
      func send(_ headers: [String: String], _ environment: JSONValue = "production") async throws -> SceneAnswer {
        try await scene.call(
          .post, "/api/v1/pushes", as: nil, json: ApprovalPageTests.draft.with("environment", environment),
          headers: headers)
      }
      let first = try await send(bens)
      #expect(first.status == 202)
      let uid = try #require(first.json?["id"]?.string)
      _ = try await scene.finished(uid)
      let id = try #require(try await scene.store.read { try User.find($0, name: "ben@example.com")?.id })
      let changed = try await scene.call(
        .patch, "/api/v1/people/\(id)", as: .admin, json: ["sends_to_production": false])
      #expect(changed.status == 200 && changed.json?["sends_to_production"] == false)
      #expect(try document.errors(changed, to: .init(method: "PATCH", path: "/api/v1/people/{id}")) == [])
      for headers in [bens, role] {
        let refused = try await send(headers)
        #expect(refused.status == 403 && refused.text.contains("may not send to production"))
        #expect(try document.errors(refused, to: .init(method: "POST", path: "/api/v1/pushes")) == [])
        #expect(try await scene.call(.post, "/api/v1/pushes/\(uid)/retry", as: nil, headers: headers).status == 403)
      }
      #expect(try await scene.audit("token.refused").count == 2)
      #expect(try await send(role, "development").status == 422, "nobody there, and no 403")
      #expect(try await send(nobodys).status == 202)
    }
  }

  @Test("such a person neither writes nor changes a smoke test that sends to production")
  func smokeTests() async throws {
    try await ConsoleScene.with { scene in
      try await ApprovalPageTests.prepare(scene, needsApproval: false)
      var anna = try await scene.signIn(.admin)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      try await forbid(scene, "ben@example.com", by: &anna)
      func fields(_ name: String, _ environment: JSONValue) -> [(String, String)] {
        let push = ApprovalPageTests.draft.with("environment", environment).with("audience", ["tag": ["odd"]])
        return [("name", name), ("others", "accepted"), ("devices", ""), ("push", push.text())]
      }
      let made = try await anna.post("/smoke-tests", fields("Live", "production"))
      #expect(made.status == 303, "\(made.text)")
      let live = try #require(made.location)
      let refused = try await ben.post("/smoke-tests", fields("Other", "production"))
      #expect(refused.status == 403 && refused.text.contains("You may not send to production"))
      #expect(try await ben.post(live, fields("Mine", "production")).status == 403)
      #expect(try await ben.post(live, fields("Mine", "development")).status == 403, "it is what others run")
      let own = try #require(try await ben.post("/smoke-tests", fields("Own", "development")).location)
      #expect(try await ben.post(own, fields("Own", "production")).status == 403)
      #expect(try await ben.post(own, fields("Own two", "development")).status == 303)
      #expect(
        try await scene.store.read { try SmokeTest.list($0, limit: 9).items.map(\.name).sorted() }
          == ["Live", "Own two"])
    }
  }
}
