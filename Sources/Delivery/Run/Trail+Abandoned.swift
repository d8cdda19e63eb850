import Foundation
import Glibc

extension Trail {
  /// Removes the trails of killed processes whose database has moved or is gone: no process would open them again, and
  /// they would use memory until the machine restarts.
  static func removeAbandoned() {
    // If the folder cannot be listed, nothing is removed.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(prefix) && name.hasSuffix(suffix) { removeIfAbandoned("\(folder)/\(name)") }
  }

  private static func removeIfAbandoned(_ file: String) {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // Take the lock last: a process that opens its own file in the meantime must not find it locked.
    guard isOwn(descriptor), let path = database(of: descriptor), isGone(path, from: file),
      flock(descriptor, LOCK_EX | LOCK_NB) == 0
    else { return }
    unlink(file)
  }

  /// The path recorded in a file; nil if there is none.
  private static func database(of descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: pathRange.count)
    guard pread(descriptor, &bytes, bytes.count, off_t(pathRange.lowerBound)) == bytes.count, bytes[0] != 0 else {
      return nil
    }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Whether the path has no file, or a file other than the one in the trail's name.
  private static func isGone(_ path: String, from trail: String) -> Bool {
    var status = stat()
    // Other errors may be temporary.
    guard stat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR }
    return file(database: path) != trail
  }
}
