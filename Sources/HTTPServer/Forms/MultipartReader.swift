/// Reads a `multipart/form-data` body piece by piece, however large it is.
package struct MultipartReader: Sendable {
  /// What comes next.
  package enum Event: Sendable, Equatable {
    /// A part begins; its content follows.
    case part(MultipartPart)
    /// Some of the part's content.
    case data([UInt8])
    /// The part is complete.
    case partEnd
  }

  private var parser: MultipartParser
  private var body: RequestBody.Iterator
  private var waiting: ArraySlice<MultipartParser.Event> = []
  private var isOver = false

  /// Begins to read.
  ///
  /// - Throws: ``HTTPError`` 415 for another content type, 400 for a bad boundary.
  package init(_ request: Request, limits: MultipartLimits = MultipartLimits()) throws {
    guard request.mediaType == "multipart/form-data" else {
      throw HTTPError(.unsupportedMediaType, "The body must be multipart/form-data.")
    }
    guard let boundary = MultipartParser.boundary(ofContentType: request.header("Content-Type")) else {
      throw HTTPError(.badRequest, "The content type needs a boundary of 1 to 70 allowed characters.")
    }
    parser = MultipartParser(boundary: boundary, limits: limits)
    body = request.body.makeAsyncIterator()
  }

  /// The next event; nil when the form is complete and the body read to its end.
  ///
  /// - Throws: ``HTTPError`` 400, 413 or 431 for malformed and too large forms, and what the body throws.
  package mutating func next() async throws -> Event? {
    while !isOver || !waiting.isEmpty {
      if let event = waiting.popFirst() {
        switch event {
        case .part(let part): return .part(part)
        case .data(let bytes): return .data(bytes)
        case .partEnd: return .partEnd
        case .end: continue
        }
      }
      if let piece = try await body.next() {
        waiting = try parser.feed(piece)[...]
      } else {
        try parser.finish()
        isOver = true
      }
    }
    return nil
  }
}
