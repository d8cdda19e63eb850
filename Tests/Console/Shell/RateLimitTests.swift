import Foundation
import HTTPServer
import JSON
import Store
import Testing

@Suite("API: limits of calls")
struct RateLimitTests {
  @Test("a token has its quota in a minute, says what is left, and gets 429 with the seconds to wait")
  func token() async throws {
    try await ConsoleScene.with(rates: (token: 3, address: 100)) { scene in
      func call(_ role: User.Role = .viewer, from address: String? = "192.0.2.1") async throws -> SceneAnswer {
        try await scene.call(.get, "/api/v1/apps", as: role, from: address)
      }
      let first = try await call()
      #expect(first.response.headers["RateLimit-Policy"] == "\"token\";q=3;w=60, \"address\";q=100;w=60")
      #expect(first.response.headers["RateLimit"] == "\"token\";r=2;t=20")
      #expect(try await call().response.headers["RateLimit"] == "\"token\";r=1;t=40")
      #expect(try await call(from: "198.51.100.9").status == 200, "the token counts, not where it is used")
      let refused = try await call()
      #expect(refused.status == 429 && refused.type == "application/problem+json")
      #expect(refused.response.headers["Retry-After"] == "20")
      #expect(refused.response.headers["RateLimit"] == "\"token\";r=0;t=60")
      let document = try OpenAPIDocument()
      #expect(try document.errors(refused, to: .init(method: "GET", path: "/api/v1/apps")) == [])
      #expect(try await call(.admin).status == 200, "another token")
      scene.clock.advance(20)
      #expect(try await call().status == 200)
      #expect(try await call().status == 429)
      scene.clock.advance(600)
      #expect(try await call().response.headers["RateLimit"] == "\"token\";r=2;t=20", "no more than the quota")
    }
  }

  @Test("an address has its quota, whatever it sends; an IPv6 network counts as one")
  func address() async throws {
    try await ConsoleScene.with(rates: (token: 100, address: 4)) { scene in
      func expect(_ status: Int, _ role: User.Role?, from address: String) async throws {
        let answer = try await scene.call(.get, "/api/v1/apps", as: role, from: address)
        #expect(answer.status == status, "\(address)")
      }
      for _ in 0..<4 { try await expect(401, nil, from: "192.0.2.1") }
      try await expect(429, .admin, from: "192.0.2.1")
      try await expect(200, .admin, from: "192.0.2.2")
      for last in 1...4 { try await expect(200, .admin, from: "2001:db8:0:1::\(last)") }
      try await expect(429, .admin, from: "2001:db8:0:1::9")
      try await expect(200, .admin, from: "2001:db8:0:2::9")
    }
  }

  @Test("this machine is not limited, and 0 is no limit")
  func unlimited() async throws {
    try await ConsoleScene.with(rates: (token: 1, address: 1)) { scene in
      for address in ["127.0.0.1", "::1", nil] {
        for _ in 0..<3 {
          let answer = try await scene.call(.get, "/api/v1/apps", as: .viewer, from: address)
          #expect(answer.status == 200 && answer.response.headers["RateLimit"] == nil)
        }
      }
    }
    try await ConsoleScene.with(rates: (token: 0, address: 0)) { scene in
      for _ in 0..<3 {
        let answer = try await scene.call(.get, "/api/v1/apps", as: .viewer, from: "192.0.2.1")
        #expect(answer.status == 200 && answer.response.headers["RateLimit"] == nil)
      }
    }
  }

  @Test("a signed-in browser has its quota of pages, and a page in its language that says how long to wait")
  func pages() async throws {
    try await ConsoleScene.with(pageRate: 6) { scene in
      var anna = try await scene.signIn(.viewer)
      var ben = try await scene.signIn(.viewer, name: "ben@example.com")
      for _ in 0..<8 { #expect(try await anna.get("/devices").status == 200, "this machine is not limited") }
      (anna.address, ben.address) = ("192.0.2.1", "192.0.2.1")
      for _ in 0..<5 { #expect(try await anna.get("/devices").status == 200) }
      #expect(try await anna.post("/language", [("lang", "zh-Hans")]).status == 303)
      #expect(try await anna.get("/devices").status == 200)
      let refused = try await anna.get("/devices")
      #expect(refused.status == 429 && refused.type == "text/html" && refused.text.contains("请求过于频繁"))
      #expect(refused.response.headers["Retry-After"] == "10" && refused.text.contains("请 10 秒后再试。"))
      let before = try await scene.changes()
      #expect(try await anna.post("/account/sessions/end", [("session", "others")]).status == 429)
      #expect(try await scene.changes() == before)
      #expect(try await ben.get("/devices").status == 200, "another session")
      scene.clock.advance(20)
      #expect(try await anna.get("/devices").status == 200)
    }
  }
}
