import JSON
import Testing

@testable import Model

@Suite("JSON: what people are told of it")
struct JSONProblemTests {
  @Test(
    "each fault has a whole sentence",
    arguments: [
      ("{", "json.ended"), ("[1,]", "json.unexpected"), ("1 x", "json.trailing"),
      ("\"a\nb\"", "json.control_character"),
      (#""\x""#, "json.escape"), (#""\ud83d""#, "json.surrogate"), ("9223372036854775808", "json.number"),
      (#"{"options":{"rate":99999999999999999999}}"#, "json.number_of"),
      ("{\"a\":1,\"a\":3}", "json.repeated_key"), (String(repeating: "[", count: 129), "json.too_deep"),
    ])
  func sentences(text: String, code: String) {
    let problem = #expect(throws: Problem.self) { try JSONValue(checking: Array(text.utf8)) }
    #expect(problem?.code == code)
    expectFilled(problem)
  }

  @Test("so has a text that is not UTF-8")
  func encoding() {
    let problem = #expect(throws: Problem.self) { try JSONValue(checking: [0x22, 0xff, 0x22]) }
    #expect(problem?.code == "json.encoding")
    expectFilled(problem)
  }

  @Test(
    "a number that would be rounded is named by its field",
    arguments: [
      (#"{"options":{"rate":99999999999999999999}}"#, "options.rate"), (#"{"a":[1,[2,1e999]]}"#, "a[1][1]"),
      (#"[{"b":9223372036854775808}]"#, "[0].b"),
    ])
  func rounded(text: String, field: String) {
    let problem = #expect(throws: Problem.self) { try JSONValue(checking: Array(text.utf8)) }
    #expect(problem?.text.hasPrefix("\(field): this number cannot be stored exactly (line 1") == true)
  }

  @Test("an error has line and column, with the character at that place")
  func place() {
    let problem = #expect(throws: Problem.self) { try JSONValue(checking: Array("{\n \"é\": 1,\n \"b\": tru }".utf8)) }
    #expect(problem?.arguments == ["line": "3", "column": "10", "character": " "])
  }
}
