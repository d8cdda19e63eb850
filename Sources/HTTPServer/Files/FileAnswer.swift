import Calendar

/// A file ready to be answered: plain or compressed, whole or a part, or unchanged.
struct FileAnswer: Sendable {
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
  /// Nil: not worth it.
  let gzip: [UInt8]?
  /// Seconds since 1970.
  let modified: Int
  /// Of the plain bytes.
  let etag: String
  private let packedTag: String
  private let date: String
  /// Fields of every answer with the plain bytes, or with the compressed ones.
  private let plainFields: HeaderBlock
  private let packedFields: HeaderBlock
  private let contentType: HeaderBlock

  init(content: Content, gzip: [UInt8]? = nil, modified: Int, etag: String, name: String) {
    self.content = content
    self.gzip = gzip
    self.modified = modified
    self.etag = etag
    let date = HTTPDate.format(modified)
    func fields(_ tag: String) -> HeaderBlock {
      let vary = gzip == nil ? [] : [Headers.Field(name: "Vary", value: "Accept-Encoding")]
      return HeaderBlock(
        [
          .init(name: "ETag", value: tag), .init(name: "Last-Modified", value: date),
          .init(name: "Accept-Ranges", value: "bytes"),
        ] + vary)
    }
    self.date = date
    packedTag = "\(etag.dropLast())-gzip\""
    plainFields = fields(etag)
    packedFields = fields(packedTag)
    contentType = HeaderBlock([.init(name: "Content-Type", value: ContentType.of(fileName: name))])
  }

  /// The same file with its compressed form.
  func packed(_ gzip: [UInt8]?, name: String) -> FileAnswer {
    FileAnswer(content: content, gzip: gzip, modified: modified, etag: etag, name: name)
  }

  static func cacheControl(_ value: String) -> HeaderBlock { HeaderBlock([.init(name: "Cache-Control", value: value)]) }

  /// Answers GET and HEAD.
  ///
  /// - Parameter cacheControl: the field of that name.
  /// - Throws: 412 if a precondition fails, 416 for a part that does not exist.
  func response(to request: Request, cacheControl: HeaderBlock) throws -> Response {
    // A part is always one of the plain bytes, so that parts of several downloads fit together.
    let packed =
      request.header("Range") == nil && ContentCoding.takesGzip(request.header("Accept-Encoding")) ? gzip : nil
    let tag = packed == nil ? etag : packedTag
    var response = Response()
    response.headers.setDefaults(cacheControl)
    response.headers.setDefaults(packed == nil ? plainFields : packedFields)
    switch Conditions.judge(request, etag: tag, modified: modified) {
    case .hold: break
    case .notModified:
      response.status = .notModified
      return response
    case .failed: throw HTTPError(.preconditionFailed, "The file has changed meanwhile.", headers: ["ETag": tag])
    }
    response.headers.setDefaults(contentType)
    if let packed {
      response.headers.append("Content-Encoding", "gzip")
      response.body = .bytes(packed)
      return response
    }
    let size = content.size
    var range = 0..<size
    if request.method == .get, let field = request.header("Range"), rangeApplies(request, date) {
      switch ByteRange(field, size: size) {
      case .whole: break
      case .part(let part):
        range = part
        response.status = .partialContent
        response.headers.append("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
      case .unsatisfiable:
        throw HTTPError(.rangeNotSatisfiable, headers: ["Content-Range": "bytes */\(size)"])
      }
    }
    response.body = content.body(range)
    return response
  }

  private func rangeApplies(_ request: Request, _ date: String) -> Bool {
    guard let condition = request.header("If-Range") else { return true }
    return condition == etag || condition == date
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

  /// Evaluates in the order of section 13.2.2.
  ///
  /// - Parameters:
  ///   - etag: of the file as it would be sent.
  ///   - modified: seconds since 1970.
  static func judge(_ request: Request, etag: String, modified: Int) -> Verdict {
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
