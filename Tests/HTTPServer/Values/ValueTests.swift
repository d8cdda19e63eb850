import Calendar
import Foundation
import Testing

@testable import HTTPServer

@Suite("Values of HTTP")
struct ValueTests {
  @Test("header names have no case; order and duplicates stay")
  func headers() throws {
    var headers: Headers = ["A": "1", "b": "2", "a": "3"]
    #expect(headers["a"] == "1" && headers["B"] == "2" && headers["c"] == nil)
    #expect(headers.values(of: "A") == ["1", "3"])
    headers["B"] = "4"
    #expect(headers.fields.map(\.name) == ["A", "a", "B"])
    headers.remove("a")
    headers.setDefault("b", "5")
    headers.setDefault("c", "6")
    #expect(headers == ["B": "4", "c": "6"])
    var received = try Request(.get, "/", headers: ["X-One": "1", "x-one": "2"]).headers
    #expect(received["X-ONE"] == "1" && received.values(of: "x-one") == ["1", "2"] && received.fields.count == 3)
    received.remove("Host")
    #expect(received == ["X-One": "1", "x-one": "2"])
  }

  @Test(
    "a scheme of Authorization has no case, and ends with a space",
    arguments: [
      ("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("BEARER a b", "a b"), ("Bearer", nil), ("Bearer ", nil),
      ("Bearerabc", nil), ("Beare", nil), ("Basic abc", nil), ("Bear\u{E9}r abc", nil), ("", nil),
    ] as [(String, String?)])
  func credentials(field: String, expected: String?) throws {
    #expect(try Request(.get, "/", headers: ["Authorization": field]).credentials("Bearer") == expected)
    #expect(try Request(.get, "/").credentials("Bearer") == nil)
  }

  @Test(
    "a field that could split the answer is found",
    arguments: [
      ("X", "a\r\nb"), ("X", "a\nb"), ("X", "\0"), ("X", "\u{7F}"), ("X Y", "a"), ("", "a"), ("X:", "a"), ("é", "a"),
    ])
  func invalidFields(name: String, value: String) {
    var headers = Headers([.init(name: "Good", value: "é\t "), .init(name: name, value: value)])
    #expect(headers.firstInvalidName == name)
    headers.clean()
    #expect(headers["Good"] == "é\t " && (headers.firstInvalidName == nil) == (name == "X"))
  }

  @Test(
    "a list in a field ends with how many were left out",
    arguments: [
      ([], nil), (["a"], "a"), (["a\r\nb", "c"], "a  b, c"),
      ([String(repeating: "x", count: 300), "b"], String(repeating: "x", count: 197) + "..., b"),
      (Array(repeating: "1234567890", count: 100), nil),
    ] as [([String], String?)])
  func lists(items: [String], value: String?) throws {
    var headers = Headers()
    headers.append("X", list: items)
    guard items.count > 2 else {
      #expect(headers["X"] == value)
      return
    }
    let text = try #require(headers["X"])
    let shown = text.components(separatedBy: ", ").dropLast().count
    #expect(text.utf8.count < 1050 && text.hasSuffix(", and \(items.count - shown) more"))
  }

  @Test("a cookie is written with its attributes, and refused with bytes that would add some")
  func cookies() throws {
    let cookie = try #require(
      Cookie(name: "__Host-session", value: "abc", maximumAge: 60, isSecure: true, sameSite: .lax))
    #expect(cookie.fieldValue == "__Host-session=abc; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax")
    for value in ["a;b", "a b", "a,b", "a\"b", "a\\b", "a\r\n", "é"] {
      #expect(Cookie(name: "n", value: value, isSecure: false) == nil)
    }
    #expect(Cookie(name: "a=b", value: "", isSecure: false) == nil)
    #expect(Cookie(name: "a", value: "", path: "/;x", isSecure: false) == nil)
  }

  @Test("cookies of a request are read from all fields; the first of a name counts")
  func requestCookies() throws {
    let request = try Request(.get, "/", headers: ["Cookie": "a=1; b=\"2\";c", "cookie": "a=3;  d = 4 "])
    #expect(["a", "b", "c", "d"].map(request.cookie) == ["1", "2", nil, "4"])
  }

  @Test(
    "moments are written and read back",
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
      (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (1_795_132_800, "Fri, 20 Nov 2026 00:00:00 GMT"),
    ])
  func dates(seconds: Int, text: String) {
    #expect(HTTPDate.format(seconds) == text)
    #expect(HTTPDate.parse(text) == seconds)
  }

  @Test("the two old forms of a moment are read, garbage is not")
  func oldDates() {
    #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT") == 784_111_777)
    #expect(HTTPDate.parse("Sun Nov  6 08:49:37 1994") == 784_111_777)
    for text in [
      "", "now", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Xxx 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
    ] {
      #expect(HTTPDate.parse(text) == nil)
    }
  }

  @Test(
    "a range is one part, nothing, or the whole",
    arguments: [
      ("bytes=0-0", ByteRange.part(0..<1)), ("bytes=2-", .part(2..<10)), ("bytes=-3", .part(7..<10)),
      ("bytes=-99", .part(0..<10)), ("bytes=5-99", .part(5..<10)), ("Bytes=9-9", .part(9..<10)),
      ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
      ("bytes=0-99999999999999999999", .part(0..<10)), ("bytes=5-4", .whole), ("bytes=0-1,3-4", .whole),
      ("bytes=", .whole), ("bytes=-", .whole), ("bytes=a-b", .whole), ("lines=0-1", .whole), ("bytes=+1-2", .whole),
    ])
  func ranges(field: String, expected: ByteRange) {
    #expect(ByteRange(field, size: 10) == expected)
  }

  @Test("request ids are thirteen plain characters and do not repeat")
  func requestNumbers() {
    var state: UInt64 = 1
    let ids = (0..<1000).map { _ in RequestNumber.text(RequestNumber.next(after: &state)) }
    #expect(Set(ids).count == 1000 && ids.allSatisfy { $0.utf8.count == 13 && RequestNumber.accepted($0) == $0 })
    for text in ["", "a b", "a\r\n", String(repeating: "a", count: 65), "é"] {
      #expect(RequestNumber.accepted(text) == nil)
    }
  }
}
