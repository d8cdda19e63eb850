/// Reads one HTTP/1.1 request after the other from bytes as they come in (RFC 9112).
struct PlainReader {
  struct Request: Equatable {
    /// With `:method`, `:path` and `:authority`; names in lower case.
    var fields = HeaderList()
    /// As far as it is kept.
    var body: [UInt8] = []
    var bodyByteCount = 0
    /// The connection ends after its answer.
    var isLast = false
  }

  /// The status that a request which cannot be read is answered with; the connection ends.
  struct Refusal: Error, Equatable {
    let status: Int
  }

  private enum Part {
    case head, body(Int), chunkSize, chunk(Int), chunkEnd, trailer
  }

  private let settings: ServerSettings
  private var bytes: [UInt8] = []
  private var part = Part.head
  private var request = Request()
  /// The client waits for `100 Continue`; the reader's owner sends it, and resets this.
  var awaitsContinue = false

  init(_ settings: ServerSettings) { self.settings = settings }

  /// How many bytes wait for ``next()``.
  var waiting: Int { bytes.count }

  mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

  /// - Returns: the next whole request; nil: more bytes are needed.
  mutating func next() throws(Refusal) -> Request? {
    while true {
      switch part {
      case .head:
        guard let head = try head() else { return nil }
        try begin(head)
      case .body(let left), .chunk(let left):
        guard take(left) else { return nil }
        if case .body = part { return finish() }
        part = .chunkEnd
      case .chunkEnd:
        guard let line = try line() else { return nil }
        guard line.isEmpty else { throw Refusal(status: 400) }
        part = .chunkSize
      case .chunkSize:
        guard let line = try line() else { return nil }
        let digits = line.prefix { $0 != ";" }.trimmingBlanks
        guard digits.utf8.count <= 8, let size = Self.number(digits, radix: 16) else { throw Refusal(status: 400) }
        part = size == 0 ? .trailer : .chunk(size)
      case .trailer:
        guard let line = try line() else { return nil }
        if line.isEmpty { return finish() }
      }
    }
  }

  private mutating func finish() -> Request {
    defer { (request, part, awaitsContinue) = (Request(), .head, false) }
    return request
  }

  /// Takes bytes of the body, and keeps those that fit.
  ///
  /// - Returns: whether they were all there.
  private mutating func take(_ left: Int) -> Bool {
    let count = min(left, bytes.count)
    request.bodyByteCount += count
    request.body += bytes.prefix(min(count, max(0, settings.maximumBodyBytes - request.body.count)))
    bytes.removeFirst(count)
    if case .body = part { part = .body(left - count) } else { part = .chunk(left - count) }
    return count == left
  }

  /// A line of the chunked coding, or of its trailer.
  private mutating func line() throws(Refusal) -> String? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
      guard bytes.count <= settings.maximumHeaderBytes else { throw Refusal(status: 431) }
      return nil
    }
    guard end <= settings.maximumHeaderBytes else { throw Refusal(status: 431) }
    defer { bytes.removeFirst(end + 1) }
    return Self.text(bytes[..<end])
  }

  private static func text(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }

  /// The lines up to the empty one.
  private mutating func head() throws(Refusal) -> [String]? {
    var lines: [String] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = Self.text(bytes[start..<end])
      start = end + 1
      // Empty lines may come before a request (RFC 9112 §2.2).
      if line.isEmpty, lines.isEmpty { continue }
      if line.isEmpty {
        guard start <= settings.maximumHeaderBytes else { throw Refusal(status: 431) }
        bytes.removeFirst(start)
        return lines
      }
      lines.append(line)
    }
    guard bytes.count <= settings.maximumHeaderBytes else { throw Refusal(status: 431) }
    return nil
  }

  private mutating func begin(_ lines: [String]) throws(Refusal) {
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, !words[0].isEmpty, words[1].hasPrefix("/") else { throw Refusal(status: 400) }
    guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { throw Refusal(status: 505) }
    var fields = [(name: ":method", value: String(words[0])), (":path", String(words[1]))]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
        !line.prefix(upTo: colon).contains(where: { $0 == " " || $0 == "\t" })
      else { throw Refusal(status: 400) }
      let (name, value) = (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingBlanks)
      fields.append((name == "host" ? ":authority" : name, value))
    }
    request.fields = HeaderList(fields)
    request.isLast =
      words[2] == "HTTP/1.0"
      || request.fields.contains { $0.name == "connection" && Self.lists("close", in: $0.value) }
    let isChunked = request.fields["transfer-encoding"]?.lowercased() == "chunked"
    let length = request.fields["content-length"]
    // Two of these fields, or another coding, are a way to smuggle requests (RFC 9112 §6.1, §6.3).
    let framing = request.fields.count { $0.name == "content-length" || $0.name == "transfer-encoding" }
    guard framing <= 1, isChunked || request.fields["transfer-encoding"] == nil else { throw Refusal(status: 400) }
    awaitsContinue = request.fields["expect"]?.lowercased() == "100-continue"
    if isChunked { return part = .chunkSize }
    guard let count = Self.number(length ?? "0", radix: 10) else { throw Refusal(status: 400) }
    part = .body(count)
  }

  /// Whether an option is in a list (RFC 9110 §7.6.1).
  private static func lists(_ option: String, in list: String) -> Bool {
    list.split(separator: ",").contains { $0.trimmingBlanks.lowercased() == option }
  }

  /// A number of digits alone: `Int` takes a sign, too.
  private static func number(_ digits: String, radix: Int) -> Int? {
    guard let first = digits.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-") else { return nil }
    return Int(digits, radix: radix)
  }
}

extension StringProtocol {
  fileprivate var trimmingBlanks: String {
    let start = drop { $0 == " " || $0 == "\t" }
    guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return String(start[...last])
  }
}
