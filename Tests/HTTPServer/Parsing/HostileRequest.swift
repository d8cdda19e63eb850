import Testing

@testable import HTTPServer

/// A request that a server may stumble over, what it is answered with, and whether the connection ends then.
///
/// The kinds are those of RFC 9112 section 11 and of http-garden's list of findings; each was a way to make two
/// servers read two different requests, or a way to hold one up.
struct HostileRequest: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  let status: Int
  let closes: Bool

  var testDescription: String { name }

  init(_ name: String, _ text: String, _ status: Int, closes: Bool = true) {
    self.init(name, Array(text.utf8), status, closes: closes)
  }

  init(_ name: String, _ bytes: [UInt8], _ status: Int, closes: Bool = true) {
    self.name = name
    self.bytes = bytes
    self.status = status
    self.closes = closes
  }

  /// A POST with these fields and this behind the head.
  private static func post(_ name: String, _ fields: String, _ body: String = "", _ status: Int = 400) -> Self {
    Self(name, "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)", status, closes: status != 200)
  }

  private static func get(_ name: String, _ fields: String, _ status: Int = 400) -> Self {
    Self(name, "GET / HTTP/1.1\r\n\(fields)\r\n\r\n", status, closes: status != 200)
  }

  private static func line(_ name: String, _ line: String, _ status: Int = 400, closes: Bool = true) -> Self {
    Self(name, "\(line)\r\nHost: a\r\n\r\n", status, closes: closes)
  }

  private static func chunks(_ name: String, _ body: String, _ status: Int = 400) -> Self {
    post(name, "Transfer-Encoding: chunked", body, status)
  }

  static let all = lengths + codings + chunkBodies + requestLines + targets + hosts + fields + expectations + limits

  static let lengths: [Self] = [
    post("length and chunked", "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    post("chunked and length", "Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"),
    post("length 0 and chunked", "Content-Length: 0\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    post("two different lengths", "Content-Length: 5\r\nContent-Length: 6", "hello"),
    post("two equal lengths", "Content-Length: 5\r\nContent-Length: 5", "hello"),
    post("length in two spellings", "Content-Length: 5\r\ncontent-length: 6", "hello"),
    post("length list, equal", "Content-Length: 5, 5", "hello"),
    post("length list, different", "Content-Length: 5, 6", "hello"),
    post("length with plus", "Content-Length: +5", "hello"),
    post("length with minus", "Content-Length: -5", "hello"),
    post("length minus zero", "Content-Length: -0"),
    post("length with space inside", "Content-Length: 1 0", "hello"),
    post("length with tab inside", "Content-Length: 1\t0", "hello"),
    post("length hexadecimal", "Content-Length: 0x5", "hello"),
    post("length with exponent", "Content-Length: 5e0", "hello"),
    post("length with fraction", "Content-Length: 5.0", "hello"),
    post("length with underscore", "Content-Length: 1_0", "hello"),
    post("length in quotes", "Content-Length: \"5\"", "hello"),
    post("length empty", "Content-Length:", "hello"),
    post("length only space", "Content-Length:  ", "hello"),
    post("length a word", "Content-Length: five", "hello"),
    post("length with letters behind", "Content-Length: 5abc", "hello"),
    post("length with a comma in front", "Content-Length: ,5", "hello"),
    post("length with a semicolon", "Content-Length: 5;", "hello"),
    post("length in Arabic digits", "Content-Length: ٥", "hello"),
    post("length 2^63", "Content-Length: 9223372036854775808", "hello", 413),
    post("length 2^64", "Content-Length: 18446744073709551616", "hello", 413),
    post("length 2^64 + 5", "Content-Length: 18446744073709551621", "hello", 413),
    post("length of 100 digits", "Content-Length: " + String(repeating: "9", count: 100), "", 413),
    post("length above the route's limit", "Content-Length: 1001", "", 413),
    post("length with zeros in front", "Content-Length: 00005", "hello", 200),
    post("length with space around", "Content-Length:  5\t ", "hello", 200),
  ]

  static let codings: [Self] = [
    post("coding gzip", "Transfer-Encoding: gzip"),
    post("coding gzip, then chunked", "Transfer-Encoding: gzip, chunked", "0\r\n\r\n", 501),
    post("coding chunked, then gzip", "Transfer-Encoding: chunked, gzip", "0\r\n\r\n"),
    post("coding chunked twice", "Transfer-Encoding: chunked, chunked", "0\r\n\r\n"),
    post("coding chunked in two fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    post("coding identity", "Transfer-Encoding: identity", "0\r\n\r\n"),
    post("coding chunked, identity", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"),
    post("coding identity, chunked", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 501),
    post("coding empty", "Transfer-Encoding:"),
    post("coding a comma", "Transfer-Encoding: ,", "0\r\n\r\n"),
    post("coding with comma in front", "Transfer-Encoding: ,chunked", "0\r\n\r\n"),
    post("coding with comma behind", "Transfer-Encoding: chunked,", "0\r\n\r\n"),
    post("coding xchunked", "Transfer-Encoding: xchunked", "0\r\n\r\n"),
    post("coding chunkedx", "Transfer-Encoding: chunkedx", "0\r\n\r\n"),
    post("coding with a parameter", "Transfer-Encoding: chunked;q=1", "0\r\n\r\n"),
    post("coding in quotes", "Transfer-Encoding: \"chunked\"", "0\r\n\r\n"),
    post("coding with space inside", "Transfer-Encoding: chun ked", "0\r\n\r\n"),
    post("coding with vertical tab", "Transfer-Encoding: \u{0B}chunked", "0\r\n\r\n"),
    post("coding with no-break space", "Transfer-Encoding: \u{A0}chunked", "0\r\n\r\n"),
    post("coding with long s", "Transfer-Encoding: chunked\u{17F}", "0\r\n\r\n"),
    post("coding folded", "Transfer-Encoding:\r\n chunked", "0\r\n\r\n"),
    post("coding name with space", "Transfer-Encoding : chunked", "0\r\n\r\n"),
    Self(
      "coding in HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    post("coding in capitals", "TRANSFER-ENCODING: Chunked", "0\r\n\r\n", 200),
    post("coding with space around", "Transfer-Encoding: \t chunked \t", "0\r\n\r\n", 200),
  ]

  static let chunkBodies: [Self] = [
    chunks("chunk size empty", "\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with plus", "+5\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with minus", "-5\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with space in front", " 5\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with space behind", "5 \r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with tab behind", "5\t\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with underscore", "1_0\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size garbage", "xyz\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with garbage behind", "5g\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size 2^64", "10000000000000000\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size 2^64 + 5", "10000000000000005\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size 2^63", "8000000000000000\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size with too many zeros", "0000000000000005\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk size above the limit", "fffffff\r\nhello", 413),
    chunks("chunks above the limit together", "3e8\r\n" + String(repeating: "a", count: 1000) + "\r\n1\r\n", 413),
    chunks("chunk size ended by LF", "5\nhello\r\n0\r\n\r\n"),
    chunks("chunk size ended by CR", "5\rhello\r\n0\r\n\r\n"),
    chunks("chunk longer than said", "3\r\nhello\r\n0\r\n\r\n"),
    chunks("chunk without line end", "5\r\nhello0\r\n\r\n"),
    chunks("chunk ended by LF", "5\r\nhello\n0\r\n\r\n"),
    chunks("chunk ended by CR", "5\r\nhello\r0\r\n\r\n"),
    chunks("chunk ended by two bytes", "5\r\nhelloXX0\r\n\r\n"),
    chunks("extension with LF", "5;a\nb\r\nhello\r\n0\r\n\r\n"),
    chunks("extension with CR", "5;a\rb\r\nhello\r\n0\r\n\r\n"),
    chunks("extension with NUL", "5;a\0b\r\nhello\r\n0\r\n\r\n"),
    chunks("extension too long", "5;" + String(repeating: "a", count: 5000) + "\r\nhello\r\n0\r\n\r\n"),
    chunks("extension behind space", "5 ;a\r\nhello\r\n0\r\n\r\n"),
    chunks("trailer without colon", "0\r\nX\r\n\r\n"),
    chunks("trailer with space before the colon", "0\r\nX : 1\r\n\r\n"),
    chunks("trailer folded", "0\r\nX: 1\r\n 2\r\n\r\n"),
    chunks("trailer ended by LF", "0\r\nX: 1\n\r\n"),
    chunks("last line ended by LF", "0\r\n\n"),
    chunks("last chunk ended by LF", "0\n\r\n"),
    chunks("trailers too long", "0\r\nX: " + String(repeating: "a", count: 9000) + "\r\n\r\n", 431),
    chunks("chunk size with zeros", "00005\r\nhello\r\n000\r\n\r\n", 200),
    chunks("extension", "5;name=value;other\r\nhello\r\n0;last\r\n\r\n", 200),
    chunks("trailers that would change the framing", "0\r\nContent-Length: 99\r\nTransfer-Encoding: x\r\n\r\n", 200),
  ]

  static let requestLines: [Self] = [
    line("HTTP/0.9", "GET /"),
    line("no method", " / HTTP/1.1"),
    line("two spaces before the target", "GET  / HTTP/1.1"),
    line("two spaces before the version", "GET /  HTTP/1.1"),
    line("space behind the version", "GET / HTTP/1.1 "),
    line("tabs", "GET\t/\tHTTP/1.1"),
    line("word behind the version", "GET / HTTP/1.1 x"),
    line("vertical tab", "GET /\u{0B}HTTP/1.1"),
    line("method with a bracket", "G(T / HTTP/1.1"),
    line("method with a colon", "GET: / HTTP/1.1"),
    line("method with NUL", "G\0T / HTTP/1.1"),
    line("method in UTF-8", "GÉT / HTTP/1.1"),
    line("version in small letters", "GET / http/1.1"),
    line("version with two digits", "GET / HTTP/1.10"),
    line("version with zeros", "GET / HTTP/01.1"),
    line("version without minor", "GET / HTTP/1"),
    line("version with comma", "GET / HTTP/1,1"),
    line("version a word", "GET / HTTP/x.y"),
    line("another protocol", "GET / ICAP/1.0"),
    line("HTTP/0.9 by name", "GET / HTTP/0.9", 505),
    line("HTTP/2.0", "GET / HTTP/2.0", 505),
    line("HTTP/3.0", "GET / HTTP/3.0", 505),
    line("HTTP/9.9", "GET / HTTP/9.9", 505),
    Self("preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    Self("TLS hello", [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03], 400),
    Self("line ended by LF", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
    Self("line ended by CR", "GET / HTTP/1.1\rHost: a\r\n\r\n", 400),
    Self("LF in front", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Self("CR in front", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Self("three empty lines in front", "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Self("one empty line in front", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 200, closes: false),
    line("method unknown", "BREW / HTTP/1.1", 501, closes: false),
    line("method in small letters", "get / HTTP/1.1", 501, closes: false),
    line("method TRACE", "TRACE / HTTP/1.1", 405, closes: false),
    line("method CONNECT", "CONNECT a:80 HTTP/1.1", 501),
    line("method not allowed", "DELETE / HTTP/1.1", 405, closes: false),
  ]

  static let targets: [Self] = [
    line("no slash", "GET index.html HTTP/1.1"),
    line("fragment", "GET /#top HTTP/1.1"),
    line("control byte", "GET /\u{01} HTTP/1.1"),
    line("delete", "GET /\u{7F} HTTP/1.1"),
    line("UTF-8", "GET /é HTTP/1.1"),
    line("backslash", "GET /..\\ HTTP/1.1"),
    line("quote", "GET /\" HTTP/1.1"),
    line("dot segments", "GET /a/../b HTTP/1.1"),
    line("dot segment at the end", "GET /a/.. HTTP/1.1"),
    line("single dot", "GET /./a HTTP/1.1"),
    line("dot segments escaped", "GET /a/%2e%2E/b HTTP/1.1"),
    line("dot segments half escaped", "GET /a/.%2e/b HTTP/1.1"),
    line("percent alone", "GET /% HTTP/1.1"),
    line("percent with one digit", "GET /%4 HTTP/1.1"),
    line("percent with no digit", "GET /%zz HTTP/1.1"),
    line("percent u", "GET /%u0041 HTTP/1.1"),
    line("escaped NUL", "GET /a%00b HTTP/1.1"),
    line("escaped half of UTF-8", "GET /%C3 HTTP/1.1"),
    line("overlong slash", "GET /%C0%AF HTTP/1.1"),
    line("escaped surrogate", "GET /%ED%A0%80 HTTP/1.1"),
    line("percent alone in the query", "GET /?a=% HTTP/1.1"),
    line("escaped NUL in the query", "GET /?a=%00 HTTP/1.1"),
    line("asterisk for GET", "GET * HTTP/1.1"),
    line("asterisk with more", "OPTIONS *x HTTP/1.1"),
    line("authority for GET", "GET a:80 HTTP/1.1"),
    line("CONNECT to a path", "CONNECT / HTTP/1.1"),
    line("CONNECT without port", "CONNECT a HTTP/1.1"),
    line("another scheme", "GET ftp://a/ HTTP/1.1"),
    line("scheme without host", "GET http:/// HTTP/1.1"),
    line("address with a name and password", "GET http://u:p@a/ HTTP/1.1"),
    line("address with a port too high", "GET http://a:65536/ HTTP/1.1"),
    line("address of this host", "GET http://a/ HTTP/1.1", 200, closes: false),
    line("address of another host, which counts", "GET http://b/ HTTP/1.1", 200, closes: false),
    line("address with another port, which counts", "GET http://a:81/ HTTP/1.1", 200, closes: false),
    line("secure address over plain HTTP", "GET https://a/ HTTP/1.1", 421, closes: false),
    line("address with the usual port", "GET http://A:80 HTTP/1.1", 200, closes: false),
    line("asterisk for OPTIONS", "OPTIONS * HTTP/1.1", 204, closes: false),
    line("escaped slash", "GET /a%2fb HTTP/1.1", 404, closes: false),
    line("three dots", "GET /... HTTP/1.1", 404, closes: false),
  ]

  static let hosts: [Self] = [
    get("no host", "X: 1"),
    get("host twice", "Host: a\r\nHost: a"),
    get("two hosts", "Host: a\r\nHost: b"),
    get("host empty", "Host:"),
    get("host with a comma", "Host: a,b"),
    get("host with space", "Host: a b"),
    get("host with a path", "Host: a/b"),
    get("host with a query", "Host: a?b"),
    get("host with a fragment", "Host: a#b"),
    get("host with a name", "Host: u@a"),
    get("host with a percent", "Host: a%2e"),
    get("host with a quote", "Host: a\"b"),
    get("host with brackets", "Host: <a>"),
    get("host in UTF-8", "Host: é"),
    get("host with a port that is none", "Host: a:b"),
    get("host with an empty port", "Host: a:"),
    get("host with a port too high", "Host: a:65536"),
    get("host with two ports", "Host: a:1:2"),
    get("host only a port", "Host: :80"),
    get("host with an open bracket", "Host: [::1"),
    get("host with an empty bracket", "Host: []"),
    get("host with garbage behind the bracket", "Host: [::1]x"),
    get("host an address of IPv6", "Host: [::1]:80", 200),
    get("host in capitals", "HOST: EXAMPLE.org", 200),
    Self("two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    Self("no host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 200),
  ]

  static let fields: [Self] = [
    get("folded line", "Host: a\r\nX: 1\r\n 2"),
    get("folded line with tab", "Host: a\r\nX: 1\r\n\t2"),
    get("first line begins with space", " Host: a"),
    get("space before the colon", "Host : a"),
    get("tab before the colon", "Host: a\r\nX\t: 1"),
    get("no colon", "Host: a\r\nX"),
    get("no name", "Host: a\r\n: 1"),
    get("name with space", "Host: a\r\nX Y: 1"),
    get("name with NUL", "Host: a\r\nX\0: 1"),
    get("name in UTF-8", "Host: a\r\né: 1"),
    get("value with NUL", "Host: a\r\nX: 1\0"),
    get("value with CR", "Host: a\r\nX: 1\r2"),
    get("value with CR at the end", "Host: a\r\nX: 1\r"),
    get("value with delete", "Host: a\r\nX: 1\u{7F}"),
    get("value with escape", "Host: a\r\nX: \u{1B}[31m"),
    get("line ended by LF", "Host: a\nX: 1"),
    get("last line ended by LF", "Host: a\r\nX: 1\n"),
    Self("head ended by LF", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400),
    Self("head ended by LF LF", "GET / HTTP/1.1\nHost: a\n\n", 400),
    Self("chunked hidden behind a CR", "POST / HTTP/1.1\r\nHost: a\r\nX: y\rTransfer-Encoding: chunked\r\n\r\n", 400),
    Self("length hidden behind a LF", "POST / HTTP/1.1\r\nHost: a\r\nX: y\nContent-Length: 9\r\n\r\n", 400),
    get("value of bytes above 127", "Host: a\r\nX: é", 200),
    get("value empty", "Host: a\r\nX:", 200),
  ]

  static let expectations: [Self] = [
    post("another expectation", "Expect: 200-ok\r\nContent-Length: 5", "hello", 417),
    post("two expectations in one", "Expect: 100-continue, x\r\nContent-Length: 5", "hello", 417),
    post("empty expectation", "Expect:\r\nContent-Length: 5", "hello", 417),
  ]

  static let limits: [Self] = [
    line("target too long", "GET /" + String(repeating: "a", count: 9000) + " HTTP/1.1", 414),
    Self("line without end", "GET /" + String(repeating: "a", count: 20_000), 414),
    Self("method without end", String(repeating: "A", count: 20_000), 414),
    get("field too long", "Host: a\r\nX: " + String(repeating: "a", count: 40_000), 431),
    get(
      "fields too long",
      "Host: a\r\n" + String(repeating: "X: \(String(repeating: "a", count: 999))\r\n", count: 40), 431),
    get("too many fields", "Host: a\r\n" + String(repeating: "X: 1\r\n", count: 100) + "Y: 1", 431),
    get("as many fields as allowed", "Host: a\r\n" + String(repeating: "X: 1\r\n", count: 98) + "Y: 1", 200),
    get("a long field", "Host: a\r\nX: " + String(repeating: "a", count: 30_000), 200),
  ]
}
