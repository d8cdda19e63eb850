import Testing

@testable import HTTP2

/// What a server must not do (RFC 9113), byte for byte, and what the client does about it. Two requests are open, on
/// streams 1 and 3, and stream 5 is given up before the bytes come.
@Suite("HTTP/2 client and a server that breaks the rules")
struct HostileServerTests {
  typealias Scene = SessionScene

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let code: ErrorCode
    var testDescription: String { name }

    init(_ name: String, _ code: ErrorCode, _ bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
      self.code = code
    }
  }

  private func scene() throws -> Scene {
    var scene = try Scene()
    scene.submit(3)
    if let third = scene.session.slots.find(5) { scene.session.reset(third, .cancel, .unknown(.timeout)) }
    scene.session.ended.removeAll()
    _ = scene.frames()
    return scene
  }

  static let ok = [(":status", "200")]

  static let fatal: [Case] = [
    Case("a frame of 16 385 bytes", .frameSizeError, Scene.frame(0, 0, 1, [UInt8](repeating: 0, count: 16_385))),
    Case("the header of a frame of 16 MB", .frameSizeError, [255, 255, 255, 250, 0, 0, 0, 0, 0]),
    Case("DATA on stream 0", .protocolError, Scene.frame(0, 1, 0, [1])),
    Case("DATA on a stream that was never opened", .protocolError, Scene.frame(0, 1, 7, [1])),
    Case("DATA on a stream of the server's", .protocolError, Scene.frame(0, 1, 2, [1])),
    Case("DATA with nothing but padding", .protocolError, Scene.frame(0, 8, 1, [1])),
    Case("DATA with more padding than bytes", .protocolError, Scene.frame(0, 8, 1, [4, 0, 0, 0])),
    Case("padded DATA without its length", .frameSizeError, Scene.frame(0, 8, 1)),
    Case("HEADERS on stream 0", .protocolError, Scene.headers(0, ok)),
    Case(
      "HEADERS on stream 0 when the first stream has ended", .protocolError,
      Scene.headers(1, ok) + Scene.headers(0, ok)),
    Case("HEADERS on a stream that was never opened", .protocolError, Scene.headers(7, ok)),
    Case("HEADERS on a stream of the server's", .protocolError, Scene.headers(2, ok)),
    Case("HEADERS too short for their priority", .frameSizeError, Scene.frame(1, 0x25, 1, [0, 0, 0, 0])),
    Case("HEADERS with more padding than bytes", .protocolError, Scene.frame(1, 0xD, 1, [3, 0x88, 0])),
    Case("HEADERS after the end", .streamClosed, Scene.headers(1, ok) + Scene.headers(1, ok)),
    Case("DATA after the end", .streamClosed, Scene.headers(1, ok) + Scene.frame(0, 1, 1, [1])),
    Case("an index beyond the tables", .compressionError, Scene.frame(1, 5, 1, [0x88, 0xFE])),
    Case("index 0", .compressionError, Scene.frame(1, 5, 1, [0x80])),
    Case("half a field", .compressionError, Scene.frame(1, 5, 1, [0x88, 0x40, 5, 0x61])),
    Case(
      "Huffman code with an end in it", .compressionError,
      Scene.frame(1, 5, 1, [0x88, 0x00, 0x84, 255, 255, 255, 255, 0])),
    Case("a table larger than we allow", .compressionError, Scene.frame(1, 5, 1, [0x3F, 0xE2, 0x1F, 0x88])),
    Case("a number without end", .compressionError, Scene.frame(1, 5, 1, [0x7F] + [UInt8](repeating: 255, count: 12))),
    Case("bad fields on a stream that was given up", .compressionError, Scene.frame(1, 5, 5, [0x80])),
    Case("PRIORITY on stream 0", .protocolError, Scene.frame(2, 0, 0, [0, 0, 0, 0, 0])),
    Case("PRIORITY of 4 bytes", .frameSizeError, Scene.frame(2, 0, 1, [0, 0, 0, 0])),
    Case("RST_STREAM on stream 0", .protocolError, Scene.reset(0, 8)),
    Case("RST_STREAM on a stream that was never opened", .protocolError, Scene.reset(7, 8)),
    Case("RST_STREAM of 3 bytes", .frameSizeError, Scene.frame(3, 0, 1, [0, 0, 8])),
    Case("SETTINGS on a stream", .protocolError, Scene.frame(4, 0, 1)),
    Case("SETTINGS of 5 bytes", .frameSizeError, Scene.frame(4, 0, 0, [0, 3, 0, 0, 0])),
    Case("an acknowledgement with bytes", .frameSizeError, Scene.frame(4, 1, 0, [0, 3, 0, 0, 0, 1])),
    Case("a second acknowledgement", .protocolError, Scene.frame(4, 1) + Scene.frame(4, 1)),
    Case("ENABLE_PUSH 1", .protocolError, Scene.settings([(2, 1)])),
    Case("ENABLE_PUSH 2", .protocolError, Scene.settings([(2, 2)])),
    Case("a window of 2^31", .flowControlError, Scene.settings([(4, 0x8000_0000)])),
    Case("frames of 16 383 bytes", .protocolError, Scene.settings([(5, 16_383)])),
    Case("frames of 2^24 bytes", .protocolError, Scene.settings([(5, 1 << 24)])),
    Case(
      "a window that overflows by SETTINGS", .flowControlError,
      Scene.windowUpdate(1, 1 << 20) + Scene.settings([(4, 0x7FFF_FFFF)])),
    Case("PUSH_PROMISE", .protocolError, Scene.frame(5, 4, 1, [0, 0, 0, 2, 0x88])),
    Case("PING on a stream", .protocolError, Scene.frame(6, 0, 1, [UInt8](repeating: 0, count: 8))),
    Case("PING of 7 bytes", .frameSizeError, Scene.frame(6, 0, 0, [UInt8](repeating: 0, count: 7))),
    Case("GOAWAY on a stream", .protocolError, Scene.frame(7, 0, 1, Scene.word(0) + Scene.word(0))),
    Case("GOAWAY of 7 bytes", .frameSizeError, Scene.frame(7, 0, 0, [UInt8](repeating: 0, count: 7))),
    Case("a GOAWAY that is taken back", .protocolError, Scene.goAway(1) + Scene.goAway(3)),
    Case("WINDOW_UPDATE of 3 bytes", .frameSizeError, Scene.frame(8, 0, 0, [0, 0, 1])),
    Case("WINDOW_UPDATE of 0 for the connection", .protocolError, Scene.windowUpdate(0, 0)),
    Case("WINDOW_UPDATE beyond 2^31-1 for the connection", .flowControlError, Scene.windowUpdate(0, 0x7FFF_FFFF)),
    Case("WINDOW_UPDATE for a stream that was never opened", .protocolError, Scene.windowUpdate(7, 1)),
    Case("CONTINUATION without HEADERS", .protocolError, Scene.frame(9, 4, 1, [0x88])),
    Case("CONTINUATION on another stream", .protocolError, Scene.frame(1, 1, 1, [0x88]) + Scene.frame(9, 4, 3)),
    Case(
      "PING between HEADERS and CONTINUATION", .protocolError,
      Scene.frame(1, 1, 1, [0x88]) + Scene.frame(6, 0, 0, [UInt8](repeating: 0, count: 8))),
    Case(
      "an unknown frame between HEADERS and CONTINUATION", .protocolError,
      Scene.frame(1, 1, 1, [0x88]) + Scene.frame(200, 0, 0)),
    Case(
      "CONTINUATION without end", .enhanceYourCalm,
      Scene.frame(1, 1, 1, [0x88]) + (0..<40).flatMap { _ in Scene.frame(9, 0, 1) }),
    Case(
      "header fields of 80 KB", .enhanceYourCalm,
      Scene.frame(1, 1, 1, [0x88]) + (0..<5).flatMap { _ in Scene.frame(9, 0, 1, [UInt8](repeating: 0, count: 16_000)) }
    ),
    Case("HTTP/1.1", .frameSizeError, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
  ]

  @Test("closes the connection with a reason, and leaves the open requests to be ended", arguments: fatal)
  func ends(_ test: Case) throws {
    var scene = try scene()
    let failure = #expect(throws: SessionFailure.self) { try scene.receive(test.bytes) }
    #expect(failure?.code == test.code)
    #expect(failure?.message.isEmpty == false)
    let goodbye = scene.frames().last
    #expect(goodbye?.type == 7)
    #expect(goodbye.map { Array($0.payload[4...]) } == Scene.word(test.code.rawValue))
  }

  static let first: [Case] = [
    Case("an acknowledgement", .protocolError, Scene.frame(4, 1)),
    Case("PING", .protocolError, Scene.frame(6, 0, 0, [UInt8](repeating: 0, count: 8))),
    Case("an unknown frame", .protocolError, Scene.frame(77)),
    Case("HEADERS", .protocolError, Scene.headers(1, ok)),
  ]

  @Test("a connection begins with SETTINGS", arguments: first)
  func begins(_ test: Case) throws {
    let scene = try Scene(settings: nil)
    let failure = #expect(throws: SessionFailure.self) { try scene.receive(test.bytes) }
    #expect(failure == SessionFailure(.protocolError, "did not start with SETTINGS"))
  }
}
