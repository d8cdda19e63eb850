import Testing

@testable import HTTPServer

@Suite("Forms")
struct FormTests {
  @Test("a form is decoded in its order")
  func urlEncoded() throws {
    let form = try URLEncodedForm(Array("a=1&b=x+y%26%3D&&a=%E4%BD%A0&empty=&alone&=v&c=d=e".utf8))
    #expect(
      form.pairs.map { "\($0.name):\($0.value)" }
        == ["a:1", "b:x y&=", "a:你", "empty:", "alone:", ":v", "c:d=e"])
    #expect(form["a"] == "1" && form.pairs.filter { $0.name == "a" }.map(\.value) == ["1", "你"] && form["z"] == nil)
  }

  @Test("what cannot be decoded is refused", arguments: ["a=%", "a=%4", "a=%zz", "%=1", "a=%00", "a=%FF", "a=%C0%80"])
  func badForms(text: String) {
    #expect(throws: HTTPError.self) { try URLEncodedForm(Array(text.utf8)) }
  }

  @Test("a form with more than a thousand fields is refused")
  func manyFields() throws {
    #expect(
      try URLEncodedForm(Array(repeating: "a=1", count: 1000).joined(separator: "&").utf8.map { $0 }).pairs.count
        == 1000)
    #expect(throws: HTTPError.self) {
      try URLEncodedForm(Array(repeating: "a=1", count: 1001).joined(separator: "&").utf8.map { $0 })
    }
  }

  @Test("a query has pairs too")
  func query() throws {
    let request = try Request(.get, "/search?q=a+b&q=c&page=2")
    #expect(request.queryItems["q"] == "a b" && request.queryItems["page"] == "2")
    #expect(try Request(.get, "/search").queryItems.pairs == [])
  }

  @Test("a form of another type is 415")
  func otherType() async throws {
    let request = try Request(.post, "/", headers: ["Content-Type": "text/plain"], body: Array("a=1".utf8))
    await #expect(throws: HTTPError.self) { _ = try await request.form() }
    let form = try Request(
      .post, "/", headers: ["Content-Type": "Application/X-WWW-Form-Urlencoded; charset=utf-8"], body: Array("a=1".utf8)
    )
    #expect(try await form.form()["a"] == "1")
  }

  @Test(
    "parameters of a field are read, quoted or not",
    arguments: [
      ("form-data; name=a; filename=\"b;c\"", "b;c"), ("form-data; filename=\"a\\\"b\"", "a\"b"),
      ("Form-Data ;filename=\"C:\\dir\\f.p8\"", "C:\\dir\\f.p8"), ("form-data; FileName=x", "x"),
      ("form-data; filename=\"\"", ""), ("form-data", nil), ("form-data; filename=\"open", nil),
      ("form-data; =x", nil), ("form-data; filename=\"a\"b", nil),
    ] as [(String, String?)])
  func parameters(text: String, fileName: String?) {
    #expect(FieldParameters(text)?["filename"] == fileName)
  }
}
