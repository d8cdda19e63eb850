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
  /// - Throws: ``SystemError`` if a file cannot be read.
  package init(root: String, folders: [String]) throws {
    guard let resolved = StaticFiles.resolve(root) else { throw SystemError("realpath \(root)") }
    var files: [[String]: FileAnswer] = [:]
    var all: [UInt8] = []
    for folder in folders {
      for name in try FileManager.default.subpathsOfDirectory(atPath: "\(resolved)/\(folder)").sorted() {
        let path = "\(folder)/\(name)"
        let segments = path.split(separator: "/").map(String.init)
        guard segments.allSatisfy(StaticFiles.isVisible),
          let found = try StaticFiles.open("\(resolved)/\(path)", below: resolved), let read = found.content.bytes
        else { continue }
        let bytes = name.hasSuffix(".css") ? StyleSheet.packed(read) : read
        let digest = Digest.sha256(bytes)
        all += Array(path.utf8) + [0] + digest
        files[segments] = FileAnswer(
          FoundFile(
            content: .bytes(bytes), modified: found.modified, etag: "\"\(Self.text(digest))\"", name: found.name),
          gzip: StaticFiles.isWorthPacking(bytes.count, name: name)
            ? GzipEncoder.compress(bytes, level: GzipEncoder.best) : nil,
          cacheControl: "public, max-age=31536000, immutable")
      }
    }
    self.files = files
    version = Self.text(Digest.sha256(all))
    prefix = "/assets/\(version)"
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
