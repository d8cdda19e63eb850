import Foundation
import Push
import Testing

@Suite("JSON: what is written")
struct JSONWriterTests {
  @Test(
    "values are written as JSONEncoder writes them, keys sorted and slashes as they are",
    arguments: [
      .null, .bool(true), .integer(.min), .double(0.5), .double(1e21), .double(-2.5e-7), .string(""), [], .object([:]),
      .string("a/b \"c\" \\ \u{8}\u{9}\u{a}\u{c}\u{d}\u{0}\u{1f}\u{7f} é 小明 👩‍👩‍👧 \u{2028}"),
      ["b": [1, "x", .null, ["z": 1, "a": [:]]], "a": "\n", "ä": 2, "\"": false],
    ] as [JSONValue])
  func sameAsFoundation(_ value: JSONValue) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    #expect(value.text() == String(decoding: try encoder.encode(value), as: UTF8.self))
    #expect(try JSONValue(parsing: value.bytes) == value)
  }

  @Test("what JSON has no number for is null")
  func notFinite() { #expect(JSONValue.array([.double(.nan), .double(-.infinity)]).text() == "[null,null]") }
}
