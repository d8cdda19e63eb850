import OpenSSL
import Text

/// Splits `multipart/form-data` into parts (RFC 7578, RFC 2046 section 5.1), however the bytes are cut into pieces.
struct MultipartParser {
  enum Event: Equatable {
    case part(MultipartPart)
    case data([UInt8])
    case partEnd
    case end
  }

  private enum State {
    /// Before the first boundary, at the start of a line.
    case preamble
    /// After a boundary: a line end or two hyphens.
    case boundaryEnd
    case header
    case content(isAtStart: Bool)
    case epilogue
  }

  private let limits: MultipartLimits
  /// `\r\n--boundary`.
  private let delimiter: [UInt8]
  private var state = State.preamble
  private var buffer: [UInt8]
  private var start = 0
  private var headers: [(name: String, value: String)] = []
  private var headerBytes = 0
  private var partBytes = 0
  private var parts = 0

  init(boundary: String, limits: MultipartLimits) {
    self.limits = limits
    delimiter = Array("\r\n--\(boundary)".utf8)
    // A leading line end, because the first boundary may stand at the very beginning.
    buffer = [0x0D, 0x0A]
  }

  /// The boundary of a content type: 1 to 70 bytes allowed by RFC 2046.
  static func boundary(ofContentType text: String?) -> String? {
    guard let text, let type = FieldParameters(text), type.value == "multipart/form-data",
      let boundary = type["boundary"], (1...70).contains(boundary.utf8.count), boundary.utf8.last != 0x20,
      boundary.utf8.allSatisfy({ ByteClass.isAlphanumeric($0) || "'()+_,-./:=? ".utf8.contains($0) })
    else { return nil }
    return boundary
  }

  mutating func feed(_ bytes: [UInt8]) throws(HTTPError) -> [Event] {
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
    var events: [Event] = []
    while try step(&events) {}
    return events
  }

  /// Ends the input.
  func finish() throws(HTTPError) {
    guard case .epilogue = state else {
      throw HTTPError(.badRequest, "The multipart body ends before its last boundary.")
    }
  }

  /// - Returns: whether there may be more to parse.
  private mutating func step(_ events: inout [Event]) throws(HTTPError) -> Bool {
    switch state {
    case .preamble:
      if let found = buffer.offset(of: delimiter, from: start) {
        start = found + delimiter.count
        state = .boundaryEnd
        return true
      }
      start = max(start, buffer.count - delimiter.count + 1)
      return false
    case .boundaryEnd: return try boundaryEnd(&events)
    case .header: return try header(&events)
    case .content(let isAtStart): return try content(isAtStart: isAtStart, &events)
    case .epilogue:
      start = buffer.count
      return false
    }
  }

  private mutating func boundaryEnd(_ events: inout [Event]) throws(HTTPError) -> Bool {
    // Space between boundary and line end is allowed, though never sent.
    while start < buffer.count, buffer[start] == 0x20 || buffer[start] == 0x09 { start += 1 }
    guard buffer.count - start >= 2 else { return false }
    switch (buffer[start], buffer[start + 1]) {
    case (UInt8(ascii: "-"), UInt8(ascii: "-")):
      state = .epilogue
      events.append(.end)
    case (0x0D, 0x0A):
      parts += 1
      guard parts <= limits.parts else {
        throw HTTPError(.contentTooLarge, "The form has more than \(limits.parts) parts.")
      }
      headers = []
      headerBytes = 0
      state = .header
    default: throw HTTPError(.badRequest, "There is unexpected text after a boundary.")
    }
    start += 2
    return true
  }

  private mutating func header(_ events: inout [Event]) throws(HTTPError) -> Bool {
    guard let end = buffer.offset(of: [0x0D, 0x0A], from: start) else {
      guard buffer.count - start + headerBytes <= limits.headerBytes else { throw headersTooLarge }
      return false
    }
    let line = buffer[start..<end]
    headerBytes += line.count + 2
    guard headerBytes <= limits.headerBytes else { throw headersTooLarge }
    start = end + 2
    guard line.isEmpty else {
      let name = line.prefix(while: ByteClass.isToken)
      let value = line.dropFirst(name.count + 1)
      guard !name.isEmpty, line.dropFirst(name.count).first == UInt8(ascii: ":"),
        value.allSatisfy(ByteClass.isFieldValue)
      else { throw HTTPError(.badRequest, "A part has a malformed header line.") }
      headers.append(
        (
          String(decoding: name, as: UTF8.self).lowercased(),
          String(String(decoding: value, as: UTF8.self).trimmedOfSpace)
        ))
      return true
    }
    guard let part = MultipartPart(headers: headers) else {
      throw HTTPError(.badRequest, "A part has no field name.")
    }
    events.append(.part(part))
    partBytes = 0
    state = .content(isAtStart: true)
    return true
  }

  private var headersTooLarge: HTTPError {
    HTTPError(.headerFieldsTooLarge, "The headers of a part are longer than \(limits.headerBytes) bytes.")
  }

  private mutating func content(isAtStart: Bool, _ events: inout [Event]) throws(HTTPError) -> Bool {
    if isAtStart {
      // A part may end with its headers: then the empty line belongs to the boundary.
      let bare = delimiter.dropFirst(2)
      let first = buffer[start...].prefix(bare.count)
      if bare.starts(with: first) {
        guard first.count == bare.count else { return false }
        start += bare.count
        state = .boundaryEnd
        events.append(.partEnd)
        return true
      }
      state = .content(isAtStart: false)
    }
    let found = buffer.offset(of: delimiter, from: start)
    // Keep back what could be the beginning of a boundary.
    let end = found ?? max(start, buffer.count - delimiter.count + 1)
    partBytes += end - start
    guard partBytes <= limits.partBytes else {
      throw HTTPError(.contentTooLarge, "A part is longer than \(limits.partBytes) bytes.")
    }
    if end > start { events.append(.data(Array(buffer[start..<end]))) }
    start = end
    guard found != nil else { return false }
    events.append(.partEnd)
    start += delimiter.count
    state = .boundaryEnd
    return true
  }
}
