/// Reads a `multipart/form-data` body of any size piece by piece.
package struct MultipartReader: Sendable {
  package enum Event: Sendable, Equatable {
    case part(MultipartPart)
    case data([UInt8])
    case partEnd
  }

  private var parser: MultipartParser
  private var body: RequestBody.Iterator
  private var waiting: ArraySlice<MultipartParser.Event> = []
  private var isOver = false

  /// Starts reading.
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

package struct MultipartLimits: Sendable {
  package var parts: Int
  /// Bytes of the headers of one part.
  package var headerBytes: Int
  /// Bytes of one part's content.
  package var partBytes: Int

  package init(parts: Int = 100, headerBytes: Int = 8 * 1024, partBytes: Int = 8 << 20) {
    self.parts = parts
    self.headerBytes = headerBytes
    self.partBytes = partBytes
  }
}

/// The headers of one part of a form.
package struct MultipartPart: Sendable, Equatable {
  /// The name of the form field.
  package let name: String
  /// The file name without folders and control characters, if the part is a file. Only a label: never use it as a path.
  package let fileName: String?
  package let contentType: String?

  /// - Returns: nil unless there is a `Content-Disposition: form-data` with a name.
  init?(headers: [(name: String, value: String)]) {
    let dispositions = headers.filter { $0.name == "content-disposition" }
    guard dispositions.count == 1, let disposition = FieldParameters(dispositions[0].value),
      disposition.value == "form-data", let name = disposition["name"]
    else { return nil }
    self.name = Self.unescape(name)
    fileName = disposition["filename"].map { Self.label(Self.unescape($0)) }
    contentType = headers.first { $0.name == "content-type" }?.value
  }

  /// Browsers escape these three only (HTML standard, section 4.10.21.8).
  private static func unescape(_ text: String) -> String {
    guard text.contains("%") else { return text }
    var result = ""
    var rest = text[...]
    while let first = rest.first {
      switch rest.prefix(3) {
      case "%22": result.append("\"")
      case "%0D": result.append("\r")
      case "%0A": result.append("\n")
      default:
        result.append(first)
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(3)
    }
    return result
  }

  private static func label(_ name: String) -> String {
    let last = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? ""
    return String(last.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
  }
}
