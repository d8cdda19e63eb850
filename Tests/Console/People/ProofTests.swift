import HTTPServer
import JSON
import OpenSSL
import SQLite
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
      let asked = try await anna.post(
        "/settings/webhooks", Self.hook, headers: ["Referer": "https://localhost/settings/webhooks/new?app=1"])
      #expect(asked.status == 403 && asked.text.contains("Confirm it’s you"))
      let page = ScenePage(asked)
      for (name, value) in Self.hook { #expect(page.values(name) == [value], "\(name)") }
      #expect(page.forms.contains { $0.attributes["action"] == "/settings/webhooks" })
      #expect(try await scene.store.read { try Webhook.all($0) }.isEmpty)
      #expect(page.links.contains("/settings/webhooks/new"), "the way back")

      let from = [("proof_from", page.values("proof_from").first ?? "")]
      let wrong = try await anna.post("/settings/webhooks", Self.hook + from + [("proof", "a guess")])
      #expect(ScenePage(wrong).links.contains("/settings/webhooks/new"), "the way back stays")
      #expect(wrong.status == 422 && ScenePage(wrong).error("proof").contains("wrong"))
      #expect(ScenePage(wrong).values("name") == ["Billing"] && !wrong.text.contains("a guess"))
      let done = try await anna.post("/settings/webhooks", Self.hook + [("proof", ConsoleScene.password)])
      #expect(done.status == 200 && done.text.contains("whsec_"))
      #expect(try await scene.store.read { try Webhook.all($0) }.map(\.details.name) == ["Billing"])
      #expect(try await anna.post("/settings/webhooks/1/secret").status == 200, "the proof counts for what follows")
      #expect(try await scene.audit("session.confirm").map(\.actor) == ["admin@example.com"])
    }
  }

  @Test("each proof gives the session a new ID and ends the former; forms in other tabs still work")
  func renewal() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let former = try #require(anna.cookies["signalbox_session"])
      // A form that was opened before, in another tab: its token, and the browser's cookies when it is sent.
      let open = ScenePage(try await anna.get("/devices/new")).values("csrf").first ?? ""
      scene.clock.advance(900)
      #expect(try await anna.post("/session/confirm", [("proof", "a guess")]).status == 422)
      #expect(anna.cookies["signalbox_session"] == former, "a wrong password changes nothing")
      #expect(try await anna.post("/session/confirm", [("proof", ConsoleScene.password)]).status == 303)
      let now = try #require(anna.cookies["signalbox_session"])
      #expect(now != former && now.count == former.count)
      var thief = SceneBrowser(router: scene.router)
      thief.cookies["signalbox_session"] = former
      #expect(try await thief.get("/account").location?.hasPrefix("/session/new") == true)
      #expect(try await scene.count("sessions") == 1, "it is the same session")
      anna.csrf = open
      #expect(try await anna.post("/account/sessions/end", [("session", "others")]).status == 303)

      // On the way of a form, too; a form that is refused afterwards keeps its browser signed in.
      scene.clock.advance(900)
      let refused = try await anna.post("/settings/people/999/disable", [("proof", ConsoleScene.password)])
      #expect(refused.status == 404)
      #expect(anna.cookies["signalbox_session"] != now)
      #expect(try await anna.get("/account").status == 200)
    }
  }

  @Test("where a code is on, a confirmation and a new password ask for it too")
  func code() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let sealer = scene.store.sealer
      let (secret, codes) = try await scene.store.write { database in
        let user = try #require(try User.find(database, name: "admin@example.com"))
        try Authenticator.begin(database, user: user.id, sealer: sealer, now: ConsoleScene.noon)
        let app = try #require(try Authenticator.find(database, user: user.id))
        let secret = try app.secret(database, sealer: sealer)
        let first = OneTimeCode.code(secret, step: OneTimeCode.step(at: ConsoleScene.noon))
        #expect(try app.accept(first, database, sealer: sealer, now: ConsoleScene.noon))
        return (secret, try RecoveryCode.renew(database, user: user.id))
      }
      func code() -> (String, String) {
        ("proof_code", OneTimeCode.code(secret, step: OneTimeCode.step(at: scene.clock.now)))
      }
      scene.clock.advance(900)
      let password = ("proof", ConsoleScene.password)
      let asked = try await anna.post("/settings/webhooks", Self.hook)
      #expect(asked.status == 403 && asked.text.contains("name=\"proof_code\""))
      let alone = try await anna.post("/settings/webhooks", Self.hook + [password])
      #expect(alone.status == 422 && ScenePage(alone).error("proof_code").contains("Wrong code"))
      #expect(try await anna.post("/settings/webhooks", Self.hook + [("proof", "a guess"), code()]).status == 422)
      #expect(try await scene.store.read { try Webhook.all($0) }.isEmpty)
      let done = try await anna.post("/settings/webhooks", Self.hook + [password, code()])
      #expect(done.status == 200 && done.text.contains("whsec_"))

      scene.clock.advance(900)
      #expect(try await anna.post("/session/confirm", [password, ("proof_code", codes[0])]).status == 303)
      scene.clock.advance(900)
      #expect(try await anna.post("/session/confirm", [password, ("proof_code", codes[0])]).status == 422, "used")

      let chosen = "a brand new long sentence"
      let new = [("current", ConsoleScene.password), ("password", chosen), ("repeat", chosen)]
      let without = try await anna.post("/account/password", new)
      #expect(without.status == 422 && ScenePage(without).error("code").contains("Wrong code"))
      #expect(try await anna.post("/account/password", new + [("code", code().1)]).status == 303)
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
      #expect(late.status == 403 && late.text.contains("Choose the file again after you confirm"))
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
      #expect(slow.status == 429 && ScenePage(slow).error("proof").contains("Too many attempts"))
      #expect(slow.response.headers["Retry-After"] == "1")
      // A form that asks for the proof itself.
      let before = try await scene.count("tokens")
      let form = try await anna.post("/settings/tokens", [("name", "ci"), ("proof", ConsoleScene.password)])
      #expect(form.status == 429 && form.response.headers["Retry-After"] == "1")
      #expect(try await scene.count("tokens") == before)
      scene.clock.advance(2)
      #expect(try await anna.post("/session/confirm", [("proof", ConsoleScene.password)]).status == 303)
    }
  }
}
