import Foundation
import Glibc
import Reactor

/// Whom a file or folder belongs to that a command made.
///
/// The service runs as a user of its own. What a command of root's makes in the data folder would stay closed to it, and
/// the service would not start.
enum FileOwner {
  /// O_PATH and AT_EMPTY_PATH of open(2) and fchownat(2), which Glibc's headers hide from Swift.
  private static let (pathOnly, itself): (Int32, Int32) = (0o10000000, 0x1000)

  /// The user and group of the first of the files that root does not own; nil: root owns them all.
  static func service(_ models: [String]) -> (user: uid_t, group: gid_t)? {
    for path in models {
      var status = stat()
      if stat(path, &status) == 0, status.st_uid != 0 { return (status.st_uid, status.st_gid) }
    }
    return nil
  }

  /// Gives a file or folder of root's to the owner of the first of the other files that root does not own. Does nothing
  /// if another user than root runs the command, or if the file has other names: they may be somebody else's.
  static func hand(_ path: String, like models: [String]) throws(SystemError) {
    guard geteuid() == 0, let (user, group) = service(models) else { return }
    // Opened as a path: closing an ordinary descriptor would drop the locks of SQLite's connections to the file
    // (https://www.sqlite.org/howtocorrupt.html §2.2). The data folder's owner cannot put a link in the way.
    let file = open(path, pathOnly | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_uid == 0 else { return }
    switch status.st_mode & S_IFMT {
    case S_IFREG where status.st_nlink == 1, S_IFDIR: break
    default: return
    }
    guard fchownat(file, "", user, group, itself) == 0 else { throw SystemError("chown \(path)") }
  }

  /// The folders on the way to a path that do not exist, the outermost first.
  static func missingFolders(to path: String) -> [String] {
    var missing: [String] = []
    var rest = path
    while !rest.isEmpty, access(rest, F_OK) != 0 {
      missing.insert(rest, at: 0)
      guard let slash = rest.dropLast().lastIndex(of: "/"), slash > rest.startIndex else { break }
      rest = String(rest[..<slash])
    }
    return missing
  }

  /// The folder that a file is in.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

extension DataDirectory {
  /// Gives what root has made in the folder to the service's user: the owner of the database, or of the folder. Also
  /// repairs what an earlier version left, or a command that was killed.
  func handOver() throws {
    guard geteuid() == 0 else { return }
    let models = [database, path]
    // Folders that cannot be listed are reported when they are opened.
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    where name.hasPrefix("signalbox.sqlite") || name.hasPrefix("secret.key") {
      try FileOwner.hand("\(path)/\(name)", like: models)
    }
    try FileOwner.hand(keyFile, like: models)
  }

  /// Gives a backup, or another copy that root has made elsewhere, to the service's user if the folder is its own: with
  /// the data, nobody else is to get it.
  func handOver(copy: String) throws {
    guard let (user, _) = FileOwner.service([database, path]) else { return }
    var status = stat()
    guard stat(FileOwner.folder(of: copy), &status) == 0, status.st_uid == user else { return }
    try FileOwner.hand(copy, like: [database, path])
  }
}
