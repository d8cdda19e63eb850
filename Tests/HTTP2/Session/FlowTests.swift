import Testing

@testable import HTTP2

/// Windows, frame sizes, and the frames of the connection itself.
@Suite("HTTP/2 client's flow control")
struct FlowTests {
  typealias Scene = SessionScene

  /// DATA frames as `stream: bytes`, with `.` at the end of a stream; other frames by their type.
  private func summary(_ frames: [Scene.Frame]) -> [String] {
    frames.map { frame in
      switch frame.type {
      case 0: "\(frame.stream): \(frame.payload.count)\(frame.flags & 1 == 1 ? "." : "")"
      case 1: "HEADERS \(frame.stream)"
      case 3: "RST_STREAM \(frame.stream) \(frame.payload[3])"
      case 8: "WINDOW_UPDATE \(frame.stream)"
      default: "type \(frame.type)"
      }
    }
  }

  private func body(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  @Test("begins with the preface, SETTINGS without push, and room for answers; acknowledges the server's")
  func beginning() throws {
    var scene = try Scene()
    #expect(Array(scene.session.output.front.prefix(24)) == Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
    let frames = scene.frames()
    #expect(
      frames == [
        Scene.Frame(type: 4, flags: 0, stream: 0, payload: [0, 2, 0, 0, 0, 0, 0, 6, 0, 0, 128, 0]),
        Scene.Frame(type: 8, flags: 0, stream: 0, payload: Scene.word((16 << 20) - 65_535)),
        Scene.Frame(type: 4, flags: 1, stream: 0, payload: []),
      ])
  }

  @Test("a small stream window: the body is sent in parts")
  func streamWindow() throws {
    var scene = try Scene(settings: [(4, 100)])
    _ = scene.frames()
    scene.submit(1, body: body(300))
    var frames = scene.frames()
    #expect(summary(frames) == ["HEADERS 1", "1: 100"])
    try scene.receive(Scene.windowUpdate(0, 1000))
    #expect(scene.frames().isEmpty)
    try scene.receive(Scene.windowUpdate(1, 60))
    frames += scene.frames()
    #expect(summary(frames).last == "1: 60")
    // 50 more for every stream, and then 150 less than there is.
    try scene.receive(Scene.settings([(4, 150)]))
    // The acknowledgement goes first: Python's h2 counts by the old window until it hears it.
    let later = scene.frames()
    #expect(summary(later) == ["type 4", "1: 50"])
    frames += later
    try scene.receive(Scene.settings([(4, 0)]))
    try scene.receive(Scene.windowUpdate(1, 150))
    #expect(scene.frames().allSatisfy { $0.type == 4 })
    try scene.receive(Scene.windowUpdate(1, 500))
    frames += scene.frames()
    #expect(summary(frames).last == "1: 90.")
    #expect(frames.filter { $0.type == 0 }.flatMap(\.payload) == body(300))
  }

