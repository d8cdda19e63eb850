import JSON
import Testing

@Suite("JSON Pointer")
struct JSONPointerTests {
  /// The example of RFC 6901 §5, and more.
  private static let document: JSONValue = [
    "foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "aps": ["alert": ["title": "x"], "badge": 3], "01": "one",
  ]

  @Test(
    "a place has its value",
    arguments: [
      ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/foo/1", "baz"), ("/", 0), ("/a~1b", 1), ("/m~0n", 8),
      ("/aps/alert/title", "x"), ("/aps/badge", 3), ("/01", "one"),
    ] as [(String, JSONValue)])
  func found(text: String, value: JSONValue) throws {
    #expect(Self.document[try #require(JSONPointer(text))] == value)
  }

  @Test("the empty one is the whole document")
  func whole() throws { #expect(Self.document[try #require(JSONPointer(""))] == Self.document) }

  @Test("where nothing is, there is nothing", arguments: ["/foo/2", "/foo/01", "/foo/-", "/aps/alert/title/x", "/b"])
  func missing(text: String) throws { #expect(Self.document[try #require(JSONPointer(text))] == nil) }

  @Test("what is no pointer is none", arguments: ["foo", "/a~", "/a~2", "#/foo", " /foo"])
  func wrong(text: String) { #expect(JSONPointer(text) == nil) }
}
