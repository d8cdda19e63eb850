import Calendar

/// A file as it was found.
struct FoundFile: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    case file(OpenFile)

    var size: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file(let file): file.size
      }
    }

    /// The whole file; blocks for a file on disk. Nil if it cannot be read.
    var bytes: [UInt8]? {
      switch self {
      case .bytes(let bytes): bytes
      case .file(let file): file.read(0..<file.size)
      }
    }

    func body(_ range: Range<Int>) -> ResponseBody {
      switch self {
      case .bytes(let bytes): .bytes(range.count == bytes.count ? bytes : Array(bytes[range]))
      case .file(let file):
        // One call sends a small file together with its head; the kernel would need a second one.
        if let bytes = file.bytes, range.count == bytes.count { .bytes(bytes) } else { .file(file, range) }
      }
    }
  }

  let content: Content
  /// Seconds since 1970.
  let modified: Int
  /// Of these bytes.
  let etag: String
  let name: String
}

/// A file ready to be answered: plain or compressed, whole or a part, or unchanged.
final class FileAnswer: Sendable {
  /// What is sent of a file in one coding.
  private struct Form: Sendable {
    let tag: String
    /// The fields of an answer with the bytes, and of one that says that they have not changed.
    let fields: HeaderBlock
    let unchangedFields: HeaderBlock

    /// - Parameter date: nil: it is not sent.
    init(tag: String, date: String?, cacheControl: String, type: String, coding: String?, isNegotiated: Bool) {
      self.tag = tag
      let dated = date.map { [("Last-Modified", $0), ("Accept-Ranges", "bytes")] } ?? []
      let fields =
        [("Cache-Control", cacheControl), ("ETag", tag)] + dated
        + (isNegotiated ? [("Vary", "Accept-Encoding")] : [])
      unchangedFields = HeaderBlock(fields)
      self.fields = HeaderBlock(fields + [("Content-Type", type)] + (coding.map { [("Content-Encoding", $0)] } ?? []))
    }
  }

  let file: FoundFile
  private let date: String
  /// Whether browsers only ever use it within a page.
  private let isPart: Bool
  private let plain: Form
  /// Nil: not worth it.
  private let packed: (form: Form, bytes: [UInt8])?

  /// - Parameter isImmutable: whether the tag alone tells versions apart, and nobody asks for a part: an answer is then
  ///   70 bytes shorter.
  init(_ file: FoundFile, gzip: [UInt8]?, cacheControl: String, isImmutable: Bool = false) {
    self.file = file
    let (modified, type) = (HTTPDate.format(file.modified), ContentType.of(fileName: file.name))
    let date = isImmutable ? nil : modified
    self.date = modified
    isPart = ContentType.isPart(type)
    plain = Form(
      tag: file.etag, date: date, cacheControl: cacheControl, type: type, coding: nil, isNegotiated: gzip != nil)
    packed = gzip.map { bytes in
      let tag = "\(file.etag.dropLast())-gzip\""
      return (
        Form(tag: tag, date: date, cacheControl: cacheControl, type: type, coding: "gzip", isNegotiated: true), bytes
      )
    }
  }

  /// Answers GET and HEAD.
  ///
  /// - Throws: 412 if a precondition fails, 416 for a part that does not exist.
  func response(to request: Request) throws -> Response {
    // A part is always one of the plain bytes, so that parts of several downloads fit together.
    let packed =
      request.header("Range") == nil && ContentCoding.takesGzip(request.header("Accept-Encoding")) ? packed : nil
    let form = packed?.form ?? plain
    switch Conditions.judge(request, etag: form.tag, modified: file.modified) {
    case .hold: break
    case .notModified: return Response(.notModified, headers: Headers(form.unchangedFields), isPart: isPart)
    case .failed: throw HTTPError(.preconditionFailed, "The file has changed meanwhile.", headers: ["ETag": form.tag])
    }
    if let packed { return Response(headers: Headers(form.fields), body: .bytes(packed.bytes), isPart: isPart) }
    let size = file.content.size
    if request.method == .get, let field = request.header("Range"), rangeApplies(request) {
      switch ByteRange(field, size: size) {
      case .whole: break
      case .part(let part):
        var headers = Headers(form.fields)
        headers.append("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
        return Response(.partialContent, headers: headers, body: file.content.body(part), isPart: isPart)
      case .unsatisfiable:
        throw HTTPError(.rangeNotSatisfiable, headers: ["Content-Range": "bytes */\(size)"])
      }
    }
    return Response(headers: Headers(form.fields), body: file.content.body(0..<size), isPart: isPart)
  }

  private func rangeApplies(_ request: Request) -> Bool {
    guard let condition = request.header("If-Range") else { return true }
    return condition == file.etag || condition == date
  }
}

/// The part of a file that a `Range` field asks for (RFC 9110 section 14).
enum ByteRange: Equatable {
  /// The field is ignored: malformed, another unit, or several ranges.
  case whole
  case part(Range<Int>)
  case unsatisfiable

  init(_ field: String, size: Int) {
    self = .whole
    guard field.utf8.count > 6, field.prefix(6).equalsIgnoringCase("bytes=") else { return }
    let ends = field.dropFirst(6).trimmedOfSpace.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return }
    switch (Self.number(ends[0]), Self.number(ends[1])) {
    case (let first?, let last?) where first <= last:
      self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
    case (let first?, nil) where ends[1].isEmpty: self = first < size ? .part(first..<size) : .unsatisfiable
    case (nil, let suffix?) where ends[0].isEmpty:
      self = suffix > 0 && size > 0 ? .part(max(0, size - suffix)..<size) : .unsatisfiable
    default: break
    }
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy(ByteClass.isDigit) && !text.isEmpty ? Int(text) ?? Int.max - 1 : nil
  }
}

/// The preconditions of a request for a file (RFC 9110 section 13).
enum Conditions {
  enum Verdict: Equatable {
    case hold
    case notModified
    /// The client demands a state that the file does not have.
    case failed
  }

  private static let names = NameSet(["If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since"])

  /// Evaluates in the order of section 13.2.2.
  ///
  /// - Parameters:
  ///   - etag: of the file as it would be sent.
  ///   - modified: seconds since 1970.
  static func judge(_ request: Request, etag: String, modified: Int) -> Verdict {
    guard request.head.mayHave(any: names) else { return .hold }
    if let tags = tags(request, "If-Match") {
      guard tags.contains(where: { $0 == "*" || $0 == etag }) else { return .failed }
    } else if let date = request.header("If-Unmodified-Since").flatMap(HTTPDate.parse), modified > date {
      return .failed
    }
    if let tags = tags(request, "If-None-Match") {
      // Weak comparison: a proxy that compressed the file has put W/ before the tag.
      return tags.contains { $0 == "*" || $0 == etag || $0 == "W/\(etag)" } ? .notModified : .hold
    }
    guard let since = request.header("If-Modified-Since").flatMap(HTTPDate.parse) else { return .hold }
    return modified <= since ? .notModified : .hold
  }

  /// The tags of a field; nil if it is missing.
  private static func tags(_ request: Request, _ name: String) -> [String]? {
    guard request.header(name) != nil else { return nil }
    return request.headers.values(of: name).joined(separator: ",").split(separator: ",").map {
      String($0.trimmedOfSpace)
    }
  }
}
