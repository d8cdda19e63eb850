/// What the fields of a head say about framing and connection, collected line by line.
struct FieldSummary {
  private(set) var host: Range<Int>?
  private(set) var expectsContinue = false
  private var hosts = 0
  private var length: Int?
  private var codings: [Coding] = []
  private var hasTransferEncoding = false
  private var closes = false
  private var keepsAlive = false
  private var expectation: RequestError?

  private enum Coding { case chunked, other, garbage }

  /// Records a field; both ranges are trimmed and already checked.
  mutating func note(
    _ bytes: UnsafeBufferPointer<UInt8>, name: Range<Int>, value: Range<Int>
  ) throws(RequestError) {
    switch name.count {
    case 4 where Self.equal(bytes, name, "host"):
      hosts += 1
      host = value
    case 6 where Self.equal(bytes, name, "expect"):
      if Self.equal(bytes, value, "100-continue") {
        expectsContinue = true
      } else {
        expectation = RequestError(.expectationFailed, "The only supported expectation is 100-continue.")
      }
    case 10 where Self.equal(bytes, name, "connection"):
      for option in Self.elements(bytes, value) {
        if Self.equal(bytes, option, "close") { closes = true }
        if Self.equal(bytes, option, "keep-alive") { keepsAlive = true }
      }
    case 14 where Self.equal(bytes, name, "content-length"):
      // RFC 9112 section 6.3 lets a server refuse equal repetitions too, and a proxy in front may not merge them.
      guard length == nil else { throw RequestError(.badRequest, "Content-Length appears more than once.") }
      length = try Self.number(bytes, value)
    case 17 where Self.equal(bytes, name, "transfer-encoding"):
      hasTransferEncoding = true
      for coding in Self.elements(bytes, value) {
        if Self.equal(bytes, coding, "chunked") {
          codings.append(.chunked)
        } else if let first = coding.first, ByteClass.isToken(bytes[first]) {
          codings.append(.other)
        } else {
          codings.append(.garbage)
        }
      }
    default: break
    }
  }

  /// The framing of RFC 9112 section 6.3; refuses everything that two readers could understand differently.
  func framing(minorVersion: UInt8) throws(RequestError) -> RequestHead.Framing {
    guard hasTransferEncoding else { return length.map { $0 == 0 ? .none : .length($0) } ?? .none }
    guard length == nil else {
      throw RequestError(.badRequest, "Content-Length and Transfer-Encoding cannot be combined.")
    }
    guard minorVersion > 0 else { throw RequestError(.badRequest, "HTTP/1.0 does not support Transfer-Encoding.") }
    guard codings.last == .chunked, codings.filter({ $0 == .chunked }).count == 1, !codings.contains(.garbage) else {
      throw RequestError(.badRequest, "chunked must be the last transfer coding and appear only once.")
    }
    guard codings.count == 1 else {
      throw RequestError(.notImplemented, "The only supported transfer coding is chunked.")
    }
    return .chunked
  }

  /// The checks that do not depend on the framing.
  func check(_ bytes: UnsafeBufferPointer<UInt8>, line: RequestLine) throws(RequestError) {
    guard hosts == 1 || (hosts == 0 && line.minorVersion == 0) else {
      throw RequestError(.badRequest, hosts == 0 ? "The Host field is missing." : "Host appears more than once.")
    }
    // Where the target names a host, RFC 9112 section 3.2.2 wants this one ignored, but it must be one (section 3.2).
    if let host, !HostName.isValid(bytes, in: host, needsPort: false) {
      throw RequestError(.badRequest, "Host is not a valid host name.")
    }
    if line.minorVersion > 0, let expectation { throw expectation }
  }

  /// RFC 9112 section 9.3.
  func leavesOpen(minorVersion: UInt8) -> Bool { minorVersion > 0 ? !closes : keepsAlive && !closes }

  /// `1*DIGIT`, at most `Int.max`; no list, sign or space.
  private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) throws(RequestError) -> Int {
    guard !range.isEmpty else { throw RequestError(.badRequest, "Content-Length is empty.") }
    var number = 0
    var overflows = false
    for index in range {
      guard ByteClass.isDigit(bytes[index]) else {
        throw RequestError(.badRequest, "Content-Length is not a decimal number.")
      }
      let (product, first) = number.multipliedReportingOverflow(by: 10)
      let (sum, second) = product.addingReportingOverflow(Int(bytes[index] &- 0x30))
      overflows = overflows || first || second
      number = sum
    }
    guard !overflows else { throw RequestError(.contentTooLarge, "Content-Length is too large.") }
    return number
  }

  /// The trimmed pieces of a comma list; empty ones stay, so that they can be refused.
  private static func elements(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> [Range<Int>] {
    var elements: [Range<Int>] = []
    var start = range.lowerBound
    for index in range.lowerBound...range.upperBound
    where index == range.upperBound || bytes[index] == UInt8(ascii: ",") {
      elements.append(trim(bytes, start..<index))
      start = index + 1
    }
    return elements
  }

  static func trim(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
    return start..<end
  }

  /// Compares with a text in lower case, ignoring case.
  @inline(__always)
  private static func equal(
    _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ text: StaticString
  ) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    var index = 0
    while index < range.count {
      if ByteClass.lowercased(bytes[range.lowerBound + index]) != text.utf8Start[index] { return false }
      index += 1
    }
    return true
  }
}
