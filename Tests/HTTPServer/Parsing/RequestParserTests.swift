import Testing

@testable import HTTPServer

@Suite("Request parser")
struct RequestParserTests {
  @Test(
    "a good request is read in whatever pieces it comes",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / [] ?- 1.1 none keep=true continue=false host=a Host=a"),
      (
        "GET /a/b%20c?x=1&y=%41?z HTTP/1.1\r\nhost: a.b:80\r\n\r\n",
        "GET /a/b%20c?x=1&y=%41?z [\"a\", \"b c\"] ?x=1&y=%41?z 1.1 none keep=true continue=false host=a.b:80 "
          + "host=a.b:80"
      ),
      (
        "\r\n\r\nGET /a/ HTTP/1.1\r\nHost:\t a \t\r\nX:\r\nConnection: Keep-Alive, CLOSE\r\n\r\n",
        "GET /a/ [\"a\", \"\"] ?- 1.1 none keep=false continue=false host=a Host=a|X=|Connection=Keep-Alive, CLOSE"
      ),
      ("GET / HTTP/1.0\r\n\r\n", "GET / [] ?- 1.0 none keep=false continue=false host=- "),
      (
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "GET / [] ?- 1.0 none keep=true continue=false host=- Connection=keep-alive"
      ),
      ("GET / HTTP/1.9\r\nHost: a\r\n\r\n", "GET / [] ?- 1.1 none keep=true continue=false host=a Host=a"),
      (
        "GET HTTP://A.b?q HTTP/1.1\r\nHost: a.B:80\r\n\r\n",
        "GET HTTP://A.b?q [] ?q 1.1 none keep=true continue=false host=A.b Host=a.B:80"
      ),
      (
        "OPTIONS * HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
        "OPTIONS * [] ?- 1.1 none keep=true continue=false host=[::1]:8080 Host=[::1]:8080"
      ),
      (
        "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n",
        "CONNECT a:443 [] ?- 1.1 none keep=true continue=false host=a:443 Host=a:443"
      ),
      (
        "GET /a%2Fb//%C3%A9 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a%2Fb//%C3%A9 [\"a/b\", \"é\"] ?- 1.1 none keep=true continue=false host=a Host=a"
      ),
    ])
  func good(input: String, expected: String) {
    let (transcript, problems) = ParserVerifier.verify(Array(input.utf8))
    #expect(problems == [])
    #expect(transcript.description == "\(expected)\nbody []\nend")
  }

  @Test(
    "a body is found by its length or in its chunks; trailers and extensions go",
    arguments: [
      "Content-Length: 5\r\n\r\nhello", "Content-Length: 0005\r\n\r\nhello",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "Transfer-Encoding: CHUNKED\r\n\r\n1\r\nh\r\n0004;a=b;c=\"d\"\r\nello\r\n00;x\r\nTrailer: 1\r\nOther:2\r\n\r\n",
    ])
  func bodies(rest: String) {
    let (transcript, problems) = ParserVerifier.verify(Array("POST / HTTP/1.1\r\nHost: a\r\n\(rest)".utf8))
    #expect(problems == [])
    #expect(transcript.lines.dropFirst() == ["body \(Array("hello".utf8))", "end"])
    #expect(transcript.failure == nil)
  }

  @Test("a head that comes again is known by its bytes, and anything else is read anew")
  func repetition() throws {
    let (get, post) = ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
    let chunked = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    let long = "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 4000))\r\n\r\n"
    let requests = [
      get, get, get.replacing("Host: a", with: "Host: b"), get, "\r\n" + get, get, post + "abc", post + "xyz", get,
      chunked + "2\r\nab\r\n0\r\n\r\n", chunked + "0\r\n\r\n", long, long, get,
    ]
    let expected = requests.flatMap { ParserVerifier.parse(Array($0.utf8), pieces: 1).lines }
    for size in [1, 3, get.utf8.count, get.utf8.count + 1, 20_000] {
      let all = ParserVerifier.parse(requests.flatMap { Array($0.utf8) }, pieces: size)
      #expect(all.lines == expected, "pieces of \(size)")
      #expect(all.failure == nil, "pieces of \(size)")
    }
    for (text, isKept) in [(get, true), (long, false)] {
      var parser = RequestParser()
      var heads: [RequestHead] = []
      Array((text + text).utf8).withUnsafeBufferPointer { bytes in
        var offset = 0
        while offset < bytes.count || !parser.isBetweenRequests {
          if case .head(let head) = parser.next(bytes, &offset) { heads.append(head) }
        }
      }
      try #require(heads.count == 2)
      #expect((heads[0] === heads[1]) == isKept)
    }
  }

  /// Puts each byte at one place of a request and returns the statuses, nil where the request was read.
  private func sweep(_ before: String, _ after: String) -> [Status?] {
    (0...255).map { byte in
      let (transcript, problems) = ParserVerifier.verify(Array(before.utf8) + [UInt8(byte)] + Array(after.utf8))
      #expect(problems == [], "byte \(byte)")
      // Line ends may leave it waiting: that is neither read nor refused.
      return transcript.failure ?? (transcript.requests == 1 ? nil : 100)
    }
  }

  private let token = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

  @Test("of all bytes a method takes the token characters and nothing else")
  func methodBytes() {
    for (byte, status) in sweep("G", "T / HTTP/1.1\r\nHost: a\r\n\r\n").enumerated() {
      #expect(status == (token.contains(UInt8(byte)) ? nil : 400), "byte \(byte)")
    }
  }

  @Test("of all bytes a target takes visible ASCII without quotes, hash, angle brackets and backslash")
  func targetBytes() {
    for (byte, status) in sweep("GET /a", "b HTTP/1.1\r\nHost: a\r\n\r\n").enumerated() {
      let isGood = (0x21...0x7E).contains(byte) && !"\"#<>\\%".utf8.contains(UInt8(byte))
      #expect(status == (isGood ? nil : 400), "byte \(byte)")
    }
  }

  @Test("of all bytes a field name takes the token characters; a colon ends it")
  func nameBytes() {
    for (byte, status) in sweep("GET / HTTP/1.1\r\nHost: a\r\nX", "Y: 1\r\n\r\n").enumerated() {
      let isGood = token.contains(UInt8(byte)) || byte == 0x3A
      #expect(status == (isGood ? nil : 400), "byte \(byte)")
    }
  }

  @Test("of all bytes a field value takes tab, space, visible ASCII and bytes from 128")
  func valueBytes() {
    for (byte, status) in sweep("GET / HTTP/1.1\r\nHost: a\r\nX: a", "b\r\n\r\n").enumerated() {
      let isGood = byte == 9 || (byte >= 0x20 && byte != 0x7F)
      #expect(status == (isGood ? nil : 400), "byte \(byte)")
    }
  }

  @Test("of all bytes a host takes letters, digits and a few marks")
  func hostBytes() {
    let good = Set("-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    for (byte, status) in sweep("GET / HTTP/1.1\r\nHost: a", "b\r\n\r\n").enumerated() {
      #expect(status == (good.contains(UInt8(byte)) ? nil : 400), "byte \(byte)")
    }
  }

  @Test("of all bytes a chunk size takes hexadecimal digits")
  func chunkSizeBytes() {
    let before = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0"
    for (byte, status) in sweep(before, "\r\n\r\n").enumerated() {
      // "0;" begins an extension; other digits make a chunk whose data is not there, or for 1 wrongly ended.
      let isGood = byte == 0x30 || byte == 0x3B
      let isDigit = "23456789abcdefABCDEF".utf8.contains(UInt8(byte))
      #expect(status == (isGood ? nil : isDigit ? 100 : 400), "byte \(byte)")
    }
  }

  @Test("limits hold to the byte")
  func limits() {
    let limits = RequestParser.Limits(line: 32, fields: 64, fieldCount: 3)
    func status(_ input: String) -> Status? {
      let (transcript, problems) = ParserVerifier.verify(Array(input.utf8), limits: RequestParser.Limits())
      #expect(problems == [])
      _ = transcript
      let small = [1, 3, input.utf8.count].map {
        ParserVerifier.parse(Array(input.utf8), pieces: $0, limits: limits)
      }
      #expect(small[0] == small[1] && small[1] == small[2])
      return small[0].failure
    }
    func line(_ size: Int) -> String {
      "GET /" + String(repeating: "a", count: size - 14) + " HTTP/1.1\r\nHost: a\r\n\r\n"
    }
    #expect(status(line(32)) == nil)
    #expect(status(line(33)) == 414)
    // Host: a CRLF is 9 bytes, X: …CRLF 5 and the value.
    func fields(_ size: Int) -> String {
      "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: size - 14) + "\r\n\r\n"
    }
    #expect(status(fields(64)) == nil)
    #expect(status(fields(67)) == 431)
    func count(_ extra: Int) -> String {
      "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: 1\r\n", count: extra) + "\r\n"
    }
    #expect(status(count(2)) == nil)
    #expect(status(count(3)) == 431)
  }

  @Test("a chunked body stops at its limit, before the exceeding chunk is read")
  func chunkLimit() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    var parser = RequestParser()
    var offset = 0
    let input = Array("\(head)4\r\nabcd\r\n2\r\nef\r\n".utf8)
    input.withUnsafeBufferPointer { input in
      _ = parser.next(input, &offset)
      parser.bodyLimit = 5
      guard case .body(let range) = parser.next(input, &offset), range.count == 4 else {
        Issue.record("no first chunk")
        return
      }
      guard case .failed(let error) = parser.next(input, &offset) else {
        Issue.record("the second chunk went through")
        return
      }
      #expect(error.status == 413)
    }
  }
}
