import HTTPServer

/// A form's file, read in pieces, so that memory use does not depend on its size.
struct IncomingFile: Sendable {
  /// Bytes of all fields before the file.
  private static let fieldLimit = 8 << 20
  private var reader: MultipartReader
  private var isOver = false

  /// Reads fields up to the first chosen file.
  ///
  /// - Returns: the fields and the file; nil if the form has no file.
  /// - Throws: as ``Form/init(_:)``; 413 if the fields are too long together.
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
        if next.fileName?.isEmpty == false { return (Form(fields), IncomingFile(reader: reader)) }
        part = next
        bytes = []
      case .data(let piece):
        left -= piece.count
        guard left >= 0 else {
          throw HTTPError(.contentTooLarge, "The form's fields exceed \(fieldLimit) bytes. Upload a file instead.")
        }
        bytes += piece
      case .partEnd:
        if let part, part.fileName == nil { fields.append((part.name, String(decoding: bytes, as: UTF8.self))) }
      }
    }
    return (Form(fields), nil)
  }

  private init(reader: MultipartReader) { self.reader = reader }

  /// The next piece. Returns nil at the file's end, after reading the form to its end.
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
