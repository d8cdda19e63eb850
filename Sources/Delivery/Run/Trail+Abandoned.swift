import Foundation
import Glibc

extension Trail {
  /// Removes what killed processes left of databases that are no longer where they were: no process would open it
  /// again, and it would keep its memory as long as the machine runs.
  static func removeAbandoned() {
    // A folder that cannot be listed keeps what it holds.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(prefix) && name.hasSuffix(suffix) { removeIfAbandoned("\(folder)/\(name)") }
  }

  private static func removeIfAbandoned(_ file: String) {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // The lock last: a process that opens its own file meanwhile must not find it taken.
    guard isOwn(descriptor), let path = database(of: descriptor), isGone(path, from: file),
      flock(descriptor, LOCK_EX | LOCK_NB) == 0
    else { return }
    unlink(file)
  }

  /// The path that stands in a file; nil: none does.
  private static func database(of descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: pathRange.count)
    guard pread(descriptor, &bytes, bytes.count, off_t(pathRange.lowerBound)) == bytes.count, bytes[0] != 0 else {
      return nil
    }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Whether nothing is at the path, or another file than the one that the name of the trail says.
  private static func isGone(_ path: String, from trail: String) -> Bool {
    var status = stat()
    // Any other error may pass.
    guard stat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR }
    return file(database: path) != trail
  }
}
