/// Bounds of a multipart form.
public struct MultipartLimits: Sendable {
  /// Number of parts.
  public var parts: Int
  /// Bytes of the headers of one part.
  public var headerBytes: Int
  /// Bytes of one part's content.
  public var partBytes: Int

  /// Creates bounds.
  public init(parts: Int = 100, headerBytes: Int = 8 * 1024, partBytes: Int = 8 << 20) {
    self.parts = parts
    self.headerBytes = headerBytes
    self.partBytes = partBytes
  }
}
