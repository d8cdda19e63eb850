/// Media types of files by their extension.
enum ContentType {
  private static let byExtension: [String: String] = [
    "avif": "image/avif", "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8",
    "gif": "image/gif", "html": "text/html; charset=utf-8", "ico": "image/vnd.microsoft.icon", "jpg": "image/jpeg",
    "jpeg": "image/jpeg", "js": "text/javascript; charset=utf-8", "json": "application/json",
    "map": "application/json", "md": "text/markdown; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
    "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml", "txt": "text/plain; charset=utf-8",
    "wasm": "application/wasm", "webmanifest": "application/manifest+json", "webp": "image/webp",
    "woff": "font/woff", "woff2": "font/woff2", "xml": "application/xml", "yaml": "application/yaml",
  ]

  /// `application/octet-stream` for what is not known: browsers then offer to save it.
  static func of(fileName: String) -> String {
    guard let dot = fileName.lastIndex(of: ".") else { return "application/octet-stream" }
    return byExtension[fileName[fileName.index(after: dot)...].lowercased()] ?? "application/octet-stream"
  }
}
