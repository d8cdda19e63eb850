import Foundation
import OpenSSL
import Reactor

/// Style sheets, scripts and pictures, read and compressed once. Their address holds a hash of all of them, so that
/// browsers need not ask again until something changes.
package struct AssetFolder: Sendable {
  /// The beginning of a file's address in a page, such as `/assets/0f8c1d3e5a7b9c2d`.
  package let prefix: String
  private let version: String
  /// By the segments of their path.
  private let files: [[String]: FileAnswer]

  /// Reads the files below some folders, as ``StaticFiles`` would serve them.
  ///
  /// - Parameter core: the path of the script that every page loads. Scripts beside it are joined, see
  ///   ``ScriptBundle``; nil: each is served as it is.
  /// - Throws: ``SystemError`` if a file cannot be read.
  package init(root: String, folders: [String], core: String? = nil) throws {
    guard let resolved = StaticFiles.resolve(root) else { throw SystemError("realpath \(root)") }
    var found: [(path: String, segments: [String], file: FoundFile, bytes: [UInt8])] = []
    for folder in folders {
      for name in try FileManager.default.subpathsOfDirectory(atPath: "\(resolved)/\(folder)").sorted() {
        let path = "\(folder)/\(name)"
        let segments = path.split(separator: "/").map(String.init)
        guard segments.allSatisfy(StaticFiles.isVisible),
          let file = try StaticFiles.open("\(resolved)/\(path)", below: resolved), let bytes = file.content.bytes
        else { continue }
        found.append((path, segments, file, bytes))
      }
    }
    let scripts = core.map { Self.joined(found.map { (path: $0.path, bytes: $0.bytes) }, core: $0) } ?? [:]
    var files: [[String]: FileAnswer] = [:]
    var all: [UInt8] = []
    for (path, segments, file, read) in found {
      let bytes = path.hasSuffix(".css") ? StyleSheet.packed(read) : scripts[path] ?? read
      let digest = Digest.sha256(bytes)
      all += Array(path.utf8) + [0] + digest
      files[segments] = FileAnswer(
        FoundFile(content: .bytes(bytes), modified: file.modified, etag: "\"\(Self.text(digest))\"", name: file.name),
        gzip: Self.packed(bytes, name: file.name),
        cacheControl: "public, max-age=31536000, immutable", isImmutable: true)
    }
    self.files = files
    version = Self.text(Digest.sha256(all))
    prefix = "/assets/\(version)"
  }

  /// The compressed bytes; nil if the fields that go with them cost more than they save. It is done once, so that short
  /// files are worth it, too.
  private static func packed(_ bytes: [UInt8], name: String) -> [UInt8]? {
    guard ContentCoding.isText(ContentType.of(fileName: name)),
      let packed = GzipEncoder.compress(bytes, level: GzipEncoder.best), packed.count + 100 < bytes.count
    else { return nil }
    return packed
  }

  /// The scripts of the core's folder, by their paths.
  private static func joined(_ files: [(path: String, bytes: [UInt8])], core: String) -> [String: [UInt8]] {
    let folder = core.lastIndex(of: "/").map { core[...$0] } ?? ""
    let end = ".js"
    func name(_ path: String) -> String? {
      guard path.hasPrefix(folder), path.hasSuffix(end) else { return nil }
      return String(path.dropFirst(folder.count).dropLast(end.count))
    }
    let sources = files.compactMap { file in name(file.path).map { ($0, file.bytes) } }
    let bundle = ScriptBundle(Dictionary(uniqueKeysWithValues: sources), core: name(core) ?? "")
    return Dictionary(
      uniqueKeysWithValues: sources.compactMap { source in
        bundle.joined(source.0).map { ("\(folder)\(source.0)\(end)", $0) }
      })
  }

  /// Answers GET and HEAD with a file.
  ///
  /// - Parameters:
  ///   - version: from the address. A page from before an update gets today's file, not to be cached.
  ///   - path: decoded segments after the version, as ``Parameters/rest``.
  /// - Returns: nil if there is no such file.
  package func response(to request: Request, version: String, path: [String]) throws -> Response? {
    guard let file = files[path] else { return nil }
    var response = try file.response(to: request)
    if version != self.version { response.headers["Cache-Control"] = "no-cache" }
    return response
  }

  private static func text(_ digest: [UInt8]) -> String {
    digest.prefix(8).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
