import TestSupport
import Testing

@testable import HTTP2

@Suite("HTTP/2 request header fields")
struct RequestHeaderTests {
  typealias Scene = SessionScene

  /// What a template's request says, in the order in which it is sent.
  private func expected(_ template: RequestTemplate, _ number: Int, shared: [HeaderField] = []) -> [String] {
    func text(_ field: FieldBytes) -> String {
      String(decoding: field.name, as: UTF8.self) + ": " + String(decoding: field.value, as: UTF8.self)
    }
    return template.pseudoFields.map(text) + (template.hasOwnAuthority ? [] : [":authority: api.example"])
      + [":path: /3/device/\(number)"] + template.fields.map(text) + shared.map { text(FieldBytes($0)) }
      + template.variableNames.map { "\($0): id-\(number)" }
  }

  @Test("match the template; equal fields cost a byte from the second request on")
  func plain() throws {
    var scene = try Scene()
    _ = scene.frames()
    let bearer = HeaderField("authorization", "bearer abc", indexing: .never)
    scene.session.encoder.shared = [FieldBytes(bearer)]
    scene.submit(4)
    let blocks = scene.frames().filter { $0.type == 1 }.map(\.payload)
    let reader = HeaderReader()
    for (number, block) in blocks.enumerated() {
      #expect(try reader.read(block) == expected(Scene.template, number, shared: [bearer]))
    }
    #expect(blocks[0].count > 100)
    // :method, :scheme, :authority: 3; path: 1 + 1 + 11; topic, type: 2; authorization: 2 + 1 + 10; id: 2 + 1 + 4.
    #expect(blocks[1].count == 38)
    #expect(blocks[2].count == blocks[1].count)
    // Apple: path and authorization without indexing; the authorization never, wherever it goes (RFC 7541 §6.2.3).
    #expect(blocks[1][3] == 0x04)
    #expect(blocks[1].contains(sequence: [0x1F, 0x08, 10] + Array("bearer abc".utf8)))
  }

  @Test("need no table where the server has none")
  func withoutTable() throws {
    var scene = try Scene(settings: [(1, 0)])
    _ = scene.frames()
    scene.submit(3)
    let blocks = scene.frames().filter { $0.type == 1 }.map(\.payload)
    let reader = HeaderReader()
    reader.resize(0)
    for (number, block) in blocks.enumerated() {
      #expect(try reader.read(block) == expected(Scene.template, number))
    }
    // RFC 7541 §4.2: the first says so.
    #expect(blocks[0].first == 0x20)
    #expect(blocks[1].first == 0x83)
  }

  @Test("announce a table that became smaller and larger again between two of them")
  func twoSizes() throws {
    var scene = try Scene()
    let reader = HeaderReader()
    scene.submit(2)
    for (number, frame) in scene.frames().filter({ $0.type == 1 }).enumerated() {
      #expect(try reader.read(frame.payload) == expected(Scene.template, number))
    }
    try scene.receive(Scene.settings([(1, 100), (1, 65_536)]))
    reader.resize(100)
    reader.resize(65_536)
    scene.submit(2)
    let blocks = scene.frames().filter { $0.type == 1 }.map(\.payload)
    // 100, then 4096, which is as much as we ever use.
    #expect(Array(blocks[0].prefix(5)) == [0x3F, 69, 0x3F, 0xE1, 0x1F])
    for (number, block) in blocks.enumerated() {
      #expect(try reader.read(block) == expected(Scene.template, number))
    }
  }

  @Test("are understood with any templates, fields of all sizes, and tables that change", arguments: 0..<40)
  func anything(seed: UInt64) throws {
    var numbers = SeededNumbers(seed: seed)
    var scene = try Scene()
    let reader = HeaderReader()
    func text(_ longest: Int) -> String {
      String(repeating: "v", count: Int.random(in: 0...longest, using: &numbers))
        + "\(UInt8.random(in: 0...9, using: &numbers))"
    }
    let templates = (0..<6).map { _ in
      RequestTemplate(
        method: ["POST", "GET", "PUT"].randomElement(using: &numbers) ?? "POST",
        authority: Bool.random(using: &numbers) ? text(20) : nil,
        fields: (0..<Int.random(in: 0...12, using: &numbers)).map { _ in
          HeaderField(
            ["content-type", "accept", "a", "x-long-name"].randomElement(using: &numbers) ?? "a",
            text([8, 90, 700, 5000].randomElement(using: &numbers) ?? 8),
            indexing: Bool.random(using: &numbers) ? .table : .never)
        }, variableNames: [[], ["apns-id"], ["apns-id", "etag"]].randomElement(using: &numbers) ?? [])
    }
    var shared: [HeaderField] = []
    for _ in 0..<60 {
      switch Int.random(in: 0..<6, using: &numbers) {
      case 0:
        let all: [UInt32] = [0, 33, 64, 200, 1000, 4096, 4097, 1 << 20]
        let sizes: [UInt32] = (0..<Int.random(in: 1...3, using: &numbers)).map { _ in
          all[Int.random(in: 0..<all.count, using: &numbers)]
        }
        try scene.receive(Scene.settings(sizes.map { (1, $0) }))
        sizes.forEach(reader.resize)
      case 1:
        shared = [HeaderField("authorization", text(200), indexing: .never)]
        scene.session.encoder.shared = shared.map(FieldBytes.init)
      default:
        guard let template = templates.randomElement(using: &numbers) else { continue }
        scene.submit(Int.random(in: 1...4, using: &numbers), template: template)
        var block: [UInt8] = []
        var number = 0
        for frame in scene.frames() where frame.type == 1 || frame.type == 9 {
          block += frame.payload
          guard frame.flags & 4 != 0 else { continue }
          #expect(try reader.read(block) == expected(template, number, shared: shared))
          number += 1
          block = []
        }
        // Places for the next ones.
        scene.session.slots.all.forEach { scene.session.end($0, .notProcessed) }
      }
    }
  }

  @Test("longer than a frame go in several")
  func longBlock() throws {
    var scene = try Scene()
    _ = scene.frames()
    var builder = RequestBatchBuilder(template: Scene.template)
    let path = "/" + String(repeating: "p", count: 40_000)
    builder.append(id: 1, path: path, values: ["A"])
    #expect(scene.session.submit(builder.build(), 0, deadline: 0))
    let frames = scene.frames()
    #expect(frames.map(\.type) == [1, 9, 9])
    #expect(frames.map(\.flags) == [1, 0, 4])
    #expect(frames.map(\.payload.count).prefix(2) == [16_384, 16_384])
    #expect(try HeaderReader().read(frames.flatMap(\.payload)).contains(":path: " + path))
  }
}

extension Array where Element: Equatable {
  func contains(sequence other: [Element]) -> Bool {
    indices.contains { self[$0...].starts(with: other) }
  }
}
