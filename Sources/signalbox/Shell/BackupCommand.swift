import Arguments
import Foundation
import SQLite
import Store

/// `signalbox backup FILE`: works while a server runs.
enum BackupCommand {
  private static let file = Argument<String>("file", "The backup file. An existing file is not overwritten.")

  static let command = Command<Action>(
    "backup", "Back up the database to a file while the server keeps running.",
    discussion: """
      The backup does not contain secret.key. Keep a copy of that file in a different place: anyone who has both can \
      read every stored credential, and a backup alone is not enough.
      """,
    parameters: [file.parameter, CommonOptions.data.parameter]
  ) { values, io in
    let directory = DataDirectory(values, io)
    try directory.mustExist()
    // Opened without migrating, so that the copy equals the original.
    let pool = try DatabasePool(path: directory.database, readers: 1)
    defer { pool.close() }
    do {
      _ = try pool.readSync { try Schema.migrator.pending($0) }
    } catch MigrationError.newer {
      // A newer version wrote this database, and can restore the copy.
    }
    try pool.backup(to: values[file]) { progress in
      io.progress("\(progress.done * 100 / max(1, progress.total)) %")
    }
    io.endProgress()
    io.print("Backed up to \(values[file]). Keep a copy of \(directory.keyFile) too, in a different place.")
    return ExitCode.done
  }
}
