import Foundation
import HTTPServer
import JSON
import Model
import Simulator
import Store
import Testing

@testable import Console

@Suite("Pages: API reference")
struct DocsPageTests {
  private static let documents = ["openapi.json", "app.json", "jpush.json"]

  @Test("every operation of the documents stands on one page, with its parameters, answers and a call")
  func whole() async throws {
    let described = try Self.documents.reduce(into: Set<String>()) { names, document in
      names.formUnion(try OpenAPIDocument(document).operations.map(\.description))
    }
    try await ConsoleScene.with { scene in
      var vera = try await scene.signIn(.viewer)
      var shown: [String] = []
      for section in scene.console.reference.sections {
        let page = ScenePage(try await vera.get("/docs/\(section.slug)"))
        let letters = page.text.filter(\.isLetter)
        for operation in section.operations {
          shown.append("\(operation.method) \(operation.path)")
          #expect(page.text(id: "\(operation.id)-heading") == operation.summary)
          let call = try #require(page.text(id: "\(operation.id)-curl"))
          #expect(call.hasPrefix("curl ") && call.contains(" \"http"), "\(call)")
          #expect(!operation.answers.contains { $0.meaning.isEmpty }, "\(operation.path)")
          for answer in operation.answers {
            // Letters alone: marks stand around code, and quotes are escaped.
            let isSaid = letters.contains(answer.meaning.filter(\.isLetter))
            #expect(isSaid, "\(operation.path): \(answer)")
          }
        }
        for link in page.links where link.hasPrefix("#") {
          #expect(page.tags.contains { $0.attributes["id"] == String(link.dropFirst()) }, "\(link)")
        }
      }
      #expect(Set(shown) == described && shown.count == described.count)
      #expect(try await vera.get("/docs/none").status == 404)
      let first = ScenePage(try await vera.get("/docs"))
      #expect(Set(first.links).isSuperset(of: scene.console.reference.sections.map { "/docs/\($0.slug)" }))
    }
  }

