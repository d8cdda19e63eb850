import HTTPServer

/// A file in a form that is read piece by piece, so that its size is of no matter to memory.
struct IncomingFile: Sendable {
  /// The most bytes of the fields before it together.
  private static let fieldLimit = 8 << 20

  /// Its name and type.
  let part: MultipartPart
  private var reader: MultipartReader
  private var isOver = false

  /// Reads a form's fields up to the first file that was chosen.
  ///
  /// - Returns: the fields, and the file; nil if the form ended without one.
  /// - Throws: as ``Form/init(_:)``; 413 for fields that are too long together.
  static func after(fieldsOf request: Request) async throws -> (Form, IncomingFile?) {
    guard request.mediaType == "multipart/form-data" else { return (try await Form(request), nil) }
    var reader = try MultipartReader(request, limits: MultipartLimits(partBytes: .max))
    var fields: [(name: String, value: String)] = []
    var part: MultipartPart?
    var bytes: [UInt8] = []
    var left = fieldLimit
    while let event = try await reader.next() {
      switch event {
      case .part(let next):
        if next.fileName?.isEmpty == false { return (Form(fields), IncomingFile(part: next, reader: reader)) }
        part = next
        bytes = []
      case .data(let piece):
        left -= piece.count
        guard left >= 0 else {
          throw HTTPError(
            .contentTooLarge, "The form's fields exceed \(fieldLimit) bytes. Upload a file instead.")
        }
        bytes += piece
      case .partEnd:
        if let part, part.fileName == nil { fields.append((part.name, String(decoding: bytes, as: UTF8.self))) }
      }
    }
    return (Form(fields), nil)
  }

  private init(part: MultipartPart, reader: MultipartReader) {
    self.part = part
    self.reader = reader
  }

  /// The next piece; nil at the file's end, and then the form is read to its end.
  mutating func next() async throws -> [UInt8]? {
    while let event = try await reader.next() {
      switch event {
      case .data(let bytes): if !isOver { return bytes }
      case .partEnd: isOver = true
      case .part: continue
      }
    }
    return nil
  }
}
