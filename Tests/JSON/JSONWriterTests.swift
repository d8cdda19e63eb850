import Foundation
import JSON
import Testing

@Suite("JSON: writing")
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

  private struct Item: JSONObject {
    let id: Int64
    let name: String?

    func writeMembers(to json: inout JSONWriter) {
      json.member("id", id)
      json.member("name", name)
    }
  }

  @Test("members stand in the order in which they are written, objects and arrays inside each other")
  func order() {
    var json = JSONWriter(capacity: 1)
    json.object { json in
      json.member("z", 1)
      json.member("a", [true, false])
      json.object("empty") { _ in }
      json.array("items", [Item(id: .min, name: nil), Item(id: 0, name: "x{")]) { json, item in item.write(to: &json) }
      json.array("none", [] as [Item]) { json, item in item.write(to: &json) }
      json.key(dynamic: "k\"")
      json.null()
    }
    json.endLine()
    #expect(
      json.text == #"{"z":1,"a":[true,false],"empty":{},"items":[{"id":-9223372036854775808,"name":null},"#
        + #"{"id":0,"name":"x{"}],"none":[],"k\"":null}"# + "\n")
  }

  @Test("a string is escaped at any position", arguments: 0...24)
  func everyPlace(offset: Int) throws {
    for character in ["\"", "\\", "\u{1f}", "\u{0}", "é", "😀", "\u{7f}", "/"] {
      let text = String(repeating: "x", count: offset) + character + "yyyyyyyyy"
      #expect(try JSONValue(parsing: JSONWriter.bytes(of: text)) == .string(text))
      var json = JSONWriter()
      json.string(utf8: Array(text.utf8))
      let written = json.bytes
      #expect(written == JSONWriter.bytes(of: text))
    }
  }

  @Test("whole numbers are written digit by digit", arguments: [0, 7, -7, 10, 99, -100, 1_234_567, .max, .min])
  func integers(number: Int64) { #expect(JSONWriter.text(of: number) == String(number)) }

  @Test("the pretty form is indented and sorted")
  func pretty() {
    #expect(Item(id: 1, name: "x").prettyJSON == "{\n  \"id\" : 1,\n  \"name\" : \"x\"\n}")
    #expect(JSONValue(written: Item(id: 1, name: nil)) == ["id": 1, "name": .null])
  }
}
