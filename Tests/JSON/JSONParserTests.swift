import Foundation
import JSON
import Testing

@Suite("Parsing JSON")
struct JSONParserTests {
  @Test(
    "what RFC 8259 allows is read",
    arguments: [
      ("null", .null), (" true ", .bool(true)), ("false\r\n\t", .bool(false)), ("0", .integer(0)), ("-0", .integer(0)),
      ("-12", .integer(-12)), ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("1.5", .double(1.5)), ("1e2", .integer(100)), ("1.0", .integer(1)), ("-1.25E-2", .double(-0.0125)),
      ("1e300", .double(1e300)), ("\"\"", .string("")), ("\"é😀张\"", .string("é😀张")),
      (#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000""#, .string("\"\\/\u{8}\u{c}\n\r\té😀\0")),
      ("[]", .array([])), ("[ ]", .array([])), ("[1 , [2]]", .array([.integer(1), .array([.integer(2)])])),
      ("{}", .object([:])), ("{ \"a\" : { \"a\" : [] } }", .object(["a": .object(["a": .array([])])])),
      ("\u{feff}1", .integer(1)),
    ] as [(String, JSONValue)])
  func reads(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: Data(text.utf8)) == value)
    #expect(try JSONValue(parsing: value.data()) == value)
    #expect(try JSONValue(parsing: value.data(pretty: true)) == value)
  }

  @Test(
    "everything else is refused, with its place",
    arguments: [
      ("", .ended, 1, 1), ("  ", .ended, 1, 3), ("{", .ended, 1, 2), ("{\"a\":1", .ended, 1, 7), ("[1", .ended, 1, 3),
      ("\"a", .ended, 1, 3), ("tru", .ended, 1, 4), ("-", .ended, 1, 2), ("1.", .ended, 1, 3), ("1e", .ended, 1, 3),
      ("{\"a\":1,}", .unexpected, 1, 8), ("[1,]", .unexpected, 1, 4), ("{'a':1}", .unexpected, 1, 2),
      ("{a:1}", .unexpected, 1, 2), ("nonsense", .unexpected, 1, 2), ("+1", .unexpected, 1, 1),
      (".5", .unexpected, 1, 1), ("01", .unexpected, 1, 1), ("-01", .unexpected, 1, 1), ("NaN", .unexpected, 1, 1),
      ("Infinity", .unexpected, 1, 1), ("True", .unexpected, 1, 1), ("1.e2", .unexpected, 1, 3),
      ("[1 2]", .unexpected, 1, 4), ("{\"a\" 1}", .unexpected, 1, 6), ("// a\n1", .unexpected, 1, 1),
      ("{\n \"é\": 1,\n \"b\": tru }", .unexpected, 3, 10), ("1 x", .trailing, 1, 3), ("{}{}", .trailing, 1, 3),
      ("\"a\nb\"", .controlCharacter, 1, 3), ("\"\u{0}\"", .controlCharacter, 1, 2), (#""\x""#, .escape, 1, 2),
      (#""\u12g4""#, .escape, 1, 2), (#""\u12"#, .escape, 1, 2), (#""\ud83d""#, .surrogate, 1, 2),
      (#""\ud83dx""#, .surrogate, 1, 2), (#""\ud83d\u0041""#, .surrogate, 1, 2), (#""\ude00""#, .surrogate, 1, 2),
      ("9223372036854775808", .number, 1, 1), ("[1e999]", .number, 1, 2),
      ("{\"a\":1,\"b\":2,\"a\":3}", .repeatedKey, 1, 14), (#"{"a":1,"\u0061":3}"#, .repeatedKey, 1, 8),
      (String(repeating: "[", count: 129), .tooDeep, 1, 129),
    ] as [(String, JSONError.Fault, Int, Int)])
  func refuses(text: String, fault: JSONError.Fault, line: Int, column: Int) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Data(text.utf8)) }
    #expect(error?.fault == fault)
    #expect(error?.line == line)
    #expect(error?.column == column)
    #expect(error?.description.hasPrefix("line \(line), column \(column): ") == true)
  }

  @Test(
    "an error names the value that it is in",
    arguments: [
      (#"{"a":{"b":[1,{"c":1e999}]}}"#, "a.b[1].c"), ("[[1,x]]", "[0][1]"), (#"{"a":1} x"#, ""), ("1e999", ""),
    ])
  func path(text: String, path: String) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Data(text.utf8)) }
    #expect(error?.path == path)
  }

  @Test("128 levels are read")
  func deep() throws {
    let text = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
    #expect(try JSONValue(parsing: Data(text.utf8)).text() == text)
  }

  @Test(
    "bytes that are no UTF-8 are refused",
    arguments: [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]] as [[UInt8]])
  func encoding(bytes: [UInt8]) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Data([0x22] + bytes + [0x22])) }
    #expect(error?.fault == .encoding)
  }

  @Test("no cut of a document is taken for a document, and none is read beyond its end")
  func cuts() throws {
    let bytes = Array(#"{"a":{"b":[1,-2.5e3,"\u00e9😀",true,null]},"c":"d"}"#.utf8)
    for end in 0..<bytes.count {
      #expect(throws: JSONError.self) { try JSONValue(parsing: Data(bytes[..<end])) }
    }
  }
}
