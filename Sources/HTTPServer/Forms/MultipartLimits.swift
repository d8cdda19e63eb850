/// Bounds of a multipart form.
package struct MultipartLimits: Sendable {
  /// Number of parts.
  package var parts: Int
  /// Bytes of the headers of one part.
  package var headerBytes: Int
  /// Bytes of one part's content.
  package var partBytes: Int

  /// Creates bounds.
  package init(parts: Int = 100, headerBytes: Int = 8 * 1024, partBytes: Int = 8 << 20) {
    self.parts = parts
    self.headerBytes = headerBytes
    self.partBytes = partBytes
  }
}
