import Calendar
import Foundation
import JSON
import Testing

import Text
@testable import Model

@Suite("Reading JSON by fields")
struct JSONFieldsTests {
  @Test("all problems come together, in reading order, unknown members last in their object")
  func order() throws {
    let json = try JSONValue(
      parsing: Data(#"{"extra":1,"name":7,"inner":{"cuont":"x","mystery":0},"list":["a",3,"a","b"],"on":"yes"}"#.utf8))
    let fields = JSONFields(json)
    let name = fields.string("name", required: true)
    let missing = fields.string("missing", required: true)
    let count = fields.object("inner") { $0.integer("count") }
    let list = fields.strings("list", atMost: 4)
    let isOn = fields.bool("on")
    let problems = #expect(throws: Problems.self) { try fields.finish() }
    #expect((name, missing, isOn) == (nil, nil, nil))
    #expect(count == .some(nil))
    #expect(list == ["a", "b"])
    #expect(
      lines(problems) == [
        "name field.expected", "missing field.required", "inner.cuont field.unknown_similar",
        "inner.mystery field.unknown", "list[1] field.expected", "on field.expected", "extra field.unknown",
      ])
    #expect(problems?.all[2].arguments == ["suggestion": "count"])
  }

  @Test("of very many unknown members the first hundred are named, at once", .timeLimit(.minutes(1)))
  func manyUnknown() {
    let members = (0..<200_000).map { ("unknown_member_\($0)", JSONValue.integer(1)) }
    let fields = JSONFields(.object(Dictionary(uniqueKeysWithValues: members)))
    for number in 0..<20 { _ = fields.value("known_member_\(number)") }
    let problems = #expect(throws: Problems.self) { try fields.finish() }
    #expect(problems?.all.count == 100)
  }

  @Test("a number with a fraction in place of an integer is called one")
  func fraction() {
    let fields = JSONFields(["badge": .double(1.5)])
    #expect(fields.integer("badge") == nil)
    let problems = #expect(throws: Problems.self) { try fields.finish() }
    #expect(problems?.all.map(\.text) == ["Expected a JSON integer, found number with a fraction."])
  }

  @Test("null counts as absent, an empty text too")
  func absent() throws {
    let fields = JSONFields(["a": .null, "b": "", "c": .null, "d": .null])
    #expect(fields.string("a") == nil)
    #expect(fields.string("b") == nil)
    #expect(fields.integer("c") == nil)
    #expect(fields.strings("d", atMost: 1) == [])
    try fields.finish()
  }

  @Test("an empty text is none of the words of a choice")
  func emptyChoice() {
    let fields = JSONFields(["a": "", "b": "", "c": .null])
    #expect(fields.choice("a", as: Environment.self) == nil)
    #expect(fields.choice("b", required: true, as: Environment.self) == nil)
    #expect(fields.choice("c", as: Environment.self) == nil)
    let problems = #expect(throws: Problems.self) { try fields.finish() }
    #expect(problems?.all.map(\.code) == ["field.not_a_choice", "field.choose"])
  }

  @Test(
    "what is no object at all is said so",
    arguments: [JSONValue.null, .array([]), .string("x"), .integer(1), .double(1.5), .bool(true)])
  func notAnObject(json: JSONValue) {
    let problems = #expect(throws: Problems.self) { try JSONFields(json).finish() }
    #expect(problems?.all.first?.code == "field.expected")
  }

  @Test("limits count characters or bytes")
  func limits() {
    let fields = JSONFields(["a": "ééé", "b": "ééé", "c": "ééé"])
    #expect(fields.string("a", limit: .characters(3)) == "ééé")
    #expect(fields.string("b", limit: .bytes(5)) == nil)
    #expect(fields.string("c", limit: .characters(2)) == nil)
    #expect(
      fields.problems.map(\.text) == [
        "Must have at most 5 bytes of UTF-8, but has 6.", "Must have at most 2 characters, but has 3.",
      ])
  }

