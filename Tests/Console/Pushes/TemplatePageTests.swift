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
      #expect(form.values("name") == ["Order {{order}}"] && form.values("title") == ["Order {{order}}"])
      #expect(form.values("body") == ["On {{day}}"] && form.values("content").isEmpty, "no JSON")
      let typed = [("title", "Order {{order}}"), ("body", "On {{day}}")]
      let wrong = try await lin.post("/templates", [("name", ""), ("content", #"{"notification": {"boddy": "x"}}"#)])
      #expect(wrong.status == 422 && ScenePage(wrong).failedFields == ["name", "content"])
      #expect(try await lin.post("/templates", typed + [("name", "Shipped")]).status == 303)
      let twice = try await lin.post("/templates", typed + [("name", "SHIPPED")])
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

  @Test("written and changed in the fields of the send form, whose errors are beside them")
  func fields() async throws {
    try await ConsoleScene.with { scene in
      var lin = try await scene.signIn(.operator)
      let blank = ScenePage(try await lin.get("/templates/new"))
      let names = Set(blank.tags.compactMap { $0.attributes["name"] })
      #expect(names.isSuperset(of: ["name", "title", "body", "badge", "link", "extras", "collapse_id", "push_type"]))
      #expect(names.isDisjoint(with: ["content", "app", "audience", "environment", "when", "at_most_once"]))
      // Enter in a field saves, and adds no language.
      let button = try #require(blank.tags.first { $0.name == "button" && $0.attributes["class"] == "vh" })
      #expect(button.attributes["name"] == nil)

      let wrong = try await lin.post("/templates", [("name", ""), ("title", "Hi"), ("badge", "{{count}}")])
      #expect(wrong.status == 422 && ScenePage(wrong).failedFields == ["name", "badge"])
      #expect(ScenePage(wrong).values("title") == ["Hi"] && ScenePage(wrong).values("badge") == ["{{count}}"])
      let empty = try await lin.post("/templates", [("name", "Empty")])
      #expect(empty.status == 422 && ScenePage(empty).failedFields == ["body"])
      let misspelt = try await lin.post("/templates", [("name", "x"), ("title", "Hi {{first name}}")])
      #expect(misspelt.status == 422 && misspelt.text.contains("first name"))

      let typed = [
        ("name", "Hello"), ("title", "Hi {{name}}"), ("badge", "3"), ("extras", #"{"order": "{{order}}"}"#),
        ("collapse_id", "hello"),
      ]
      let row = ScenePage(try await lin.post("/templates", typed + [("add_language", "1")]))
      #expect(row.values("localization.1.language") == [""] && row.values("title") == ["Hi {{name}}"])
      let localized = typed + [("localization.1.language", "de"), ("localization.1.title", "Hallo {{name}}")]
      let removed = ScenePage(try await lin.post("/templates", localized + [("remove_language", "1")]))
      #expect(removed.values("localization.1.language").isEmpty && removed.values("name") == ["Hello"])
      #expect(try await scene.count("push_templates") == 0, "nothing was saved so far")

      #expect(try await lin.post("/templates", localized).status == 303)
      let open = ScenePage(try await lin.get("/templates/1"))
      for (name, value) in localized where name != "extras" { #expect(open.values(name) == [value], "\(name)") }
      #expect(open.values("extras").first?.contains("{{order}}") == true)
      #expect(try await lin.post("/templates/1", localized + [("subtitle", "Again")]).status == 303)
      let stored = try await scene.store.read { try PushTemplate.find($0, id: 1) }
      #expect(stored?.message.places == ["name", "order"])
      #expect(stored?.message.content["notification"]?["subtitle"] == "Again")
      #expect(stored?.message.content["options"] == ["collapse_id": "hello"])
      let detail = try #require(try await scene.audit("template.update").first?.detail)
      #expect(detail["before"]?["name"] == "Hello" && detail["before"]?["content"]?["notification"]?["title"] != nil)
      #expect(detail["before"]?["content"]?["notification"]?["subtitle"] == nil)
      #expect(detail["after"]?["content"]?["notification"]?["subtitle"] == "Again")
    }
  }

  @Test("JSON is the way for what the fields cannot hold; from each way to the other nothing typed is lost")
  func json() async throws {
    try await ConsoleScene.with { scene in
      var lin = try await scene.signIn(.operator)
      let blank = ScenePage(try await lin.post("/templates", [("name", "A"), ("title", ""), ("as", "json")]))
      #expect(blank.values("content").first?.contains("notification") == true && blank.values("name") == ["A"])
      let back = ScenePage(
        try await lin.post(
          "/templates", [("name", "A"), ("content", blank.values("content").first ?? ""), ("as", "fields")]))
      #expect(back.values("title") == [""] && back.values("content").isEmpty && back.values("name") == ["A"])

      let filled = ScenePage(
        try await lin.post("/templates", [("name", "A"), ("title", "Hi {{name}}"), ("as", "json")]))
      let content = try #require(filled.values("content").first)
      #expect(content.contains("Hi {{name}}"))
      let fields = ScenePage(
        try await lin.post("/templates", [("name", "A"), ("content", content), ("as", "fields")]))
      #expect(fields.values("title") == ["Hi {{name}}"] && fields.values("name") == ["A"])

      let number = #"{"notification": {"title": "x", "badge": "{{count}}"}}"#
      let kept = try await lin.post("/templates", [("name", "B"), ("content", number), ("as", "fields")])
      #expect(kept.status == 422 && ScenePage(kept).failedFields == ["content"])
      #expect(ScenePage(kept).values("content") == [number])
      let broken = try await lin.post("/templates", [("name", "B"), ("content", "{"), ("as", "fields")])
      #expect(broken.status == 422 && ScenePage(broken).failedFields == ["content"])
      let wrong = try await lin.post("/templates", [("name", "B"), ("badge", "x"), ("as", "json")])
      #expect(wrong.status == 422 && ScenePage(wrong).values("badge") == ["x"])
      #expect(try await scene.count("push_templates") == 0, "nothing was saved so far")
      #expect(try await lin.post("/templates", [("name", "B"), ("content", number)]).status == 303)
      let open = ScenePage(try await lin.get("/templates/1"))
      #expect(open.values("content").first?.contains("{{count}}") == true && open.values("title").isEmpty)
    }
  }
}
