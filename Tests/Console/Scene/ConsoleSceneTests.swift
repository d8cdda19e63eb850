import HTTPServer
import JSON
import Model
import Store
import Testing

/// What the other tests stand on.
@Suite("The tests' own scene")
struct ConsoleSceneTests {
  @Test("a person signs in through the page, sees pages, and is kept from what the role does not allow")
  func browser() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var viewer = try await scene.signIn(.viewer)
      let home = try await viewer.get("/")
      #expect(home.status == 200 && home.text.contains("viewer@example.com"))
      #expect(try await viewer.get("/pushes/new").status == 403)
      var sender = try await scene.signIn(.operator)
      #expect(try await sender.get("/pushes/new").status == 200)
      let forged = try await sender.post("/pushes/preview", [("csrf", "forged")])
      #expect(forged.status == 403)
      #expect(try await scene.audit("session.open").count == 2)
      var stranger = SceneBrowser(router: scene.router)
      #expect(try await stranger.get("/").status == 303)
    }
  }

  @Test(
    "the checker of schemas finds what does not fit",
    arguments: [
      (["type": "string"], 7, false), (["type": ["string", "null"]], .null, true),
      (["type": "integer", "minimum": 1], 0, false), (["type": "integer", "maximum": 1], 2, false),
      (["enum": ["a", "b"]], "c", false), (["const": "a"], "b", false), (["colour": "blue"], 1, false),
      (["type": "object", "required": ["a"]], [:], false),
      (["type": "object", "properties": ["a": [:]], "additionalProperties": false], ["b": 1], false),
      (["type": "object", "additionalProperties": ["type": "string"]], ["b": 1], false),
      (["type": "object", "properties": ["a": ["type": "string"]]], ["a": 1], false),
      (["type": "array", "items": ["type": "string"]], ["a", 1], false),
      (["type": "array", "maxItems": 1], [1, 2], false), (["type": "array", "minItems": 1], [], false),
      (["type": "string", "maxLength": 1], "ab", false), (["type": "string", "minLength": 1], "", false),
      (["type": "object", "minProperties": 1], [:], false), (["type": "object", "maxProperties": 0], ["a": 1], false),
      (["oneOf": [["type": "string"], ["type": "integer"]]], 1, true),
      (["oneOf": [["type": "string"], ["const": "all"]]], "all", false),
      (["anyOf": [["type": "string"], ["minimum": 2]]], 1, false),
      (["anyOf": [["minimum": 1], ["minimum": 2]]], 2, true),
      (["type": "string", "format": "date-time"], "2026-11-21T12:00:00Z", true),
      (["type": "string", "format": "date-time"], "2026-11-21 12:00", false),
      (["$ref": "#/parts/word"], 1, false), (["$ref": "#/parts/word"], "a", true),
      (["$ref": "#/parts/none"], "a", false),
    ] as [(JSONValue, JSONValue, Bool)])
  func checker(schema: JSONValue, value: JSONValue, fits: Bool) {
    let checker = JSONSchema(document: ["parts": ["word": ["type": "string"]]])
    #expect(checker.errors(value, schema).isEmpty == fits)
  }

  @Test("every schema of the document uses only what the checker knows, and every reference leads somewhere")
  func document() throws {
    let document = try OpenAPIDocument()
    func check(_ schema: JSONValue, _ place: String) {
      let unknown = document.schema.errors(.null, schema).filter { $0.contains("keyword") || $0.contains("schema") }
      #expect(unknown == [], "\(place)")
      for (name, property) in schema["properties"]?.object ?? [:] { check(property, "\(place).\(name)") }
      if let items = schema["items"] { check(items, "\(place)[]") }
      for choice in schema["oneOf"]?.array ?? [] { check(choice, place) }
    }
    #expect(document.schemas.count > 20)
    for (place, schema) in document.schemas { check(schema, place) }
  }
}
