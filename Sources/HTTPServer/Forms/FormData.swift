/// A `multipart/form-data` form read into memory.
package struct FormData: Sendable {
  package struct Item: Sendable {
    package let part: MultipartPart
    package let bytes: [UInt8]
  }

  package private(set) var items: [Item] = []

  /// Reads a whole form; the route's body limit bounds its size.
  ///
  /// - Throws: as ``MultipartReader``.
  package init(_ request: Request, limits: MultipartLimits = MultipartLimits()) async throws {
    var reader = try MultipartReader(request, limits: limits)
    var part: MultipartPart?
    var bytes: [UInt8] = []
    while let event = try await reader.next() {
      switch event {
      case .part(let next):
        part = next
        bytes = []
      case .data(let piece): bytes.append(contentsOf: piece)
      case .partEnd:
        if let part { items.append(Item(part: part, bytes: bytes)) }
      }
    }
  }

  /// The first text field of that name; invalid UTF-8 is replaced.
  package subscript(name: String) -> String? {
    items.first { $0.part.name == name && $0.part.fileName == nil }.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  /// The first file of that name; nil if none was chosen, which browsers send as an empty file without a name.
  package func file(_ name: String) -> Item? {
    items.first { $0.part.name == name && $0.part.fileName?.isEmpty == false }
  }
}
