import HTTPServer
import JSON
import Store
import TestSupport
import Testing

@Suite("Confirm it is you")
struct ProofTests {
  private static let hook = [
    ("name", "Billing"), ("url", "https://billing.example.com/hook"), ("events", "push.finished"), ("active", "yes"),
  ]

  @Test("after 15 minutes a form asks for the password, and goes on with what was typed")
  func carriesOn() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      scene.clock.advance(899)
      #expect(
        try await anna.post(
          "/settings/tokens", [("name", "one"), ("scopes", "read"), ("expires", "30d"), ("reach", "all")]
        ).status == 200)
      scene.clock.advance(1)
      let asked = try await anna.post("/settings/webhooks", Self.hook)
      #expect(asked.status == 403 && asked.text.contains("Confirm it’s you"))
      let page = ScenePage(asked)
      for (name, value) in Self.hook { #expect(page.values(name) == [value], "\(name)") }
      #expect(page.forms.contains { $0.attributes["action"] == "/settings/webhooks" })
      #expect(try await scene.store.read { try Webhook.all($0) }.isEmpty)

      let wrong = try await anna.post("/settings/webhooks", Self.hook + [("proof", "a guess")])
      #expect(wrong.status == 422 && ScenePage(wrong).error("proof").contains("wrong"))
      #expect(ScenePage(wrong).values("name") == ["Billing"] && !wrong.text.contains("a guess"))
      let done = try await anna.post("/settings/webhooks", Self.hook + [("proof", ConsoleScene.password)])
      #expect(done.status == 200 && done.text.contains("whsec_"))
      #expect(try await scene.store.read { try Webhook.all($0) }.map(\.details.name) == ["Billing"])
      #expect(try await anna.post("/settings/webhooks/1/secret").status == 200, "the proof counts for what follows")
      #expect(try await scene.audit("session.confirm").map(\.actor) == ["admin@example.com"])
    }
  }

  @Test("before a file is chosen the page asks; a file sent too late is not lost silently")
  func files() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      #expect(try await anna.get("/certificates").text.contains("data-upload"))
      scene.clock.advance(900)
      let list = try await anna.get("/certificates")
      #expect(!list.text.contains("data-upload") && list.text.contains("/session/confirm?return=/certificates"))
      let file = Multipart.Part.file("file", name: "push.p12", try CertificateSamples.p12(days: 20))
      let late = try await anna.upload("/certificates", [file, .field("password", "secret"), .field("action", "keep")])
      #expect(late.status == 403 && late.text.contains("Choose the file again after this"))
      let done = try await anna.post(
        "/session/confirm", [("return", "/certificates"), ("proof", ConsoleScene.password)])
      #expect(done.status == 303 && done.location == "/certificates")
      #expect(try await anna.get("/certificates").text.contains("data-upload"))
      let again = try await anna.upload(
        "/certificates", [file, .field("password", "secret"), .field("action", "keep")])
      #expect(again.status == 303)
      let elsewhere = try await anna.post(
        "/session/confirm", [("return", "//evil.example"), ("proof", ConsoleScene.password)])
      #expect(elsewhere.location == "/")
    }
  }

  @Test("guesses are slowed down, and pages that only read do not ask")
  func guesses() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      scene.clock.advance(3600)
      for path in ["/account", "/settings/people", "/settings/webhooks", "/settings/receivers"] {
        #expect(try await anna.get(path).status == 200, "\(path)")
      }
      for _ in 0..<5 { _ = try await anna.post("/session/confirm", [("proof", "a guess")]) }
      let slow = try await anna.post("/session/confirm", [("proof", ConsoleScene.password)])
      #expect(slow.status == 422 && ScenePage(slow).error("proof").contains("Too many attempts"))
      scene.clock.advance(2)
      #expect(try await anna.post("/session/confirm", [("proof", ConsoleScene.password)]).status == 303)
    }
  }
}