  @Test("the example of a topic change runs on the demo")
  func topicExample() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await DemoInstallation.install(store: scene.store, phones: phones, now: scene.now)
      let operation = OpenAPIDocument.Operation(
        method: "POST", path: "/api/v1/apps/{app}/topics/{environment}/changes")
      let content = try OpenAPIDocument().description(operation)["requestBody"]?["content"]?["application/json"]
      let example = try #require(content?["example"])
      let answer = try await scene.call(
        .post, "/api/v1/apps/\(ConsoleScene.bundleID)/topics/development/changes", as: .operator, json: example)
      #expect(answer.status == 202, "\(answer.text)")
    }
  }

  @Test("every call with a JSON body has an example that fits its schema", arguments: documents)
  func examples(name: String) throws {
    let document = try OpenAPIDocument(name)
    for operation in document.operations {
      guard let content = try document.description(operation)["requestBody"]?["content"]?.object else { continue }
      for (type, media) in content where !type.hasPrefix("multipart/") {
        let example = try #require(media["example"], "\(operation)")
        guard type == "application/json" else { continue }
        #expect(try document.requestErrors(example, of: operation) == [], "\(operation)")
      }
    }
  }

  @Test("the example of the reference sends a push")
  func runs() async throws {
    let document = try OpenAPIDocument()
    let operation = OpenAPIDocument.Operation(method: "POST", path: "/api/v1/pushes")
    let content = try document.description(operation)["requestBody"]?["content"]?["application/json"]
    var example = try #require(content?["example"]?.object)
    // The demo's app, which the example names, has another name here.
    #expect(example["app"] == "com.example.shop")
    example["app"] = .string(ConsoleScene.bundleID)
    let json = JSONValue.object(example)
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: try await scene.addApp())
      #expect(try await scene.call(.post, operation.path, as: .operator, json: json).status == 202)
    }
  }

  @Test("what a call needs in its query stands in its command, which runs as it stands")
  func queries() async throws {
    try await JPushScene.with { jpush in
      let needing = jpush.scene.console.reference.sections.flatMap(\.operations).filter { !$0.example.query.isEmpty }
      #expect(Set(needing.map(\.path)).isSuperset(of: ["/v3/received", "/v3/messages/detail", "/v3/users"]))
      for operation in needing {
        let command = operation.curl(address: "http://localhost")
        let target = try #require(command.firstMatch(of: /"http:\/\/localhost(.+?)"/)?.1)
        let day = target.replacing("$(TZ=Asia/Shanghai date +%F)", with: "2026-11-20")
        let answer = try await jpush.call(.get, String(day))
        #expect(answer.status == 200, "\(command): \(answer.text)")
      }
    }
  }

  @Test("every required parameter of a query has an example", arguments: documents)
  func queryExamples(name: String) throws {
    let document = try OpenAPIDocument(name)
    for operation in document.operations {
      let parameters = try document.description(operation)["parameters"]?.array ?? []
      for parameter in parameters.map(document.schema.resolved)
      where parameter["in"] == "query" && parameter["required"] == true {
        #expect(parameter["example"]?.string?.isEmpty == false, "\(operation): \(parameter.text())")
      }
    }
  }

  @Test("a command survives quotes in its body, and code in a text is marked")
  func quoting() throws {
    let operation = APIReference.Operation(
      id: "x", method: "POST", path: "/api/v1/apps/{app}/things/{id}", summary: "", description: "", role: "",
      scope: "",
      parameters: [], answers: [],
      example: .init(authorization: nil, query: "", contentType: "application/json", body: #"{"name":"Ada's"}"#))
    #expect(
      operation.curl(address: "https://push.example.com")
        == #"""
        curl -X POST "https://push.example.com/api/v1/apps/com.example.shop/things/$ID" \
          -H "Content-Type: application/json" \
          --data-binary '{"name":"Ada'\''s"}'
        """#)
    #expect(
      MarkedText.parts(of: "a `b` c`d`").map { "\($0.text)|\($0.isCode)" } == [
        "a |false", "b|true", " c|false", "d|true",
      ])
  }

  @Test("the style guide has every component, and is there in the demo alone, for operators")
  func styleguide() async throws {
    let folder = ConsoleScene.root.appendingPathComponent("Templates")
    @Sendable func source(_ path: String) throws -> String {
      try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
    }
    func components(_ text: String) -> Set<String> {
      Set(text.matches(of: /\{\{[<>] ?components\/([a-z_]+)\}\}/).map { String($0.1) })
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/components")
      .map { $0.replacing(".mustache", with: "") }
    let parts = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/docs").filter {
      $0.hasPrefix("_style_")
    }
    var shown = try (parts.map { "docs/\($0)" } + ["docs/styleguide.mustache"]).reduce(into: Set<String>()) {
      $0.formUnion(components(try source($1)))
    }
    // What a component is made of is on the page with it.
    for name in shown { shown.formUnion(components(try source("components/\(name).mustache"))) }
    #expect(Set(files).subtracting(shown) == [])
    try await ConsoleScene.with(simulator: true) { scene in
      var olga = try await scene.signIn(.operator)
      let page = try await olga.get("/styleguide")
      #expect(page.status == 200)
      for mark in [
        "button primary", "button danger final", "aria-invalid=\"true\"", "callout amber", "dot red", "env production",
        "data-relative", "rel=\"prev\"", "class=\"tabs\"", "class=\"empty\"", "disabled",
      ] {
        #expect(page.text.contains(mark), "\(mark)")
      }
      // The larger parts of pages, in each of their states.
      for mark in [
        "class=\"bar big\"", "class=\"key\"", "class=\"waterfall\"", "f-fail", "class=\"cause\"", "class=\"handset\"",
        "class=\"handset droid\"", "screen off", "class=\"needs\"", "big red", "big amber", "14 missed deliveries",
        "d-red", "d-amber", "d-acc", "class=\"guide\"", "<li class=\"done\">", "<li class=\"now\">", "class=\"runs\"",
        "Device saved.", "toast still",
      ] {
        #expect(page.text.contains(mark), "\(mark)")
      }
      #expect(!page.text.contains("class=\"scheme-"))
      for scheme in ["light", "dark"] {
        let forced = try await olga.get("/styleguide?scheme=\(scheme)").text
        #expect(forced.contains("<body class=\"scheme-\(scheme)\""))
        #expect(forced.contains("href=\"/styleguide?scheme=\(scheme)\" aria-current=\"page\""))
        #expect(try source("../Public/css/signalbox.css").contains("html:has(> .scheme-\(scheme))"))
      }
      #expect(try await !olga.get("/styleguide?scheme=pink").text.contains("class=\"scheme-"))
      var vera = try await scene.signIn(.viewer)
      #expect(try await vera.get("/styleguide").status == 403)
    }
    try await ConsoleScene.with { scene in
      var olga = try await scene.signIn(.operator)
      #expect(try await olga.get("/styleguide").status == 404)
    }
  }
}
