import JSON
import Testing

@Suite("JSON: text that is kept")
struct RawJSONTests {
  private static let text = #" { "a" : {"x":[1,"]}\\"]} ,"b":"q\"uo,te","c":-1.5e3,"d":null , "e" : [ ] } "#

  private func member(_ name: StaticString, of raw: RawJSON, absent: JSONValue = .null) -> String {
    var json = JSONWriter()
    raw.writeMember(name, absent: absent, to: &json)
    return json.text
  }

  @Test("it is written as it is, and so is each of its members")
  func members() throws {
    let raw = try #require(RawJSON(object: Self.text))
    #expect(JSONWriter.text(of: raw) == Self.text)
    #expect(member("a", of: raw) == #"{"x":[1,"]}\\"]}"#)
    #expect(member("b", of: raw) == #""q\"uo,te""#)
    #expect(member("c", of: raw) == "-1.5e3")
    #expect(member("d", of: raw) == "null")
    #expect(member("e", of: raw) == "[ ]")
    #expect(member("f", of: raw) == "null")
    #expect(member("f", of: raw, absent: []) == "[]")
    let empty = try #require(RawJSON(object: "{}"))
    #expect(member("a", of: empty) == "null")
  }

  @Test("no cut of it is taken for a whole")
  func cuts() throws {
    let bytes = Array(Self.text.utf8)
    let end = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
    for count in 0...end { #expect(RawJSON(object: String(decoding: bytes[..<count], as: UTF8.self)) == nil) }
  }

  @Test(
    "what is no object is not taken",
    arguments: ["", "null", "[]", "{}x", "{,}", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{\"a\":}", "{\"a\":1 2}"])
  func noObject(text: String) { #expect(RawJSON(object: text) == nil) }
}