  @Test("control characters are named; line ends pass where lines are expected")
  func control() {
    let fields = JSONFields(["a": "x\u{0}", "b": "x\ny", "c": "x\ny\tz"])
    #expect(fields.string("a") == nil)
    #expect(fields.string("b") == nil)
    #expect(fields.string("c", lines: true) == "x\ny\tz")
    #expect(
      fields.problems.map(\.arguments) == [
        ["character": "U+0000", "position": "2"], ["character": "U+000A", "position": "2"],
      ])
  }

  @Test(
    "whole numbers within their bounds",
    arguments: [
      (0, 0, nil), (5, 5, nil), (-1, nil, "field.out_of_range"), (6, nil, "field.out_of_range"),
      (.integer(.max), nil, "field.out_of_range"), (.double(1.5), nil, "field.expected"), ("1", nil, "field.expected"),
      (true, nil, "field.expected"),
    ] as [(JSONValue, Int?, String?)])
  func integers(value: JSONValue, number: Int?, code: String?) {
    let fields = JSONFields(["n": value])
    #expect(fields.integer("n", in: 0...5) == number)
    #expect(fields.problems.first?.code == code)
    expectFilled(fields.problems.first)
  }

  @Test("a choice names its words")
  func choice() {
    let fields = JSONFields(["a": "ios", "b": "windows", "c": 1])
    #expect(fields.choice("a", as: Platform.self) == .ios)
    #expect(fields.choice("b", as: Platform.self) == nil)
    #expect(fields.choice("c", as: Platform.self) == nil)
    #expect(fields.choice("d", required: true, as: Platform.self) == nil)
    #expect(
      fields.problems.map(\.text) == [
        "Must be one of ios, android, not “windows”.", "Expected a JSON string, found integer.",
        "Choose one of ios, android. There is no default.",
      ])
  }

  @Test(
    "addresses",
    arguments: [
      ("https://example.com/a.png", true), ("HTTP://x", true), ("ftp://x", false), ("https://", false),
      ("https:///a", false), ("https://a b", false), ("javascript:alert(1)", false),
    ])
  func addresses(text: String, fits: Bool) {
    #expect((JSONFields(["u": .string(text)]).address("u") != nil) == fits)
  }

  @Test("too many elements are not even looked at")
  func tooMany() {
    let fields = JSONFields(["l": .array(Array(repeating: 1, count: 5))])
    #expect(fields.strings("l", atMost: 4) == [])
    #expect(fields.problems.map(\.text) == ["Must have at most 4 entries, but has 5."])
  }

  @Test("a name with strange characters is quoted in its path, and cut")
  func strangeNames() {
    let fields = JSONFields(["a.b": 1, .init(repeating: "x", count: 200): 1])
    let problems = #expect(throws: Problems.self) { try fields.finish() }
    #expect(problems?.all.map(\.field) == ["[\"a.b\"]", .init(repeating: "x", count: 200)])
  }

  @Test("an answer has at most a hundred problems")
  func manyProblems() {
    let members = (1...500).map { ("k\($0)", JSONValue.null) }
    let problems = #expect(throws: Problems.self) {
      try JSONFields(.object(Dictionary(uniqueKeysWithValues: members))).finish()
    }
    #expect(problems?.all.count == 100)
  }

  @Test("the body of a request that is no JSON is one problem")
  func body() {
    let problem = #expect(throws: Problem.self) { try JSONValue(checking: Array("{".utf8)) }
    #expect(problem?.code == "json.ended")
  }
}

@Suite("Problems")
struct ProblemTests {
  @Test("placeholders are filled in one pass, whatever the arguments contain")
  func filling() {
    let problem = Problem("f", code: "c", "{a} and {b}, {other}, {", ["a": "{b}", "b": "{a}"])
    #expect(problem.text == "{b} and {a}, {other}, {")
    #expect(problem.filling("{b}!") == "{a}!")
  }

  @Test("a path grows from inside out")
  func paths() {
    let problem = Problem("", code: "c", "t")
    #expect(problem.under("tag").field == "tag")
    #expect(problem.under("[3]").under("tag").under("audience").field == "audience.tag[3]")
  }
}
