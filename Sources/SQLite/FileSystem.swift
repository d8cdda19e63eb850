internal import CSQLite
internal import Glibc

/// What has to be right about the place where a database lies.
enum FileSystem {
  /// Creates the file if it is missing, readable by its owner alone (the log and the index beside it get the same
  /// rights from SQLite), and refuses a network file system.
  static func prepare(_ path: String) throws(SQLiteError) {
    // A file that is there is not opened: closing it again would drop the locks of any other connection of this
    // process to it (https://www.sqlite.org/howtocorrupt.html §2.2). O_EXCL makes sure that it is ours.
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
    } else if errno != EEXIST {
      throw SQLiteError(.cannotOpen, "\(String(cString: strerror(errno))): \(path)")
    }
    let kind = csqlite_file_system(path)
    guard kind >= 0 else {
      throw SQLiteError(.cannotOpen, "\(String(cString: strerror(errno))): \(path)")
    }
    if let name = networkFileSystem(UInt32(truncatingIfNeeded: kind)) {
      throw SQLiteError(
        .cannotOpen, "\(path) is on \(name), where write-ahead logging does not work; use a local disk")
    }
  }

  /// "WAL does not work over a network filesystem" (https://www.sqlite.org/wal.html §3). Numbers: statfs(2).
  static func networkFileSystem(_ kind: UInt32) -> String? {
    switch kind {
    case 0x6969: "NFS"
    case 0x517b, 0xff53_4d42, 0xfe53_4d42: "SMB/CIFS"
    case 0x5346_414f, 0x6b41_4653: "AFS"
    case 0x0bd0_0bd0: "Lustre"
    default: nil
    }
  }
}
