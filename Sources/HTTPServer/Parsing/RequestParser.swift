import Glibc

/// Turns bytes into events: the requests of one connection, without I/O and without a clock.
///
/// Accepts pieces of any size. After a failure the parser must not be used again.
struct RequestParser {
  struct Limits: Sendable {
    /// Bytes of the request line without its end.
    var line = 8 * 1024
    /// Bytes of all fields with their line ends.
    var fields = 32 * 1024
    var fieldCount = 100
  }

  enum Event {
    /// All input is consumed, and nothing is complete.
    case needsMore
    case head(RequestHead)
    /// Bytes of the body: a part of the input of this call.
    case body(Range<Int>)
    /// The request is complete; the next one may follow.
    case end
    case failed(RequestError)
  }

  private enum Phase { case start, fields, body }

  private let limits: Limits
  private var phase = Phase.start
  private var body = BodyDecoder(.none)

  // State of an incomplete head. All positions count from its first byte.
  private var partial: [UInt8] = []
  private var lineStart = 0
  private var position = 0
  private var emptyLines = 0
  private var fieldsStart = 0
  private var line: RequestLine?
  private var fields: [RequestHead.Field] = []
  private var summary = FieldSummary()

  /// The head before, if it is short: scripts, monitors and waiting pages send theirs again and again, byte for byte.
  private var former: RequestHead?
  /// Bytes of the longest head that is kept while a connection is idle.
  private static let keptHead = 2048

  init(limits: Limits = Limits()) { self.limits = limits }

  /// Whether no request is incomplete.
  var isBetweenRequests: Bool { phase == .start && partial.isEmpty }

  /// The most bytes of a chunked body. Set it after the request's head.
  var bodyLimit: Int {
    get { body.limit }
    set { body.limit = newValue }
  }

  /// Parses `input` from `offset`, which moves past the consumed bytes.
  mutating func next(_ input: UnsafeBufferPointer<UInt8>, _ offset: inout Int) -> Event {
    if phase == .body {
      let event = body.next(input, &offset)
      if case .end = event { phase = .start }
      return event
    }
    do throws(RequestError) {
      return try head(input, &offset).map { .head($0) } ?? .needsMore
    } catch {
      return .failed(error)
    }
  }

  private mutating func head(
    _ input: UnsafeBufferPointer<UInt8>, _ offset: inout Int
  ) throws(RequestError) -> RequestHead? {
    let rest = UnsafeBufferPointer(rebasing: input[offset...])
    guard !rest.isEmpty else { return nil }
    if partial.isEmpty {
      if let former, former.begins(rest) {
        offset += former.bytes.count
        return take(former)
      }
      guard let end = try scan(rest) else {
        partial.append(contentsOf: rest)
        offset = input.count
        return nil
      }
      offset += end
      return try finish(UnsafeBufferPointer(rebasing: rest[..<end]))
    }
    // At most as much as a head can have; the rest stays in the input.
    let before = partial.count
    let room = limits.line + limits.fields + 64 - before
    partial.append(contentsOf: rest.prefix(room))
    var all: [UInt8] = []
    swap(&all, &partial)
    let end = try all.withUnsafeBufferPointer { bytes throws(RequestError) in try scan(bytes) }
    guard let end else {
      offset += all.count - before
      swap(&all, &partial)
      return nil
    }
    offset += end - before
    return try all.withUnsafeBufferPointer { bytes throws(RequestError) in
      try finish(UnsafeBufferPointer(rebasing: bytes[..<end]))
    }
  }

