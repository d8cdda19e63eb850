extension RequestLine {
  /// Reads `method SP target SP version` (RFC 9112 section 3) with single spaces.
  ///
  /// - Parameters:
  ///   - bytes: the head so far.
  ///   - range: the line without its end.
  init(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>) throws(RequestError) {
    var position = range.lowerBound
    while position < range.upperBound, ByteClass.isToken(bytes[position]) { position += 1 }
    guard position > range.lowerBound, position < range.upperBound, bytes[position] == 0x20 else {
      throw RequestError(.badRequest, "The request line does not begin with a method and one space.")
    }
    let method = String(decoding: UnsafeBufferPointer(rebasing: bytes[range.lowerBound..<position]), as: UTF8.self)
    self.method = Method(rawValue: method)
    position += 1
    let start = position
    var question: Int?
    while position < range.upperBound, bytes[position] != 0x20 {
      let byte = bytes[position]
      guard ByteClass.isTarget(byte) else {
        throw RequestError(.badRequest, "The target contains a byte that must be percent-encoded.")
      }
      if byte == UInt8(ascii: "?"), question == nil { question = position }
      position += 1
    }
    target = start..<position
    guard position < range.upperBound, position > start else {
      throw RequestError(.badRequest, "The request line has no target and version.")
    }
    minorVersion = try Self.version(bytes, in: position + 1..<range.upperBound)
    path = start..<start
    query = nil
    authority = nil
    try readTarget(bytes, question: question)
  }

  private static func version(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>) throws(RequestError) -> UInt8 {
    let start = range.lowerBound
    guard range.count == 8, bytes[start] == UInt8(ascii: "H"), bytes[start + 1] == UInt8(ascii: "T"),
      bytes[start + 2] == UInt8(ascii: "T"), bytes[start + 3] == UInt8(ascii: "P"),
      bytes[start + 4] == UInt8(ascii: "/"), ByteClass.isDigit(bytes[start + 5]),
      bytes[start + 6] == UInt8(ascii: "."), ByteClass.isDigit(bytes[start + 7])
    else { throw RequestError(.badRequest, "The request line does not end with an HTTP version.") }
    guard bytes[start + 5] == UInt8(ascii: "1") else {
      throw RequestError(.versionNotSupported, "This server supports HTTP/1.1 and HTTP/1.0.")
    }
    return bytes[start + 7] == UInt8(ascii: "0") ? 0 : 1
  }

  /// The four forms of RFC 9112 section 3.2.
  private mutating func readTarget(_ bytes: UnsafeBufferPointer<UInt8>, question: Int?) throws(RequestError) {
    let bad = RequestError(.badRequest, "The target is neither a path nor an http address.")
    if method.rawValue == "CONNECT" {
      guard HostName.isValid(bytes, in: target, needsPort: true) else { throw bad }
      return
    }
    var pathStart = target.lowerBound
    switch bytes[pathStart] {
    case UInt8(ascii: "/"): break
    case UInt8(ascii: "*"):
      guard target.count == 1, method == .options else { throw bad }
      return
    default:
      guard let (start, isHTTPS) = schemeEnd(bytes) else { throw bad }
      self.isHTTPS = isHTTPS
      pathStart = start
      while pathStart < target.upperBound, bytes[pathStart] != UInt8(ascii: "/"), bytes[pathStart] != UInt8(ascii: "?")
      { pathStart += 1 }
      guard HostName.isValid(bytes, in: start..<pathStart, needsPort: false) else { throw bad }
      authority = start..<pathStart
    }
    let pathEnd = question.map { max($0, pathStart) } ?? target.upperBound
    // `http://host` asks for `/` (RFC 9112 section 3.2.1); the last slash before the host serves as the path.
    path = pathStart..<pathEnd
    if path.isEmpty, let authority { path = authority.lowerBound - 1..<authority.lowerBound }
    if pathEnd < target.upperBound { query = pathEnd + 1..<target.upperBound }
  }

  private func schemeEnd(_ bytes: UnsafeBufferPointer<UInt8>) -> (Int, isHTTPS: Bool)? {
    for (scheme, isHTTPS) in [("http://" as StaticString, false), ("https://", true)] {
      let count = scheme.utf8CodeUnitCount
      guard target.count > count else { continue }
      let matches = (0..<count).allSatisfy {
        ByteClass.lowercased(bytes[target.lowerBound + $0]) == scheme.utf8Start[$0]
      }
      if matches { return (target.lowerBound + count, isHTTPS) }
    }
    return nil
  }

  /// An invalid escape in the query, NUL, or text that is not UTF-8: a parameter that is dropped would be a filter that
  /// does not filter.
  func queryProblem(_ bytes: UnsafeBufferPointer<UInt8>) -> RequestError? {
    guard let query else { return nil }
    var isASCII = true
    var index = query.lowerBound
    while index < query.upperBound {
      if bytes[index] == UInt8(ascii: "%") {
        guard index + 2 < query.upperBound, let high = ByteClass.hexadecimal(bytes[index + 1]),
          let low = ByteClass.hexadecimal(bytes[index + 2]), high | low != 0
        else {
          return RequestError(.badRequest, "The query contains an invalid percent escape or an escaped NUL.")
        }
        if high > 7 { isASCII = false }
        index += 2
      }
      index += 1
    }
    if isASCII { return nil }
    let decoded = PercentDecoding.decode(UnsafeBufferPointer(rebasing: bytes[query]), plusIsSpace: true)
    guard decoded.flatMap({ String(validating: $0, as: UTF8.self) }) == nil else { return nil }
    return RequestError(.badRequest, "The query contains text that is not UTF-8.")
  }
}

/// The form of `Host` (RFC 9110 section 7.2).
enum HostName {
  /// Whether the bytes are a name, an IPv4 address or an IPv6 address in brackets, with or without a port.
  static func isValid(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>, needsPort: Bool) -> Bool {
    var index = range.lowerBound
    guard index < range.upperBound else { return false }
    if bytes[index] == UInt8(ascii: "[") {
      index += 1
      let start = index
      while index < range.upperBound, bytes[index] != UInt8(ascii: "]") {
        guard
          ByteClass.hexadecimal(bytes[index]) != nil || bytes[index] == UInt8(ascii: ":")
            || bytes[index] == UInt8(ascii: ".")
        else { return false }
        index += 1
      }
      guard index < range.upperBound, index > start else { return false }
      index += 1
    } else {
      while index < range.upperBound, ByteClass.isHostName(bytes[index]) { index += 1 }
      guard index > range.lowerBound else { return false }
    }
    if index == range.upperBound { return !needsPort }
    guard bytes[index] == UInt8(ascii: ":") else { return false }
    let port = bytes[index + 1..<range.upperBound]
    guard (1...5).contains(port.count), port.allSatisfy(ByteClass.isDigit) else { return false }
    return port.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
  }
}
