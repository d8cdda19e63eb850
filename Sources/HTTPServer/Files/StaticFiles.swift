import Glibc
package import Reactor

/// Serves the files below a folder: no directories, no dot files, nothing outside, not even through a symbolic link.
package struct StaticFiles: Sendable {
  /// Files up to this size are read at once and cached for a second.
  private static let smallSize = 32 * 1024
  /// Larger files are sent uncompressed: their compressed form would take too much memory.
  private static let largestPacked = 1 << 20

  /// The folder, symbolic links resolved.
  package let root: String
  private let cacheControl: String
  private let pool: BlockingPool
  private let cache = FileCache()

  /// - Parameters:
  ///   - cacheControl: `no-cache` lets browsers store files but revalidate each time, which the ETag makes cheap.
  ///   - pool: where files are opened and read.
  /// - Throws: ``SystemError`` if the folder does not exist.
  package init(root: String, cacheControl: String = "no-cache", pool: BlockingPool) throws {
    guard let resolved = Self.resolve(root) else { throw SystemError("realpath \(root)") }
    self.root = resolved
    self.cacheControl = cacheControl
    self.pool = pool
  }

  /// Answers GET and HEAD with a file.
  ///
  /// - Parameter path: decoded segments below the root, as ``Parameters/rest``.
  /// - Returns: nil if there is no such file.
  /// - Throws: 412 or 416 for the request's conditions and range; ``SystemError`` if the file cannot be read.
  package func response(to request: Request, path: [String]) async throws -> Response? {
    try await find(path)?.response(to: request)
  }

  /// Answers GET and HEAD with a file that was read a moment ago, without blocking.
  ///
  /// - Parameter request: its whole path is the file's path below the root.
  /// - Returns: nil: ask ``response(to:path:)``.
  /// - Throws: as that.
  package func quickResponse(to request: Request) throws -> Response? {
    try cache.file(request.pathSegments, at: FileCache.now())?.response(to: request)
  }

  /// Nil for what is never served.
  private func location(_ path: [String]) -> String? {
    guard !path.isEmpty, path.allSatisfy(Self.isVisible) else { return nil }
    return path.reduce(into: root) { location, segment in
      location += "/"
      location += segment
    }
  }

  private func find(_ path: [String]) async throws -> FileAnswer? {
    let now = FileCache.now()
    if let answer = cache.file(path, at: now) { return answer }
    // Only what passes this is ever in the cache.
    guard let location = location(path) else { return nil }
    let found = try await pool.run { [root, cache, cacheControl] () -> FileAnswer? in
      guard let file = try Self.open(location, below: root) else { return nil }
      return FileAnswer(file, gzip: Self.packed(file, at: path, cache), cacheControl: cacheControl)
    }
    if let found { cache.store(found, at: path, now: now) }
    return found
  }

  /// Whether a file is text, and long enough to compress.
  static func isWorthPacking(_ size: Int, name: String) -> Bool {
    size >= ContentCoding.leastBytes && ContentCoding.isText(ContentType.of(fileName: name))
  }

  static func isVisible(_ segment: some StringProtocol) -> Bool {
    !segment.isEmpty && !segment.hasPrefix(".") && !segment.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  // MARK: On the pool

  /// The compressed bytes; nil: not worth it.
  private static func packed(_ file: FoundFile, at path: [String], _ cache: FileCache) -> [UInt8]? {
    guard isWorthPacking(file.content.size, name: file.name), file.content.size <= largestPacked else { return nil }
    if let known = cache.packed(path, etag: file.etag) { return known }
    guard let bytes = file.content.bytes, let packed = GzipEncoder.compress(bytes, level: GzipEncoder.best) else {
      return nil
    }
    cache.store(packed: packed, etag: file.etag, at: path)
    return packed
  }

  /// - Returns: nil if there is no such file, or none that may be served.
  static func open(_ location: String, below root: String) throws -> FoundFile? {
    guard let resolved = resolve(location) else { return try nothing("realpath") }
    guard isInside(resolved, root) else { return nil }
    // O_NONBLOCK: opening a named pipe must not wait. O_NOFOLLOW: a link created meanwhile is not followed.
    let descriptor = Glibc.open(resolved, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return try nothing("open") }
    var information = stat()
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    let size = Int(information.st_size)
    let file = try OpenFile(descriptor: descriptor, size: size, keepsBytes: size <= smallSize)
    let time = information.st_mtim
    let stamp = String(time.tv_sec, radix: 16) + "." + String(time.tv_nsec, radix: 16)
    let etag = "\"\(stamp)-\(String(file.size, radix: 16))-\(String(information.st_ino, radix: 16))\""
    let name = String(location.split(separator: "/").last ?? "")
    return FoundFile(content: .file(file), modified: time.tv_sec, etag: etag, name: name)
  }

  /// A missing or forbidden file is an answer; every other `errno` is an error.
  private static func nothing(_ call: String) throws -> FoundFile? {
    let error = SystemError(call)
    switch error.number {
    case ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG, ENXIO: return nil
    default: throw error
    }
  }

  /// By components: `/srv/public-old` is not inside `/srv/public`.
  private static func isInside(_ path: String, _ root: String) -> Bool {
    let inner = path.split(separator: "/")
    let outer = root.split(separator: "/")
    return inner.count > outer.count && inner.starts(with: outer)
  }

  static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// Media types of files by their extension.
enum ContentType {
  private static let byExtension: [String: String] = [
    "avif": "image/avif", "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8",
    "gif": "image/gif", "html": "text/html; charset=utf-8", "ico": "image/vnd.microsoft.icon", "jpg": "image/jpeg",
    "jpeg": "image/jpeg", "js": "text/javascript; charset=utf-8", "json": "application/json",
    "map": "application/json", "md": "text/markdown; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
    "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "wasm": "application/wasm", "webmanifest": "application/manifest+json", "webp": "image/webp",
    "woff": "font/woff", "woff2": "font/woff2", "xml": "application/xml", "yaml": "application/yaml",
  ]

  /// Whether browsers use files of a type only as parts of pages, or show them without running or loading anything: no
  /// documents, which SVG is too.
  static func isPart(_ type: String) -> Bool {
    type.hasPrefix("text/css") || type.hasPrefix("text/javascript") || type.hasPrefix("font/")
      || type.hasPrefix("image/") && !type.hasPrefix("image/svg")
  }

  /// `application/octet-stream` for unknown types: browsers then offer to save the file.
  static func of(fileName: String) -> String {
    guard let dot = fileName.lastIndex(of: ".") else { return "application/octet-stream" }
    return byExtension[fileName[fileName.index(after: dot)...].lowercased()] ?? "application/octet-stream"
  }
}