  /// Continues line by line; each line is checked once, when it is complete.
  ///
  /// - Returns: the length of the head when the empty line was found.
  private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) throws(RequestError) -> Int? {
    while true {
      if phase == .start, lineStart < bytes.count { try checkStart(bytes[lineStart]) }
      guard let newline = Self.newline(in: bytes, from: position) else {
        position = bytes.count
        try checkLimits(end: bytes.count, isComplete: false)
        return nil
      }
      let start = lineStart
      try checkLimits(end: newline + 1, isComplete: true)
      guard newline > start, bytes[newline - 1] == 0x0D else {
        throw RequestError(.badRequest, "A line ends without a carriage return.")
      }
      lineStart = newline + 1
      position = lineStart
      let content = start..<newline - 1
      if phase == .start {
        if content.isEmpty {
          // RFC 9112 section 2.2: at least one empty line before the request line is ignored.
          emptyLines += 1
          guard emptyLines <= 2 else {
            throw RequestError(
              .badRequest,
              "There are too many empty lines before the request.")
          }
          continue
        }
        line = try RequestLine(bytes, in: content)
        fieldsStart = lineStart
        phase = .fields
      } else if content.isEmpty {
        return lineStart
      } else {
        try readField(bytes, content)
      }
    }
  }

  private func checkStart(_ byte: UInt8) throws(RequestError) {
    guard ByteClass.isToken(byte) || byte == 0x0D || byte == 0x0A else {
      throw RequestError(.badRequest, "The request does not begin with a method.")
    }
  }

  private func checkLimits(end: Int, isComplete: Bool) throws(RequestError) {
    if phase == .start {
      guard end - lineStart <= limits.line + 2 else {
        throw RequestError(.uriTooLong, "The request line is longer than \(limits.line) bytes.")
      }
    } else {
      // The empty line at the end does not count.
      guard end - fieldsStart <= limits.fields + 2 else {
        throw RequestError(.headerFieldsTooLarge, "The header fields are longer than \(limits.fields) bytes.")
      }
    }
  }

  private mutating func readField(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) throws(RequestError) {
    guard fields.count < limits.fieldCount else {
      throw RequestError(.headerFieldsTooLarge, "There are more than \(limits.fieldCount) header fields.")
    }
    let (name, value) = try Self.field(bytes, range)
    if fields.isEmpty { fields.reserveCapacity(12) }
    fields.append(
      RequestHead.Field(
        name: UInt32(name.lowerBound), nameCount: UInt32(name.count), value: UInt32(value.lowerBound),
        valueCount: UInt32(value.count)))
    try summary.note(bytes, name: name, value: value)
  }

  /// Reads `name: value` (RFC 9112 section 5); also used for trailers.
  static func field(
    _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>
  ) throws(RequestError) -> (name: Range<Int>, value: Range<Int>) {
    var index = range.lowerBound
    while index < range.upperBound, ByteClass.isToken(bytes[index]) { index += 1 }
    guard index > range.lowerBound, index < range.upperBound, bytes[index] == UInt8(ascii: ":") else {
      let first = bytes[range.lowerBound]
      throw RequestError(
        .badRequest,
        first == 0x20 || first == 0x09
          ? "A header line begins with a space." : "A header line must be a name directly followed by a colon.")
    }
    let name = range.lowerBound..<index
    let value = FieldSummary.trim(bytes, index + 1..<range.upperBound)
    for index in value where !ByteClass.isFieldValue(bytes[index]) {
      throw RequestError(.badRequest, "A header value contains a control byte.")
    }
    return (name, value)
  }

  private mutating func finish(_ bytes: UnsafeBufferPointer<UInt8>) throws(RequestError) -> RequestHead {
    guard let line else { preconditionFailure("the fields came before the request line") }
    try summary.check(bytes, line: line)
    let framing = try summary.framing(minorVersion: line.minorVersion)
    var segments: [String] = []
    var problem = line.queryProblem(bytes)
    if !line.path.isEmpty {
      if let decoded = PercentDecoding.segments(ofPath: UnsafeBufferPointer(rebasing: bytes[line.path])) {
        segments = decoded
      } else {
        problem = RequestError(.badRequest, "The path contains an invalid escape or a “.” or “..” segment.")
      }
    }
    let head = RequestHead(
      bytes: Array(bytes), fields: fields, line: line, segments: segments, problem: problem, framing: framing,
      keepsAlive: summary.leavesOpen(minorVersion: line.minorVersion),
      expectsContinue: summary.expectsContinue && line.minorVersion > 0 && framing != .none,
      host: line.authority ?? summary.host)
    lineStart = 0
    position = 0
    emptyLines = 0
    self.line = nil
    fields = []
    summary = FieldSummary()
    former = bytes.count <= Self.keptHead ? head : nil
    return take(head)
  }

  /// The body of this head follows.
  private mutating func take(_ head: RequestHead) -> RequestHead {
    phase = .body
    body = BodyDecoder(head.framing)
    return head
  }

  private static func newline(in bytes: UnsafeBufferPointer<UInt8>, from position: Int) -> Int? {
    guard let base = bytes.baseAddress, position < bytes.count,
      let found = memchr(base + position, 0x0A, bytes.count - position)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }
}
