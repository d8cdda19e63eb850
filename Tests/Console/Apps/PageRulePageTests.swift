import JSON
import Model
import Store
import Testing

@Suite("Pages: which page a tap opens")
struct PageRulePageTests {
  @Test("the default rules are shown, edited, tried, and come back; the send form offers their types")
  func whole() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let path = "/apps/\(app.id)/pages"
      let page = ScenePage(try await ben.get(path))
      #expect(page.values("type").prefix(4) == ["comment", "like", "message", "follow"])
      #expect(page.values("page").contains("Profile") && page.text.contains("These rules are the default"))
      let rows = [
        ("type", "order"), ("page", "Order"), ("deep_link", "shop://orders/{id}"), ("type", ""), ("page", ""),
        ("deep_link", ""),
      ]
      #expect(try await ben.post(path, rows).status == 303)
      let saved = ScenePage(try await ben.get(path))
      #expect(saved.values("type").first == "order" && !saved.text.contains("These rules are the default"))
      #expect(try await scene.audit("app.pages").count == 1)
      for (payload, text) in [
        (#"{"aps":{"alert":"x"},"link":"order","id":7}"#, "It opens Order at shop://orders/7"),
        (#"{"link":"order"}"#, "the payload lacks id"), (#"{"aps":{}}"#, "has no link"),
        (#"{"link":"follow"}"#, "No rule matches the type “follow”"),
      ] {
        let answer = ScenePage(try await ben.post(path + "/try", [("payload", payload)]))
        #expect(answer.text.contains(text), "\(payload)")
      }
      let wrong = try await ben.post(path + "/try", [("payload", "hello")])
      #expect(wrong.status == 422 && ScenePage(wrong).error("payload").contains("This is not a push"))
      let bad = try await ben.post(path, [("type", "x"), ("page", ""), ("deep_link", "")])
      #expect(bad.status == 422 && ScenePage(bad).values("type").first == "x")
      let form = try await ben.get("/pushes/new")
      #expect(form.text.contains(#"<option value="order">"#) && !form.text.contains(#"<option value="follow">"#))
      #expect(try await ben.post(path + "/reset").status == 303)
      #expect(ScenePage(try await ben.get(path)).values("type").first == "comment")
      let entries = try await scene.audit("app.pages")
      #expect(entries.last?.detail == ["before": .null, "after": ["rules": ["order: Order, shop://orders/{id}"]]])
      #expect(entries.first?.detail == ["before": ["rules": ["order: Order, shop://orders/{id}"]], "after": .null])
      var viewer = try await scene.signIn(.viewer)
      let viewed = try await viewer.get(path)
      #expect(!viewed.text.contains(#"name="type""#) && viewed.text.contains("follow"))
    }
  }

  @Test("the default pages are named in the language of the page")
  func chinese() async throws {
    try await ConsoleScene.with { scene in
      let path = "/apps/\(try await scene.addApp().id)/pages"
      var ben = try await scene.signIn(.operator)
      _ = try await ben.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let page = ScenePage(try await ben.get(path))
      #expect(page.values("page").prefix(4) == ["消息列表", "消息列表", "消息列表", "个人主页"])
      let tried = ScenePage(try await ben.post(path + "/try", [("payload", #"{"link":"follow"}"#)]))
      #expect(tried.text.contains("个人主页") && !tried.text.contains("Profile"))
    }
  }
}