  @Test(
    "a request's own bytes stand in the gap of the common body, in one frame or through any window",
    arguments: [nil, 1, 3, 7, 16] as [UInt32?])
  func gap(window: UInt32?) throws {
    let settings: [(UInt16, UInt32)] = window.map { [(UInt16(4), $0)] } ?? []
    var scene = try Scene(settings: settings)
    _ = scene.frames()
    let template = RequestTemplate(fields: [HeaderField("content-type", "application/json")])
    var builder = RequestBatchBuilder(template: template, body: Array("{<>}".utf8), gap: 2, capacity: 4)
    for (number, own) in ["first", "", "a longer one"].enumerated() {
      builder.append(id: Int64(number), path: "/send", body: Array(own.utf8))
    }
    builder.append(id: 3, path: "/send")
    let batch = builder.build()
    for index in 0..<4 {
      let isSubmitted = scene.session.submit(batch, index, deadline: 0)
      #expect(isSubmitted)
    }
    var bodies: [Int32: [UInt8]] = [:]
    var ended: Set<Int32> = []
    for _ in 0..<40 {
      for frame in scene.frames() where frame.type == 0 {
        bodies[frame.stream, default: []] += frame.payload
        if frame.flags & 1 == 1 { ended.insert(frame.stream) }
      }
      for stream: UInt32 in [1, 3, 5, 7] where !ended.contains(Int32(stream)) {
        try scene.receive(Scene.windowUpdate(stream, 2))
      }
    }
    #expect(
      bodies.mapValues { String(decoding: $0, as: UTF8.self) } == [
        1: "{<first>}", 3: "{<>}", 5: "{<a longer one>}", 7: "{<>}",
      ])
    #expect(ended == [1, 3, 5, 7])
  }

  @Test("bodies are counted against their announced length")
  func bodyLength() throws {
    let scene = try Scene()
    scene.submit(3)
    for (stream, status, length) in [(1, "200", "5"), (3, "404", "5"), (5, "200", "6")] as [(UInt32, String, String)] {
      try scene.receive(Scene.headers(stream, [(":status", status), ("content-length", length)], end: false))
      try scene.receive(Scene.frame(0, 1, stream, Array("12345".utf8)))
    }
    let answers = scene.session.takeEnded().map { answer -> String in
      switch answer.result {
      case .answered(let status, let detail): "\(status) \(detail.map { $0.body.count } ?? 0)"
      case .notProcessed: "not processed"
      case .unknown(let cause): "\(cause)"
      }
    }
    #expect(answers == ["200 5", "404 5", "reset(\(ErrorCode.protocolError))"])
  }

  @Test("a used-up window of the connection: the bodies go on in their order, also when one was given up")
  func connectionWindow() throws {
    var scene = try Scene()
    _ = scene.frames()
    scene.submit(5, body: body(16_000))
    #expect(
      summary(scene.frames()) == [
        "HEADERS 1", "1: 16000.", "HEADERS 3", "3: 16000.", "HEADERS 5", "5: 16000.", "HEADERS 7", "7: 16000.",
        "HEADERS 9", "9: 1535",
      ])
    scene.submit(3, body: body(10))
    #expect(summary(scene.frames()) == ["HEADERS 11", "HEADERS 13", "HEADERS 15"])
    if let given = scene.session.slots.find(11) { scene.session.reset(given, .cancel, .unknown(.timeout)) }
    #expect(summary(scene.frames()) == ["RST_STREAM 11 8"])
    try scene.receive(Scene.windowUpdate(0, 14_470))
    #expect(summary(scene.frames()) == ["9: 14465.", "13: 5"])
    try scene.receive(Scene.windowUpdate(0, 100))
    #expect(summary(scene.frames()) == ["15: 10.", "13: 5."])
  }

  @Test("bodies longer than a frame go in several, of the size that the server takes")
  func frameSize() throws {
    for (settings, parts) in [([], ["1: 16384", "1: 16384", "1: 7232."]), ([(5, 30_000)], ["1: 30000", "1: 10000."])]
      as [([(UInt16, UInt32)], [String])]
    {
      var scene = try Scene(settings: settings)
      _ = scene.frames()
      scene.submit(1, body: body(40_000))
      #expect(summary(scene.frames()) == ["HEADERS 1"] + parts)
    }
  }

  @Test("an answer before the body's end: the rest is not sent, and the answer counts")
  func earlyAnswer() throws {
    var scene = try Scene(settings: [(4, 10)])
    scene.submit(1, body: body(20))
    _ = scene.frames()
    try scene.receive(Scene.headers(1, [(":status", "413")]) + Scene.reset(1, 0))
    #expect(scene.session.endings == ["0 413"])
    #expect(summary(scene.frames()) == ["RST_STREAM 1 8"])
    try scene.receive(Scene.windowUpdate(1, 100) + Scene.windowUpdate(0, 100))
    #expect(scene.frames().isEmpty)
  }

  @Test("long answers are given room, on their stream and on the connection")
  func ownWindows() throws {
    var configuration = ClientConfiguration()
    configuration.maximumAnswerBytes = 100_000
    var scene = try Scene(configuration: configuration)
    _ = scene.frames()
    let most = ClientSession.ownWindow / 2
    var updates: [String] = []
    var total = 0
    for number in 0..<100 {
      scene.submit(1)
      let stream = UInt32(number * 2 + 1)
      try scene.receive(Scene.headers(stream, [(":status", "200")], end: false))
      for part in 0..<6 {
        // A third of it is padding.
        try scene.receive(
          Scene.frame(0, part == 5 ? 9 : 8, stream, [240] + [UInt8](repeating: 1, count: 16_000 + 240)))
        total += 16_241
      }
      updates += summary(scene.frames()).filter { $0.hasPrefix("WINDOW") }
    }
    #expect(scene.session.endings.count == 100)
    #expect(updates.filter { $0 == "WINDOW_UPDATE 0" }.count == total / (most + 1))
    // After each third part; the end needs none.
    #expect(updates.filter { $0 == "WINDOW_UPDATE 1" }.count == 1)
  }

  @Test("PING is answered with its bytes; only the answer to ours counts")
  func ping() throws {
    var scene = try Scene()
    _ = scene.frames()
    try scene.receive(Scene.frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(scene.frames() == [Scene.Frame(type: 6, flags: 1, stream: 0, payload: [1, 2, 3, 4, 5, 6, 7, 8])])
    func pongs() -> Int { scene.session.notices.filter { if case .pong = $0 { true } else { false } }.count }
    scene.session.ping()
    let ours = try #require(scene.frames().first)
    try scene.receive(Scene.frame(6, 1, 0, [9, 9, 9, 9, 9, 9, 9, 9]))
    #expect(pongs() == 0)
    try scene.receive(Scene.frame(6, 1, 0, ours.payload))
    #expect(pongs() == 1)
  }

  @Test("a stream that takes long keeps its place: its number is passed over, and its answer still found")
  func straggler() throws {
    var configuration = ClientConfiguration()
    configuration.maximumStreams = 4
    var scene = try Scene(configuration: configuration)
    _ = scene.frames()
    scene.submit(1)
    var streams: [Int32] = []
    for _ in 0..<40 {
      scene.submit(1)
      let stream = try #require(scene.frames().last { $0.type == 1 }?.stream)
      streams.append(stream)
      try scene.receive(Scene.frame(1, 5, UInt32(stream), [0x88]))
    }
    #expect(Set(streams).count == 40)
    // 16 places: stream 33 has that of stream 1.
    #expect(!streams.contains(33) && streams.contains(31) && streams.contains(35))
    try scene.receive(Scene.frame(1, 5, 1, [0x88]))
    #expect(scene.session.endings.count == 41)
  }

  @Test("the last number of a stream is used, and none after it")
  func numbers() throws {
    var configuration = ClientConfiguration()
    configuration.maximumStreamID = 7
    let scene = try Scene(configuration: configuration)
    #expect(scene.submit(4))
    #expect(!scene.session.hasStreamIDs)
    #expect(!scene.submit(1))
  }
}
