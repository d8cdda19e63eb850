import OpenSSL

/// Every way known to us in which a server or something in its place ends a connection or a request without an answer.
extension Misdeed {
  private static let settings = RawClient.frame(4, 0, 0, [])

  private static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }

  private static func setting(_ id: UInt8, _ value: UInt32) -> [UInt8] {
    RawClient.frame(4, 0, 0, [0, id] + word(value))
  }

  private static func goAway(_ last: UInt32, _ code: UInt32) -> [UInt8] {
    RawClient.frame(7, 0, 0, word(last) + word(code))
  }

  /// Closed, cut or announced before a request was taken.
  private static let connections: [Misdeed] =
    [
      Misdeed("closes TCP at once") { ($0.alpn, $0.greeting, $0.end) = (nil, [], (true, .close)) },
      Misdeed("resets TCP at once") { ($0.alpn, $0.greeting, $0.end) = (nil, [], (true, .reset)) },
      Misdeed("accepts TCP and is silent") {
        ($0.alpn, $0.greeting, $0.end, $0.takesTime) = (nil, [], (true, .silence), true)
      },
      Misdeed("plain HTTP") {
        ($0.alpn, $0.end) = (nil, (true, .close))
        $0.greeting = Array("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".utf8)
      },
      Misdeed("garbage in place of TLS") {
        ($0.alpn, $0.greeting, $0.end) = (nil, [UInt8](repeating: 0xa5, count: 300), (true, .close))
      },
      Misdeed("a TLS alert") { ($0.alpn, $0.greeting, $0.end) = (nil, [21, 3, 3, 0, 2, 2, 80], (true, .close)) },
      Misdeed("half a TLS record") { ($0.alpn, $0.greeting, $0.end) = (nil, [22, 3, 3], (true, .close)) },
      Misdeed("speaks HTTP/1.1 only") { $0.alpn = ["http/1.1"] },
      Misdeed("names no protocol") { $0.alpn = [] },
      Misdeed("TLS, then a clean end") { ($0.greeting, $0.end) = ([], (true, .close)) },
      Misdeed("TLS, then a reset") { ($0.greeting, $0.end) = ([], (true, .reset)) },
      Misdeed("TLS, then silence") { ($0.greeting, $0.end, $0.takesTime) = ([], (true, .silence), true) },
      Misdeed("SETTINGS, then a clean end") { $0.end = (true, .close) },
      Misdeed("SETTINGS, then a reset") { $0.end = (true, .reset) },
      Misdeed("half SETTINGS, then an end") { ($0.greeting, $0.end) = ([0, 0, 6, 4], (true, .close)) },
      Misdeed("certificate of a stranger") { $0.identity = { _ in try TestAuthority().identity() } },
      Misdeed("certificate that has expired") { $0.identity = { try $0.identity(days: -1) } },
      Misdeed("certificate of another host") {
        $0.identity = { try $0.identity("other.example", names: ["other.example"]) }
      },
    ]
    + (0...13).map { code in
      Misdeed("GOAWAY \(code) before any request") {
        ($0.greeting, $0.end) = (settings + goAway(0, UInt32(code)), (true, .close))
      }
    }

  /// Breaks of the protocol as soon as it is open.
  private static let violations: [Misdeed] = [
    ("HTTP/1.1 within TLS", Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8)),
    ("garbage within TLS", [UInt8](repeating: 0xff, count: 64)),
    ("no SETTINGS first", RawClient.frame(6, 0, 0, [UInt8](repeating: 0, count: 8))),
    ("ENABLE_PUSH", setting(2, 1)), ("a frame size of 1", setting(5, 1)), ("a window beyond 2^31", setting(4, 1 << 31)),
    ("SETTINGS of 5 bytes", RawClient.frame(4, 0, 0, [0, 1, 2, 3, 4])),
    ("SETTINGS on a stream", RawClient.frame(4, 0, 1, [])),
    ("a frame of 16 MB", settings + [255, 255, 255, 0, 0, 0, 0, 0, 1]),
    ("a PUSH_PROMISE", settings + RawClient.frame(5, 4, 1, [0, 0, 0, 2])),
    ("DATA for a stream that was never opened", settings + RawClient.frame(0, 1, 99, [1])),
    ("an answer on an even stream", settings + RawClient.headers(2, [(":status", "200")])),
    ("a reset of a stream that was never opened", settings + RawClient.frame(3, 0, 99, word(8))),
    ("a WINDOW_UPDATE of 0", settings + RawClient.frame(8, 0, 0, word(0))),
    ("windows that overflow", settings + RawClient.frame(8, 0, 0, word(0x7fff_ffff))),
    ("a CONTINUATION of nothing", settings + RawClient.frame(9, 4, 1, [])),
    ("a PING of 3 bytes", settings + RawClient.frame(6, 0, 0, [1, 2, 3])),
    ("a flood of SETTINGS", settings + (0..<30_000).flatMap { _ in settings }),
    (
      "a flood of PINGs",
      settings + (0..<30_000).flatMap { _ in RawClient.frame(6, 0, 0, [UInt8](repeating: 1, count: 8)) }
    ),
  ].map { name, bytes in Misdeed(name) { $0.greeting = bytes } }

  /// Takes requests, and does not answer them.
  private static let requests: [Misdeed] =
    (0...13).map { code in
      Misdeed("reset \(code) of each request") { $0.answer = { RawClient.frame(3, 0, $0, word(UInt32(code))) } }
    }
    + [0, 2, 11].map { code in
      Misdeed("GOAWAY \(code) at the first request") {
        $0.answer = { _ in goAway(0, UInt32(code)) }
        $0.end = (false, .close)
      }
    } + [
      Misdeed("a clean end at the first request") { $0.end = (false, .close) },
      Misdeed("a reset at the first request") { $0.end = (false, .reset) },
      Misdeed("an end within the header fields") {
        ($0.answer, $0.end) = ({ Array(RawClient.headers($0, [(":status", "200")]).dropLast(3)) }, (false, .close))
      },
      Misdeed("an end before the body") {
        ($0.answer, $0.end) = ({ RawClient.headers($0, [(":status", "200")], end: false) }, (false, .close))
      },
      Misdeed("an end within the body") {
        $0.answer = {
          RawClient.headers($0, [(":status", "200")], end: false) + RawClient.frame(0, 0, $0, [123])
        }
        $0.end = (false, .reset)
      },
      Misdeed("silence after the request") { $0.takesTime = true },
      Misdeed("fields, and no end") {
        ($0.answer, $0.takesTime) = ({ RawClient.headers($0, [(":status", "200")], end: false) }, true)
      },
      Misdeed("1xx for ever") {
        $0.answer = { stream in
          (0..<30_000).flatMap { _ in RawClient.headers(stream, [(":status", "103")], end: false) }
        }
      },
      Misdeed("101") { $0.answer = { RawClient.headers($0, [(":status", "101")], end: false) } },
      Misdeed("no status") { $0.answer = { RawClient.headers($0, [("x", "y")]) } },
      Misdeed("two statuses") { $0.answer = { RawClient.headers($0, [(":status", "200"), (":status", "200")]) } },
      Misdeed("a field in capitals") { $0.answer = { RawClient.headers($0, [(":status", "200"), ("X", "y")]) } },
      Misdeed("fields of HTTP/1.1") {
        $0.answer = { RawClient.headers($0, [(":status", "200"), ("connection", "close")]) }
      },
      Misdeed("fields of 60 kB") {
        $0.answer = { stream in
          let fields = (0..<300).map { ("field-\($0)", String(repeating: "x", count: 120)) }
          let block = RawClient.headers(stream, [(":status", "200")] + fields).dropFirst(9)
          let parts = stride(from: 0, to: block.count, by: 16_000).map { Array(block.dropFirst($0).prefix(16_000)) }
          return parts.enumerated().flatMap { place, part in
            RawClient.frame(place == 0 ? 1 : 9, (place == 0 ? 1 : 0) | (place == parts.count - 1 ? 4 : 0), stream, part)
          }
        }
      },
      Misdeed("CONTINUATION for ever") {
        $0.answer = { stream in
          RawClient.frame(1, 0, stream, [0x88]) + (0..<64).flatMap { _ in RawClient.frame(9, 0, stream, []) }
        }
      },
      Misdeed("fields that cannot be decompressed") { $0.answer = { RawClient.frame(1, 5, $0, [0xff, 0xff, 0xff]) } },
      Misdeed("a body before its fields") { $0.answer = { RawClient.frame(0, 1, $0, [1]) } },
      Misdeed("a body that is too long") {
        $0.answer = { stream in
          RawClient.headers(stream, [(":status", "200")], end: false)
            + (0..<5).flatMap { _ in RawClient.frame(0, 0, stream, [UInt8](repeating: 32, count: 16_000)) }
        }
      },
      Misdeed("a body of another length") {
        $0.answer = {
          RawClient.headers($0, [(":status", "200"), ("content-length", "5")], end: false)
            + RawClient.frame(0, 1, $0, [1])
        }
      },
      Misdeed("an answer to another stream") { $0.answer = { RawClient.headers($0 + 1000, [(":status", "200")]) } },
      Misdeed("no streams at all") { ($0.greeting, $0.takesTime) = (setting(3, 0), true) },
      Misdeed("a window of 0") { ($0.greeting, $0.takesTime) = (setting(4, 0), true) },
      Misdeed("one byte of an answer") { ($0.answer, $0.takesTime) = ({ _ in [0] }, true) },
    ]

  static let all = connections + violations + requests
}
