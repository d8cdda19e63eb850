import Glibc
public import Reactor

/// Serves the files below a folder: no folders, nothing that begins with a dot, nothing outside, also not by a
/// symbolic link.
public struct StaticFiles: Sendable {
  /// Files up to this size are read at once, sent with their head, and kept for a second.
  private static let smallSize = 32 * 1024

  /// The folder, without symbolic links.
  public let root: String
  private let cacheControl: String
  private let pool: BlockingPool
  private let cache = FileCache()

  /// Serves a folder.
  ///
  /// - Parameters:
  ///   - cacheControl: `no-cache` lets browsers keep files but ask each time, which the ETag answers cheaply.
  ///   - pool: where files are opened and read.
  /// - Throws: ``SystemError`` if the folder is not there.
  public init(root: String, cacheControl: String = "no-cache", pool: BlockingPool) throws {
    guard let resolved = Self.resolve(root) else { throw SystemError("realpath \(root)") }
    self.root = resolved
    self.cacheControl = cacheControl
    self.pool = pool
  }

  /// Answers GET and HEAD with a file.
  ///
  /// - Parameter path: decoded segments below the root, as ``Parameters/rest``.
  /// - Returns: nil if there is no such file.
  /// - Throws: ``SystemError`` if it cannot be told, as without descriptors.
  public func response(to request: Request, path: [String]) async throws -> Response? {
    guard !path.isEmpty, path.allSatisfy(Self.isVisible), let name = path.last else { return nil }
    let location = ([root] + path).joined(separator: "/")
    guard let found = try await find(location) else { return nil }
    return try answer(request, with: found, name: name)
  }

  private enum Content: Sendable {
    case bytes([UInt8])
    case file(OpenFile)

    var size: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file(let file): file.size
      }
    }

    func body(_ range: Range<Int>) -> ResponseBody {
      switch self {
      case .bytes(let bytes): .bytes(range.count == bytes.count ? bytes : Array(bytes[range]))
      case .file(let file): .file(file, range)
      }
    }
  }

  private struct Found: Sendable {
    let content: Content
    let modified: Int
    let etag: String
  }

  private func find(_ location: String) async throws -> Found? {
    let now = EventLoop.now()
    if let entry = cache.entry(location, at: now) {
      return Found(content: .bytes(entry.bytes), modified: entry.modified, etag: entry.etag)
    }
    guard let found = try await pool.run({ [root] in try Self.open(location, below: root) }) else { return nil }
    if case .bytes(let bytes) = found.content {
      cache.store(
        FileCache.Entry(bytes: bytes, modified: found.modified, etag: found.etag, expires: now + FileCache.lifetime),
        at: location)
    }
    return found
  }

  private func answer(_ request: Request, with found: Found, name: String) throws -> Response {
    let modified = HTTPDate.format(found.modified)
    var response = Response(headers: [
      "ETag": found.etag, "Last-Modified": modified, "Cache-Control": cacheControl, "Accept-Ranges": "bytes",
    ])
    if Self.isFresh(request, found) {
      response.status = .notModified
      return response
    }
    response.headers.append("Content-Type", ContentType.of(fileName: name))
    let size = found.content.size
    var range = 0..<size
    if request.method == .get, let field = request.header("Range"), Self.rangeApplies(request, found, modified) {
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
    response.body = found.content.body(range)
    return response
  }

  /// RFC 9110 section 13.2.2: `If-Modified-Since` counts only without `If-None-Match`.
  private static func isFresh(_ request: Request, _ found: Found) -> Bool {
    let tags = request.headers.values(of: "If-None-Match")
    if !tags.isEmpty {
      return tags.joined(separator: ",").split(separator: ",").contains { tag in
        let tag = tag.trimmedOfSpace
        // Weak comparison: a proxy that compressed the file has put W/ before the tag.
        return tag == "*" || tag == found.etag[...] || tag == "W/\(found.etag)"
      }
    }
    guard let since = request.header("If-Modified-Since").flatMap(HTTPDate.parse) else { return false }
    return found.modified <= since
  }

  private static func rangeApplies(_ request: Request, _ found: Found, _ modified: String) -> Bool {
    guard let condition = request.header("If-Range") else { return true }
    return condition == found.etag || condition == modified
  }

  private static func isVisible(_ segment: String) -> Bool {
    !segment.isEmpty && !segment.hasPrefix(".") && !segment.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  // MARK: On the pool

  private static func open(_ location: String, below root: String) throws -> Found? {
    guard let resolved = resolve(location) else { return try nothing("realpath") }
    guard isInside(resolved, root) else { return nil }
    // O_NONBLOCK: opening a named pipe must not wait. O_NOFOLLOW: a link put there meanwhile is not followed.
    let descriptor = Glibc.open(resolved, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return try nothing("open") }
    var information = stat()
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    let file = OpenFile(descriptor: descriptor, size: Int(information.st_size))
    let time = information.st_mtim
    let stamp = String(time.tv_sec, radix: 16) + "." + String(time.tv_nsec, radix: 16)
    let etag = "\"\(stamp)-\(String(file.size, radix: 16))-\(String(information.st_ino, radix: 16))\""
    guard file.size <= smallSize else { return Found(content: .file(file), modified: time.tv_sec, etag: etag) }
    guard let bytes = file.read(0..<file.size), bytes.count == file.size else { throw SystemError("pread") }
    return Found(content: .bytes(bytes), modified: time.tv_sec, etag: etag)
  }

  /// That a file is not there, or not for us, is an answer; everything else that `errno` says is trouble.
  private static func nothing(_ call: String) throws -> Found? {
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

  private static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
