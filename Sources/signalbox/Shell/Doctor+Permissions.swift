import Glibc
import SQLite
import Text

extension Doctor {
  func mode(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode : nil
  }

  func folder() -> Finding {
    let path = directory.path
    guard let mode = mode(path), mode & S_IFMT == S_IFDIR else {
      return Finding(
        subject: "data", level: .error, message: "\(path) is not a folder", remedy: "Choose another one with --data.")
    }
    guard access(path, R_OK | W_OK | X_OK) == 0 else { return Self.unwritable("data", path) }
    guard mode & 0o077 == 0 else {
      return Finding(
        subject: "data", level: .warning, message: "other users can read \(path) (mode \(Self.octal(mode)))",
        remedy: "chmod 700 \(path)")
    }
    return Finding(subject: "data", level: .ok, message: "only its owner can read \(path)")
  }

  /// A file or folder that this user cannot write to.
  ///
  /// - Parameters:
  ///   - owner: whom it belongs to; by default, as the disk says.
  ///   - user: who runs this command.
  static func unwritable(
    _ subject: Message, _ path: String, owner: uid_t? = nil, mode: mode_t? = nil, user: uid_t = geteuid()
  ) -> Finding {
    var status = stat()
    if stat(path, &status) != 0 { status.st_uid = user }
    let holder = owner ?? status.st_uid
    let (ownerName, userName) = (systemName(of: holder), systemName(of: user))
    guard holder != user else {
      return Finding(
        subject: subject, level: .error,
        message: "\(path) cannot be written, although user \(userName) owns it (mode \(octal(mode ?? status.st_mode)))",
        remedy: "Run chmod -R u+rwX \(path)")
    }
    return Finding(
      subject: subject, level: .error,
      message: "\(path) belongs to user \(ownerName); user \(userName), who runs this command, cannot write to it",
      remedy: "Run it as user \(ownerName), or as root run chown -R \(userName) \(path)")
  }

  /// What to do if the database cannot be read: a backup helps only against damage.
  static func remedy(ofDatabase error: any Error) -> Message {
    switch (error as? SQLiteError)?.code {
    case .readOnly, .cannotOpen:
      "The file may be sound. Make the data folder and its files writable for user \(systemName(of: geteuid()))."
    case .full, .inputOutput:
      "The file may be sound. Free up space on its disk, or check the disk, then run signalbox doctor again."
    case .busy, .locked: "Try again when the other program is done."
    default: "Stop the server, keep a copy of the file, then run signalbox restore <backup>."
    }
  }

  static func octal(_ mode: mode_t) -> String { String(mode & 0o777, radix: 8) }
}
