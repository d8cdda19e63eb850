import Foundation
import Testing

@testable import Push

@Suite("Reading JSON by fields")
struct JSONFieldsTests {
  @Test("all problems come at once, in the order asked, unknown members last in their object")
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
        "May have at most 5 bytes of UTF-8; this has 6.", "May have at most 2 characters; this has 3.",
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
        "Must be one of ios, android; it is “windows”.", "Expected a JSON string, found integer.",
        "Choose one of ios, android; nothing is preselected.",
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
    #expect(fields.problems.map(\.text) == ["May list at most 4; this lists 5."])
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
    let problems = #expect(throws: Problems.self) { try JSONFields(parsing: Data("{".utf8)) }
    #expect(lines(problems) == [" json.ended"])
  }

  @Test(
    "did you mean",
    arguments: [
      ("timeToLive", "time_to_live"), ("time-to-live", "time_to_live"), ("tme_to_live", "time_to_live"),
      ("prioirty", "priority"), ("Priority", "priority"), ("rte", "rate"), ("zzz", nil), ("", nil),
      (String(repeating: "x", count: 100_000), nil),
    ] as [(String, String?)])
  func suggestion(word: String, meant: String?) {
    #expect(Suggestion.closest(to: word, among: ["time_to_live", "priority", "rate"]) == meant)
  }

  @Test(
    "two neighbours exchanged are one slip, anywhere in a word; not so if something stands between them",
    arguments: [
      ("iso", "ios", 1), ("ois", "ios", 1), ("ab", "ba", 1), ("abdc", "abcd", 1), ("badc", "abcd", 2), ("ca", "abc", 3),
      ("abc", "cba", 2), ("a", "a", 0), ("", "abc", 3), ("abc", "", 3), ("axb", "ab", 1), ("ab", "axb", 1),
    ])
  func exchanged(word: String, other: String, distance: Int) {
    #expect(Suggestion.distance(Array(word.utf8), Array(other.utf8)) == distance)
  }

  @Test("of a word of three letters one slip is forgiven, and an exchange is one")
  func shortWords() {
    #expect(Suggestion.closest(to: "iso", among: ["ios"]) == "ios")
    #expect(Suggestion.closest(to: "soi", among: ["ios"]) == nil)
  }
}

@Suite("Times")
struct TimestampTests {
  @Test(
    "RFC 3339 is read",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-12-01T09:00:00Z", 1_796_115_600), ("2026-12-01t09:00:00z", 1_796_115_600),
      ("2026-12-01T17:00:00+08:00", 1_796_115_600), ("2026-12-01 03:30:00-05:30", 1_796_115_600),
      ("2024-02-29T00:00:00Z", 1_709_164_800), ("2026-12-01T09:00:00.250Z", 1_796_115_600.25),
      ("1969-12-31T23:59:59Z", -1), ("2016-12-31T23:59:60Z", 1_483_228_800),
    ] as [(String, Double)])
  func read(text: String, seconds: Double) {
    #expect(Timestamp.parse(text)?.timeIntervalSince1970 == seconds)
  }

  @Test(
    "anything else is not",
    arguments: [
      "", "2026-12-01", "2026-12-01T09:00:00", "2026-12-01T09:00Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T09:60:00Z", "2026-12-01T09:00:00+0800",
      "2026-12-01T09:00:00.Z", "2026-12-01T09:00:00Z ", "２026-12-01T09:00:00Z", "2026-12-01T09:00:00+24:00",
    ])
  func refused(text: String) {
    #expect(Timestamp.parse(text) == nil)
  }

  @Test(
    "what is written is read again",
    arguments: [0, 1, 0.001, 951_782_399.999, 951_782_400, 1_796_115_600.25, -1, 4_102_444_799, -62_135_596_800])
  func roundTrip(seconds: Double) {
    let text = Timestamp.text(Date(timeIntervalSince1970: seconds))
    #expect(Timestamp.parse(text) == Date(timeIntervalSince1970: seconds), "\(text)")
  }

  @Test("every day of four centuries")
  func days() {
    var wrong = 0
    for day in stride(from: -25567, to: 120_530, by: 1) {
      let date = Date(timeIntervalSince1970: Double(day) * 86400)
      if Timestamp.parse(Timestamp.text(date)) != date { wrong += 1 }
    }
    #expect(wrong == 0)
    #expect(Timestamp.text(Date(timeIntervalSince1970: 1_796_115_600)) == "2026-12-01T09:00:00Z")
  }
}

@Suite("Problems")
struct ProblemTests {
  @Test("placeholders are filled in one pass, whatever the arguments say")
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
