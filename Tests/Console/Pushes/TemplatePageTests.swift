import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@testable import Console

@Suite("Pages and API: templates")
struct TemplatePageTests {
  @Test("saved from the form, filled in on a page, sent by name with the API, changed and deleted")
  func life() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      var lin = try await scene.signIn(.operator)
      let form = ScenePage(
        try await lin.post("/templates/new", [("title", "Order {{order}}"), ("body", "On {{day}}")]))
      let content = try #require(form.values("content").first)
      #expect(form.values("name") == ["Order {{order}}"] && content.contains("{{day}}"))
      let wrong = try await lin.post("/templates", [("name", ""), ("content", #"{"notification": {"boddy": "x"}}"#)])
      #expect(wrong.status == 422 && ScenePage(wrong).failedFields == ["name", "content"])
      #expect(try await lin.post("/templates", [("name", "Shipped"), ("content", content)]).status == 303)
      let twice = try await lin.post("/templates", [("name", "SHIPPED"), ("content", content)])
      #expect(twice.status == 422 && ScenePage(twice).failedFields == ["name"])
      let list = ScenePage(try await lin.get("/templates"))
      #expect(list.text.contains("day, order") && list.links.contains("/templates/1/use"))
      let open = try await lin.post("/templates/1/use", [("value.order", "48213"), ("value.day", "")])
      #expect(open.status == 422 && ScenePage(open).error("value.day").contains("day"))
      #expect(ScenePage(open).values("value.order") == ["48213"])
      let filled = ScenePage(
        try await lin.post("/templates/1/use", [("value.order", "48213"), ("value.day", "Tuesday")]))
      #expect(filled.values("title") == ["Order 48213"] && filled.values("body") == ["On Tuesday"])
      #expect(filled.values("audience").isEmpty && filled.values("environment").isEmpty, "nothing is preselected")

      let push: JSONValue = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
        "template": ["name": "shipped", "values": ["order": 48213, "day": "Tuesday"]],
      ]
      let sent = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: push)
      #expect(sent.status == 202, "\(sent.text)")
      let uid = try #require(sent.json?["id"]?.string)
      #expect(try await scene.finished(uid).title == "Order 48213")
      for (template, field, code) in [
        (["name": "Shipped", "values": ["order": 1]], "template.values.day", "template.missing"),
        (
          ["name": "Shipped", "values": ["order": 1, "day": "x", "ordre": 2]], "template.values.ordre",
          "template.unknown"
        ), (["name": "None"], "template.name", "template.none"),
      ] as [(JSONValue, String, String)] {
        let answer = try await scene.call(
          .post, "/api/v1/pushes", as: .operator, json: push.with("template", template))
        #expect(answer.status == 422 && answer.fields == [field] && answer.codes == [code], "\(answer.text)")
      }
      let both = try await scene.call(
        .post, "/api/v1/pushes", as: .operator, json: push.with("notification", ["body": "x"]))
      #expect(both.status == 422 && both.codes == ["template.both"])

      let kept = try await lin.post("/templates/1/remove", [("confirm", "shipped")])
      #expect(kept.status == 422 && ScenePage(kept).failedFields == ["confirm"])
      #expect(try await lin.post("/templates/1/remove", [("confirm", "Shipped")]).status == 303)
      #expect(try await lin.get("/templates/1").status == 404)
      let activity = ScenePage(try await lin.get("/activity")).text
      #expect(activity.contains("created template") && activity.contains("deleted template"))
    }
  }
}
