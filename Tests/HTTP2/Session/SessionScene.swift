@testable import HTTP2

/// A client's session without a socket: what a server would send goes in, what it would get comes out.
struct SessionScene {
  let session: ClientSession
  private var rest: [UInt8] = []
  private var hasPreface = false

  struct Frame: Equatable, CustomStringConvertible {
    var type: UInt8
    var flags: UInt8
    var stream: Int32
    var payload: [UInt8]

    var description: String {
      "type \(type) flags \(flags) stream \(stream) \(payload.count) bytes \(payload.prefix(40))"
    }
  }

  /// - Parameter settings: the server's first; nil for a session that has heard nothing yet.
  init(
    settings: [(UInt16, UInt32)]? = [], configuration: ClientConfiguration = .init()
  ) throws {
    session = ClientSession(authority: "api.example", configuration: configuration)
    session.begin()
    if let settings { try receive(Self.settings(settings)) }
  }

  /// Submits requests to `/3/device/0` and so on, with a body and a field each of their own.
  @discardableResult
  func submit(_ count: Int, template: RequestTemplate = Self.template, body: [UInt8] = Array("{}".utf8))
    -> Bool
  {
    var builder = RequestBatchBuilder(template: template, body: body, capacity: count)
    for number in 0..<count {
      builder.append(
        id: Int64(number), path: "/3/device/\(number)", values: template.variableNames.map { _ in "id-\(number)" })
    }
    let batch = builder.build()
    return (0..<count).allSatisfy { session.submit(batch, $0, deadline: 0) }
  }

  static let template = RequestTemplate(
    fields: [HeaderField("apns-topic", "com.example.app"), HeaderField("content-type", "application/json")],
    variableNames: ["apns-id"])

  func receive(_ bytes: [UInt8]) throws(SessionFailure) {
    // A copy of its own size, so that a read beyond its end is found by tools that watch memory.
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    defer { copy.deallocate() }
    _ = copy.initialize(from: bytes)
    try session.receive(UnsafeBufferPointer(copy))
  }

  /// The frames sent since the last call.
  mutating func frames() -> [Frame] {
    while session.output.count > 0 {
      rest += session.output.front
      session.output.take(session.output.front.count)
    }
    if !hasPreface, rest.count >= 24 {
      hasPreface = true
      rest.removeFirst(24)
    }
    var found: [Frame] = []
    while rest.count >= 9 {
      let length = Int(rest[0]) << 16 | Int(rest[1]) << 8 | Int(rest[2])
      guard rest.count >= 9 + length else { break }
      let stream = rest[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      found.append(
        Frame(type: rest[3], flags: rest[4], stream: Int32(bitPattern: stream), payload: Array(rest[9..<9 + length])))
      rest.removeFirst(9 + length)
    }
    return found
  }

  // MARK: What a server may send

  static func frame(_ type: UInt8, _ flags: UInt8 = 0, _ stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    RawClient.frame(type, flags, stream, payload)
  }

  static func settings(_ entries: [(UInt16, UInt32)]) -> [UInt8] {
    frame(4, 0, 0, entries.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 255)] + word($0.1) })
  }

  static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }

  static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool = true) -> [UInt8] {
    RawClient.headers(stream, fields, end: end)
  }

  static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> [UInt8] { frame(8, 0, stream, word(increment)) }

  static func goAway(_ last: UInt32, _ code: UInt32 = 0, _ debug: String = "") -> [UInt8] {
    frame(7, 0, 0, word(last) + word(code) + debug.utf8)
  }

  static func reset(_ stream: UInt32, _ code: UInt32) -> [UInt8] { frame(3, 0, stream, word(code)) }
}

extension ClientSession {
  /// What has ended, as text that a table can hold.
  var endings: [String] {
    ended.map { answer in
      switch answer.result {
      case .answered(let status, let detail):
        "\(answer.id) \(status) \(String(decoding: detail?.body ?? [], as: UTF8.self))".trimmingSuffix()
      case .notProcessed: "\(answer.id) not processed"
      case .unknown(.reset(let code)): "\(answer.id) reset \(code)"
      case .unknown(let cause): "\(answer.id) \(cause)"
      }
    }
  }
}

extension String {
  fileprivate func trimmingSuffix() -> String { hasSuffix(" ") ? String(dropLast()) : self }
}
