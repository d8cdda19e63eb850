import Calendar

/// A file as it can be answered: plain or compressed, whole or a part, or not at all because the client has it.
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

    /// All of it; blocks for a file. Nil if it cannot be read.
    var bytes: [UInt8]? {
      switch self {
      case .bytes(let bytes): bytes
      case .file(let file): file.read(0..<file.size)
      }
    }

    func body(_ range: Range<Int>) -> ResponseBody {
      switch self {
      case .bytes(let bytes): .bytes(range.count == bytes.count ? bytes : Array(bytes[range]))
      case .file(let file): .file(file, range)
      }
    }
  }

  let content: Content
  /// Nil: it is not worth it.
  let gzip: [UInt8]?
  /// Seconds since 1970.
  let modified: Int
  /// Of the plain bytes.
  let etag: String
  private let date: String
  /// What is said of the plain bytes, and of the compressed ones, with each answer.
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
    plainFields = fields(etag)
    packedFields = fields(Self.packedTag(etag))
    contentType = HeaderBlock([.init(name: "Content-Type", value: ContentType.of(fileName: name))])
  }

  /// The same file with its compressed form.
  func packed(_ gzip: [UInt8]?, name: String) -> FileAnswer {
    FileAnswer(content: content, gzip: gzip, modified: modified, etag: etag, name: name)
  }

  private static func packedTag(_ etag: String) -> String { "\(etag.dropLast())-gzip\"" }

  /// Answers GET and HEAD.
  ///
  /// - Throws: 412 if the request wants another state of the file, 416 for a part that is not there.
  func response(to request: Request, cacheControl: String) throws -> Response {
    // A part is one of the plain bytes, so that parts of several downloads fit together.
    let packed =
      request.header("Range") == nil && ContentCoding.takesGzip(request.header("Accept-Encoding")) ? gzip : nil
    let tag = packed == nil ? etag : Self.packedTag(etag)
    var response = Response(headers: ["Cache-Control": cacheControl])
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
