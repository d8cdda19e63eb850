import Arguments
import Foundation
import SQLite

/// `signalbox backup FILE`: also while a server runs.
enum BackupCommand {
  private static let file = Argument<String>("file", "The copy; a file that is there already is not overwritten.")

  static let command = Command<Action>(
    "backup", "Copies the database to a file, whole, while the server goes on.",
    discussion: """
      secret.key is not in it: keep a copy of that in another place. Who has both can read every stored credential; \
      who has the copy alone cannot.
      """,
    parameters: [file.parameter, CommonOptions.data.parameter]
  ) { values, io in
    let directory = DataDirectory(values, io)
    try directory.mustExist()
    // Without a migration: what is copied is what is there.
    let pool = try DatabasePool(path: directory.database, readers: 1)
    defer { pool.close() }
    try pool.backup(to: values[file]) { progress in
      io.progress("\(progress.done * 100 / max(1, progress.total)) %")
    }
    io.endProgress()
    io.print("Copied to \(values[file]). Keep \(directory.keyFile) too, in another place.")
    return ExitCode.done
  }
}
