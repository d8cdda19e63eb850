import Foundation
import HTTPServer
import JSON
import SQLite
import Store
import Testing

@Suite("Activity: what is recorded")
struct ActivityRecordTests {
  @Test("a refused token is recorded once, and its repetitions after the hour")
  func repeated() async throws {
    try await ConsoleScene.with { scene in
      for _ in 0..<50 {
        #expect(
          try await scene.call(.delete, "/api/v1/apps/x", as: .viewer, from: "192.0.2.1").status == 403)
      }
      let entry = try #require(try await scene.audit("token.refused").first)
      #expect(try await scene.audit("token.refused").count == 1)
      #expect(entry.actor == "token viewer" && entry.subject == "token viewer" && entry.address == "192.0.2.1")
      #expect(entry.detail?["request"] == "DELETE /api/v1/apps/:app" && entry.detail?["status"] == 403)
      #expect(entry.detail?["reason"]?.string?.contains("requires admin") == true)
      let anna = try await scene.signIn(.admin)
      func shown(_ language: String) async throws -> String {
        var anna = anna
        _ = try await anna.post("/language", [("lang", language), ("return", "/")])
        return ScenePage(try await anna.get("/activity?q=token%20viewer")).text
      }
      #expect(try await shown("zh-Hans").contains("该令牌的角色是只读成员，而此请求需要管理员。"))
      #expect(try await shown("en").contains("This token has the role viewer, but this request requires admin."))
      scene.clock.advance(3601)
      _ = try await scene.call(.get, "/api/v1/activity", as: .admin)
      let all = try await scene.audit("token.refused")
      #expect(all.count == 2 && all[0].detail?["repeated"] == 49)
      _ = try await scene.call(.get, "/api/v1/activity", as: .admin)
      #expect(try await scene.audit("token.refused").count == 2)
    }
  }

  @Test("a flood over all routes writes a bounded number of entries, also one with tokens that nobody made")
  func flood() async throws {
    try await ConsoleScene.with { scene in
      for entry in TokenAccessTable.entries where entry.role > .viewer {
        let target = entry.pattern.replacing(":", with: "")
        for _ in 0..<3 { _ = try await scene.call(entry.method, target, as: .viewer) }
      }
      #expect(try await scene.audit("token.refused").count == 21)
      for target in ["/api/v1/apps", "/metrics"] {
        for number in 0..<5 {
          let headers = ["Authorization": "Bearer unknown\(number)"]
          #expect(
            try await scene.call(.get, target, as: nil, headers: headers, from: "192.0.2.1").status == 401)
        }
        #expect(try await scene.call(.get, target, as: nil).status == 401, "without a token, nobody is refused")
      }
      let entries = try await scene.audit("token.refused")
      #expect(entries.count == 23)
      #expect(entries.prefix(2).map { $0.detail?["request"] } == ["GET /metrics", "GET /api/v1/apps"])
      let entry = try #require(entries.first)
      #expect(entry.actor == "unknown token" && entry.subject == "unknown token" && entry.address == "192.0.2.1")
      var anna = try await scene.signIn(.admin)
      #expect(ScenePage(try await anna.get("/activity")).text.contains("Unknown API token"))
    }
  }

  @Test("a token that may not read the metrics is recorded like at any other call")
  func metrics() async throws {
    try await ConsoleScene.with { scene in
      let headers = try await TokenAccessTests.token(scene, ["devices"])
      #expect(try await scene.call(.get, "/metrics", as: nil, headers: headers).status == 403)
      let entry = try #require(try await scene.audit("token.refused").first)
      #expect(entry.actor == "token devices" && entry.detail?["request"] == "GET /metrics")
    }
  }

  @Test("a revoked token and a person without the role are known, too")
  func known() async throws {
    try await ConsoleScene.with { scene in
      let headers = try await TokenAccessTests.token(scene, ["read"])
      try await scene.store.write { database in
        for token in try APIToken.all(database) where token.name == "read" {
          try APIToken.revoke(database, id: token.id, now: ConsoleScene.noon)
        }
      }
      #expect(try await scene.call(.get, "/api/v1/apps", as: nil, headers: headers).status == 401)
      #expect(try await scene.audit("token.refused").first?.detail?["status"] == 401)
      var anna = try await scene.signIn(.viewer, name: "anna@example.com")
      #expect(try await anna.get("/settings").status == 403)
      let entry = try #require(try await scene.audit("user.refused").first)
      #expect(entry.subject == "user anna@example.com" && entry.detail?["request"] == "GET /settings")
      #expect(entry.detail?["reason"] == "role")
    }
  }

  @Test("signing out, ending sessions, exports and simulated errors are recorded with before and after")
  func actions() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      try await scene.addApp()
      var anna = try await scene.signIn(.admin, name: "anna@example.com")
      _ = try await anna.get("/activity.csv")
      _ = try await anna.post("/phones/faults", [("server", "development"), ("fault", "503"), ("count", "")])
      let body: JSONValue = ["faults": "status=503,next=10"]
      #expect(
        try await scene.call(.put, "/simulator/v1/faults/fcm", as: .operator, json: body).status == 200)
      #expect(try await scene.call(.delete, "/simulator/v1/faults", as: .operator).status == 204)
      _ = try await anna.post("/session/end")
      #expect(try await scene.audit("activity.export").map(\.detail) == [["format": "csv"]])
      let faults = try await scene.audit("simulator.faults")
      #expect(faults.contains { $0.subject == "simulator fcm" && $0.actor == "token operator" })
      #expect(faults.last?.detail?["before"]?["faults"] != faults.last?.detail?["after"]?["faults"])
      #expect(try await scene.audit("session.close").map(\.actor) == ["anna@example.com"])
    }
  }

  @Test("a check of the log is on the page and in the API, and names what was removed")
  func check() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.operator, name: "anna@example.com")
      _ = try await anna.post("/account/sessions/end", [("session", "others")])
      for action in ["a.b", "c.d", "e.f"] {
        _ = try await scene.store.write {
          try AuditEntry.add($0, NewAuditEntry(actor: "x", action: action, subject: "y"), now: ConsoleScene.noon)
        }
      }
      #expect(ScenePage(try await anna.get("/activity?check=1")).text.contains("No entry is missing or changed"))
      let good = try await scene.call(.get, "/api/v1/activity/check", as: .operator)
      #expect(good.json?["intact"] == true && good.json?["faults"] == [])
      try await scene.store.write { database in
        try database.execute("DROP TRIGGER audit_is_never_deleted")
        try database.execute("DELETE FROM audit WHERE action = 'c.d'")
      }
      let page = ScenePage(try await anna.get("/activity?check=1")).text
      #expect(page.contains("changed outside of Signalbox") && page.contains("is missing"))
      let bad = try await scene.call(.get, "/api/v1/activity/check", as: .operator)
      #expect(bad.json?["intact"] == false && bad.json?["faults"]?.array?.first?["kind"] == "missing")
      let list = try await scene.call(.get, "/api/v1/activity?limit=1", as: .operator)
      #expect(list.json?["items"]?.array?.first?["hash"]?.string?.utf8.count == 64)
    }
  }
}
