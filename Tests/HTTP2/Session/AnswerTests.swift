import Testing

@testable import HTTP2

/// What a server answers, byte for byte, and what the client makes of it. Two requests are open, on streams 1 and 3.
@Suite("HTTP/2 answers")
struct AnswerTests {
  typealias Scene = SessionScene

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let endings: [String]
    var resets: [Int32] = []
    var testDescription: String { name }

    init(_ name: String, _ endings: [String], resets: [Int32] = [], _ bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
      self.endings = endings
      self.resets = resets
    }
  }

  static let ok = [(":status", "200")]
  static let bad = [(":status", "400")]
  static let body = Array(#"{"reason":"BadDeviceToken"}"#.utf8)

  static let good: [Case] = [
    Case("200 and nothing else", ["0 200"], Scene.frame(1, 5, 1, [0x88])),
    Case("the later first", ["1 200", "0 200"], Scene.headers(3, ok) + Scene.headers(1, ok)),
    Case(
      "a body", [#"0 400 {"reason":"BadDeviceToken"}"#], Scene.headers(1, bad, end: false) + Scene.frame(0, 1, 1, body)),
    Case(
      "a body in three parts, the last empty", ["0 400 ab"],
      Scene.headers(1, bad, end: false) + Scene.frame(0, 0, 1, [97]) + Scene.frame(0, 0, 1, [98]) + Scene.frame(0, 1, 1)
    ),
    Case(
      "padding everywhere", ["0 400 ab"],
      Scene.frame(1, 0xC, 1, [3, 0x8C, 0, 0, 0])
        + Scene.frame(0, 9, 1, [200, 97, 98] + [UInt8](repeating: 0, count: 200))),
    Case(
      "padding that leaves nothing", ["0 400"],
      Scene.headers(1, bad, end: false) + Scene.frame(0, 9, 1, [3, 0, 0, 0])),
    Case("a priority", ["0 200"], Scene.frame(1, 0x25, 1, [0, 0, 0, 3, 16, 0x88])),
    Case(
      "CONTINUATION, one of them empty", ["0 200"],
      Scene.frame(1, 1, 1, []) + Scene.frame(9, 0, 1) + Scene.frame(9, 4, 1, [0x88])),
    Case(
      "100 and 103 before", ["0 200"],
      Scene.headers(1, [(":status", "100")], end: false)
        + Scene.headers(1, [(":status", "103"), ("link", "x")], end: false)
        + Scene.headers(1, ok)),
    Case(
      "a trailer", ["0 400 ab"],
      Scene.headers(1, bad, end: false) + Scene.frame(0, 0, 1, [97, 98]) + Scene.headers(1, [("x-checksum", "1")])),
    Case(
      "the right content-length", ["0 400 ab"],
      Scene.headers(1, bad + [("content-length", "2")], end: false) + Scene.frame(0, 1, 1, [97, 98])),
    Case(
      "frames of unknown types, PRIORITY, unknown settings", ["0 200"],
      Scene.frame(10, 255, 1, [1]) + Scene.frame(255, 0, 0, body) + Scene.frame(2, 0, 9, [0, 0, 0, 1, 0])
        + Scene.settings([(99, 7)]) + Scene.headers(1, ok)),
    Case("REFUSED_STREAM", ["0 not processed"], Scene.reset(1, 7)),
    Case(
      "REFUSED_STREAM after it began to answer", ["0 reset REFUSED_STREAM"],
      Scene.headers(1, bad, end: false) + Scene.reset(1, 7)),
    Case(
      "another reset, and one after the end", ["0 reset INTERNAL_ERROR", "1 200"],
      Scene.reset(1, 2) + Scene.headers(3, ok) + Scene.reset(3, 0) + Scene.windowUpdate(3, 9)),
    Case(
      "GOAWAY: what stands above it was not processed", ["1 not processed", "0 200"],
      Scene.goAway(1) + Scene.headers(3, ok) + Scene.headers(1, ok)),
    Case(
      "a warning GOAWAY, then the last", ["0 200", "1 200"],
      Scene.goAway(0x7FFF_FFFF) + Scene.goAway(3, 0, #"{"reason":"Shutdown"}"#) + Scene.headers(1, ok)
        + Scene.headers(3, ok)),
  ]

  static let malformed: [Case] = [
    ("no :status", [("server", "x")]), (":status twice", [(":status", "200"), (":status", "200")]),
    (":status of two digits", [(":status", "20")]), (":status of letters", [(":status", "2oo")]),
    (":status 099", [(":status", "099")]), (":status after a field", [("server", "x"), (":status", "200")]),
    ("a pseudo-field of requests", [(":status", "200"), (":path", "/")]), ("101", [(":status", "101")]),
    ("an unknown pseudo-field", [(":status", "200"), (":colour", "red")]),
    ("capitals", [(":status", "200"), ("Server", "x")]), ("a name of nothing", [(":status", "200"), ("", "x")]),
    ("a space in a name", [(":status", "200"), ("a b", "x")]),
    ("a line break", [(":status", "200"), ("a", "x\r\ny: z")]),
    ("NUL", [(":status", "200"), ("a", "x\0")]), ("a space at the end", [(":status", "200"), ("a", "x ")]),
    ("connection", [(":status", "200"), ("connection", "close")]),
    ("transfer-encoding", [(":status", "200"), ("transfer-encoding", "chunked")]),
    ("content-length of a missing body", [(":status", "200"), ("content-length", "2")]),
    ("content-length twice", [(":status", "200"), ("content-length", "0"), ("content-length", "0")]),
    ("content-length -1", [(":status", "200"), ("content-length", "-1")]),
    ("a 1xx that ends the stream", [(":status", "103")]),
  ].map { Case($0.0, ["0 reset PROTOCOL_ERROR", "1 200"], resets: [1], Scene.headers(1, $0.1) + Scene.headers(3, ok)) }

  static let broken: [Case] = [
    Case("DATA before HEADERS", ["0 reset PROTOCOL_ERROR"], resets: [1], Scene.frame(0, 1, 1, [1])),
    Case(
      "a body longer than announced", ["0 reset PROTOCOL_ERROR"], resets: [1],
      Scene.headers(1, bad + [("content-length", "1")], end: false) + Scene.frame(0, 1, 1, [97, 98])),
    Case(
      "a trailer that does not end the stream", ["0 reset PROTOCOL_ERROR"], resets: [1],
      Scene.headers(1, bad, end: false) + Scene.headers(1, [("x", "y")], end: false)),
    Case(
      "a trailer with :status", ["0 reset PROTOCOL_ERROR"], resets: [1],
      Scene.headers(1, bad, end: false) + Scene.headers(1, ok)),
    Case("WINDOW_UPDATE of 0", ["0 reset PROTOCOL_ERROR"], resets: [1], Scene.windowUpdate(1, 0)),
    Case(
      "WINDOW_UPDATE beyond 2^31-1", ["0 reset FLOW_CONTROL_ERROR"], resets: [1], Scene.windowUpdate(1, 0x7FFF_FFFF)),
    Case(
      "header fields of 40 KB", ["0 tooLong"], resets: [1],
      Scene.frame(1, 1, 1, [0x88] + [0, 1, 97, 0x7F, 0xA1, 0x1E] + [UInt8](repeating: 97, count: 4000))
        + (1...3).flatMap { part in
          Scene.frame(
            9, part == 3 ? 4 : 0, 1,
            (0..<6).flatMap { _ in
              [0, 1, 97, 0x7F, 0xA1, 0x0E] + [UInt8](repeating: 97, count: 1952)
            })
        }),
    Case(
      "answers go on after a reset, and are dropped", ["0 reset PROTOCOL_ERROR", "1 200"], resets: [1],
      Scene.frame(0, 0, 1, [1]) + Scene.headers(1, ok, end: false) + Scene.frame(0, 1, 1, body) + Scene.headers(3, ok)),
  ]

  @Test("are parsed however the bytes are cut", arguments: good + malformed + broken)
  func understood(_ test: Case) throws {
    // In one piece, byte by byte, and cut once at every place.
    var whole = try Scene()
    whole.submit(2)
    _ = whole.frames()
    try whole.receive(test.bytes)
    #expect(whole.session.endings == test.endings)
    let frames = whole.frames()
    #expect(frames.filter { $0.type == 3 }.map(\.stream) == test.resets)
    let cuts =
      test.bytes.count > 2000
      ? Array(stride(from: 1, to: test.bytes.count, by: 97)) : Array(1..<max(2, test.bytes.count))
    for cut in cuts {
      var scene = try Scene()
      scene.submit(2)
      _ = scene.frames()
      try scene.receive(Array(test.bytes[..<cut]))
      try scene.receive(Array(test.bytes[cut...]))
      #expect(scene.session.endings == test.endings, "cut at \(cut)")
      #expect(scene.frames() == frames, "cut at \(cut)")
    }
    var slow = try Scene()
    slow.submit(2)
    _ = slow.frames()
    for byte in test.bytes { try slow.receive([byte]) }
    #expect(slow.session.endings == test.endings)
    #expect(slow.frames() == frames)
  }

  @Test("keep the fields of failures, those of trailers too, and of success only if asked")
  func fields() throws {
    for (keeps, status, expected) in [(false, "200", nil), (true, "200", "5"), (false, "429", "5")]
      as [(Bool, String, String?)]
    {
      var configuration = ClientConfiguration()
      configuration.keepsFieldsOfSuccess = keeps
      let scene = try Scene(configuration: configuration)
      scene.submit(1)
      try scene.receive(
        Scene.headers(1, [(":status", status), ("retry-after", "5")], end: false) + Scene.headers(1, [("x-end", "yes")])
      )
      guard case .answered(_, let detail)? = scene.session.ended.first?.result else {
        Issue.record("no answer")
        continue
      }
      #expect(detail?.fields["retry-after"] == expected)
      #expect(detail?.fields["x-end"] == expected.map { _ in "yes" })
    }
  }

  @Test("fields in the connection's table are found again, also after a skipped block")
  func dynamicTable() throws {
    let scene = try Scene()
    scene.submit(3)
    if let first = scene.session.slots.find(1) { scene.session.reset(first, .cancel, .unknown(.timeout)) }
    // "retry-after: 7" goes into the table with the answer to a request that was given up.
    try scene.receive(Scene.frame(1, 5, 1, [0x88, 0x40, 11] + Array("retry-after".utf8) + [1, 55]))
    try scene.receive(Scene.frame(1, 5, 3, [0x8E, 0xBE]))
    guard case .answered(500, let detail)? = scene.session.ended.last?.result else {
      Issue.record("no answer")
      return
    }
    #expect(detail?.fields["retry-after"] == "7")
  }
}
