import Arguments
import Calendar
import Foundation
import SQLite
import Store
import Text

/// `signalbox backup FILE` and `signalbox backup --to DIR`: works while a server runs.
enum BackupCommand {
  private static let file = Argument<[String]>(
    rest: "file", "The backup file. An existing file is not overwritten.", atLeastOne: false)
  private static let folder = Option<String?>(
    "to", "dir", "Instead of a file: a folder. Each backup there is named after its time (UTC).")
  private static let keep = Option<Int?>(
    "keep", "number", "With --to: keep this many backups in that folder, and delete older ones."
  ) { text throws(BadValue) in
    guard let number = Int(text), number > 0 else { throw BadValue("is not a number from 1") }
    return number
  }

  static let command = Command<Action>(
    "backup", "Back up the database to a file while the server keeps running.",
    discussion: """
      The backup does not contain secret.key. Keep a copy of that file in a different place: anyone who has both can \
      read every stored credential, and a backup alone is not enough.

      For cron: signalbox backup --to /var/backups/signalbox --keep 14. Older backups are deleted only after the new \
      one is complete and checked; other files in the folder are never touched.
      """,
    parameters: [file.parameter, folder.parameter, keep.parameter, CommonOptions.data.parameter]
  ) { values, io in
    let directory = DataDirectory(values, io)
    let destination: String
    var number: Int32?
    switch (values[file].count, values[folder]) {
    case (1, nil): destination = values[file][0]
    case (0, let folder?):
      let missing = FileOwner.missingFolders(to: folder)
      try NamedFile.makeFolder(folder, option: "--to")
      for made in missing { try directory.handOver(copy: made) }
      destination = "\(folder)/\(BackupFolder.name(io.now()))"
      number = try BackupFolder.nextNumber(folder)
    default: throw CommandFailure.usage("Name either a file, or a folder with --to.")
    }
    guard values[keep] == nil || values[folder] != nil else {
      throw CommandFailure.usage("--keep requires --to: a single file is never deleted.")
    }
    try directory.mustExist()
    // Opened without migrating, so that the copy equals the original.
    let pool = try DatabasePool(path: directory.database, readers: 1, isReplicated: directory.isReplicated)
    defer { pool.close() }
    var isCurrent = false
    do {
      isCurrent = try pool.readSync { try Schema.migrator.pending($0) }.isEmpty
    } catch MigrationError.newer {
      // A newer version wrote this database, and can restore the copy.
    }
    try NamedFile.mustBeNew(destination)
    do {
      try pool.backup(to: destination, number: number) { progress in
        io.progress("\(progress.done * 100 / max(1, progress.total)) %")
      }
    } catch let error as SQLiteError where error.code == .cannotOpen {
      let reason = error.message.replacing(": \(destination).partial", with: "").replacing(": \(destination)", with: "")
      throw CommandFailure(
        """
        \(singleLine(destination)) cannot be written: \(EnglishSentence(reason)). Check that its folder exists and that \
        this user can write to it.
        """)
    }
    io.endProgress()
    try directory.handOver(copy: destination)
    // A database of another version has another activity log.
    if isCurrent {
      let now = io.now()
      do {
        try pool.writeSync { try audit($0, "database.backup", "file \(destination)", now: now) }
      } catch {
        io.note("the backup is complete, but could not be recorded in the activity log: \(error)")
      }
    }
    io.say("Backed up to \(destination). Keep a copy of \(directory.keyFile) too, in a different place.")
    guard let folder = values[folder] else { return ExitCode.done }
    let ahead = try BackupFolder.dated(after: destination, in: folder)
    if let first = ahead.first {
      io.note(
        Message(
          count: ahead.count,
          one: """
            1 backup has a time in the future: \(first). The clock was wrong when it was made, or is wrong now. Backups are \
            kept in the order in which they were made, whatever their names say.
            """,
          other: """
            \(ahead.count) backups have a time in the future, the first \(first). The clock was wrong when they were made, \
            or is wrong now. Backups are kept in the order in which they were made, whatever their names say.
            """))
    }
    if let keep = values[keep] {
      for name in try BackupFolder.prune(folder, keep: keep, made: destination) {
        io.say("Deleted the older backup \(folder)/\(name).")
      }
    }
    return ExitCode.done
  }
}

extension Date {
  /// As `20261120T120000Z`, for names of files: in order they are in the order of time.
  var fileStamp: String {
    Timestamp.text(self).prefix { $0 != "." && $0 != "Z" }.filter { $0 != "-" && $0 != ":" } + "Z"
  }
}

/// The folder of `backup --to`.
enum BackupFolder {
  private static let (beginning, ending) = ("signalbox-", ".sqlite")

  /// As `signalbox-20261120T120000Z.sqlite`.
  static func name(_ time: Date) -> String { beginning + time.fileStamp + ending }

  /// Deletes all but the newest backups. Files with other names are somebody else's.
  ///
  /// The numbers in the files decide what is newest, and among files of earlier versions, which have none, their names: a
  /// clock may have run ahead.
  ///
  /// - Parameter made: the path of the backup that was just made, which stays.
  /// - Returns: the names of those deleted.
  static func prune(_ folder: String, keep: Int, made: String) throws -> [String] {
    let own = (made as NSString).lastPathComponent
    let others = try names(folder).filter { $0 != own }.map { (name: $0, number: number("\(folder)/\($0)")) }
    let old = others.sorted { ($0.number, $0.name) < ($1.number, $1.name) }.map(\.name).dropLast(keep - 1)
    for name in old { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
    return Array(old)
  }

  /// The number for the next backup of a folder.
  static func nextNumber(_ folder: String) throws -> Int32 {
    (try names(folder).map { number("\(folder)/\($0)") }.max() ?? 0) &+ 1
  }

  /// The backups whose names say a later time than that of the one that was just made.
  static func dated(after made: String, in folder: String) throws -> [String] {
    let own = (made as NSString).lastPathComponent
    return try names(folder).filter { $0 > own }
  }

  private static func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter(isBackup).sorted()
  }

  /// 0 for a file without a number, and one that cannot be read.
  private static func number(_ path: String) -> Int32 { max(0, DatabasePool.backupNumber(path) ?? 0) }

  private static func isBackup(_ name: String) -> Bool {
    guard name.hasPrefix(beginning), name.hasSuffix("Z" + ending) else { return false }
    let stamp = name.dropFirst(beginning.count).dropLast(ending.count + 1)
    let digits = stamp.replacing("T", with: "", maxReplacements: 1)
    return stamp.count == 15 && digits.count == 14 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
