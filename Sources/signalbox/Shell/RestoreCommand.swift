import Arguments
import Foundation
import Glibc
import JSON
import Model
import Reactor
import SQLite
import Store
import Text

enum RestoreCommand {
  private static let file = Argument<String>("file", "The backup file.")

  static let command = Command<Action>(
    "restore", "Restore a backup. The previous database is kept next to it.",
    discussion: """
      Stop the server first, and Litestream if it replicates the database. Damaged files and backups of newer versions or from before the first release are refused. If the command is interrupted, \
      the backup is restored either completely, when the folder is next opened, or not at all. Sessions and sign-in \
      links end. Tokens revoked since the backup stay revoked, and users deleted, disabled, or demoted since then stay \
      so; they are listed.
      """,
    parameters: [file.parameter, CommonOptions.data.parameter]
  ) { values, io in
    let directory = DataDirectory(values, io)
    let now = io.now()
    let isNew = access(directory.path, F_OK) != 0
    try directory.create()
    // Nothing is left of a refused restore. Fails, as it should, once something is in the folder.
    defer { if isNew { rmdir(directory.path) } }
    let hasKey = access(directory.keyFile, F_OK) == 0
    if try !directory.lock() {
      throw CommandFailure("\(directory.path) is in use by a running signalbox. Stop it first.")
    }
    defer { directory.unlock() }
    let replacement = Replacement(directory: directory)
    try replacement.finish()
    try check(values[file], io)
    defer { replacement.removeDraft() }
    let remains = directory.remains
    let former = directory.exists ? formerRevocations(directory) : nil
    let report = try prepare(values[file], replacement.draft, former, io, now: now)
    // Before the decision: whoever opens the folder next, finishes it.
    try directory.handOver()
    let hasFormer = directory.exists
    if hasFormer {
      try foldLog(directory)
    } else {
      // The file is empty or missing.
      unlink(directory.database)
    }
    let aside = replacement.aside(now)
    try replacement.decide(aside: aside)
    try replacement.finish()
    io.say("Restored \(values[file]) to \(directory.database).")
    if hasFormer { io.say("The previous database was moved to \(aside).") }
    for line in lines(report) { io.say(line) }
    if report.lacksAdmin {
      io.note("no admin is left; the server prints a sign-in link for a new one at its next start.")
    }
    if former == nil, hasFormer || !remains.isEmpty {
      // On a new machine, to which the key file was copied first, there never was one.
      let cause: Message = hasFormer ? "the previous database cannot be read" : "there is no previous database"
      io.note(
        """
        \(cause): tokens revoked and users deleted since the backup may be back. Check \
        signalbox tokens list and signalbox users list
        """)
    }
    if directory.mayBeReplicated {
      // Nobody can tell whether it ran meanwhile if the previous database is damaged or missing.
      io.note(
        """
        Litestream replicates this database. Restart Litestream, so that the replica continues with the restored \
        database; the replica keeps its earlier states.
        """)
    }
    if hasKey {
      try tellUnreadable(directory, io, now: now)
    } else {
      io.note("\(directory.keyFile) is missing: copy it from the backup's server before you start this one.")
    }
    return ExitCode.done
  }

  /// - Throws: ``CommandFailure`` if the file must not replace the database.
  private static func check(_ path: String, _ io: CommandIO) throws {
    guard access(path, R_OK) == 0 else {
      let number = errno
      throw CommandFailure("\(singleLine(path)): \(NamedFile.words(number))")
    }
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw CommandFailure("\(singleLine(path)) is a folder. Name the backup file in it.")
    }
    io.progress("checking \(path)")
    defer { io.endProgress() }
    do {
      let database = try Database(path: path, mode: .readOnly)
      defer { database.close() }
      _ = try Schema.migrator.pending(database)
      guard try !Schema.migrator.applied(database).isEmpty else {
        throw CommandFailure("\(path) is empty, so it is not a backup.")
      }
      let faults = try database.integrityCheck(limit: 3)
      guard faults.isEmpty else {
        throw CommandFailure("\(path) is damaged (\(faults.joined(separator: "; "))). Use another backup.")
      }
    } catch let error as SQLiteError where [.corrupt, .notADatabase].contains(error.code) {
      throw CommandFailure("\(path) is damaged or not a backup: \(error.message). Use another one.")
    } catch let error as MigrationError {
      throw CommandFailure("\(error)")
    }
  }

  /// Copies the file next to the database and prepares it there, so that an error leaves the database unchanged.
  private static func prepare(
    _ path: String, _ copy: String, _ former: Revocations?, _ io: CommandIO, now: Date
  ) throws -> Revocations.Report {
    for suffix in Replacement.suffixes { unlink(copy + suffix) }
    do {
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      // A database that was set aside may still have its WAL.
      if access(path + "-wal", F_OK) == 0 {
        try FileManager.default.copyItem(atPath: path + "-wal", toPath: copy + "-wal")
      }
    } catch {
      throw CommandFailure("\(path) cannot be copied to \(copy): \(NamedFile.words(error))")
    }
    guard chmod(copy, 0o600) == 0 else { throw SystemError("chmod \(copy)") }
    let pool = try DatabasePool(path: copy, readers: 1)
    defer { pool.close() }
    try pool.migrate(Schema.migrator, at: Int64(now.timeIntervalSince1970 * 1000))
    let report = try pool.writeSync { database in
      var report = try Revocations.endAccess(database, now: now)
      try former?.apply(to: database, &report)
      try audit(database, "database.restore", "file \(path)", detail(report), now: now)
      return report
    }
    let left = try pool.checkpoint(waiting: true)
    guard !left.isPartial else { throw CommandFailure("Another program is reading \(copy). Try again.") }
    try Replacement.sync(copy)
    return report
  }

  /// What the replaced database had revoked; nil if it cannot be read.
  private static func formerRevocations(_ directory: DataDirectory) -> Revocations? {
    // Damaged, or of another version: the caller then reports that nothing is known.
    guard let database = try? Database(path: directory.database, mode: .reader) else { return nil }
    defer { database.close() }
    return try? Revocations(database)
  }

  /// Checkpoints the WAL of the old database, so that it is a single file, and makes sure that no other process has it
  /// open.
  private static func foldLog(_ directory: DataDirectory) throws {
    do {
      let database = try Database(path: directory.database)
      defer { database.close() }
      guard try database.leaveLog() else { throw SQLiteError(.busy, "another program is reading it") }
    } catch let error as SQLiteError where error.isBusy {
      guard !directory.mayBeReplicated else {
        throw CommandFailure(
          """
          \(directory.database) is open in another program, probably Litestream, which replicates it. Stop Litestream, \
          restore, and start Litestream again.
          """)
      }
      throw CommandFailure("Another program has \(directory.database) open. Try again when it has closed the file.")
    } catch {
      // The database is damaged, which may be why a backup is restored: keep it unchanged with its WAL.
    }
  }

  private static func lists(_ report: Revocations.Report) -> [(name: String, words: Message, items: [String])] {
    [
      ("removed", "Deleted, as in the previous database", report.removed),
      ("disabled", "Disabled, as in the previous database", report.disabled),
      ("passwords", "Password kept from the previous database", report.passwords),
      ("roles", "Role kept from the previous database", report.roles),
      ("production", "May not send to production, as in the previous database", report.production),
      ("passkeys", "Passkeys removed, as in the previous database", report.passkeys),
      ("authenticators", "Authenticator app removed or replaced, as in the previous database", report.authenticators),
      ("recovery_codes", "Recovery codes no longer valid, as in the previous database", report.recoveryCodes),
      ("identities", "Single sign-on account unlinked, as in the previous database", report.identities),
      ("tokens", "Tokens revoked, as in the previous database", report.tokens),
      ("calendars", "Calendar link deleted, as in the previous database", report.calendars),
      ("jpush_keys", "JPush keys removed, as in the previous database", report.jpushKeys),
    ].filter { !$0.2.isEmpty }
  }

  private static func lines(_ report: Revocations.Report) -> [Message] {
    var lines: [Message] = []
    if report.sessions + report.links > 0 {
      let sessions = Message(count: report.sessions, one: "1 session", other: "\(report.sessions) sessions")
      let links = Message(count: report.links, one: "1 sign-in link", other: "\(report.links) sign-in links")
      lines.append("Ended: \(sessions), \(links).")
    }
    return lines + lists(report).map { "\($0.words): \($0.items.map(singleLine).joined(separator: ", "))." }
  }

  private static func detail(_ report: Revocations.Report) -> [String: JSONValue] {
    var detail: [String: JSONValue] = ["sessions": .number(report.sessions), "links": .number(report.links)]
    for list in lists(report) { detail[list.name] = .array(list.items.map { .string($0) }) }
    return detail
  }

  /// Reports restored credentials that this key cannot open. Otherwise they would only fail on first use.
  private static func tellUnreadable(_ directory: DataDirectory, _ io: CommandIO, now: Date) throws {
    let store = try directory.open(now: now)
    defer { store.close() }
    let (state, closed) = try store.readSync { database in
      (try Sealing.state(database, store.sealer), try TrackedCertificate.unreadable(database, sealer: store.sealer))
    }
    guard state != .fits || !closed.isEmpty else { return }
    let closedNames = closed.map { singleLine($0.details.name) }.joined(separator: ", ")
    let names: Message = closed.isEmpty ? "" : " Affected: \(closedNames)"
    if state == .fits {
      io.note("\(directory.keyFile) cannot decrypt some private keys.\(names). Upload them again.")
    } else {
      io.note(
        """
        \(directory.keyFile) is not the key this backup was encrypted with and cannot decrypt it. Put the backup's key \
        there. If it is lost, run signalbox rotate-key --lost.\(names)
        """)
    }
  }
}

extension TrackedCertificate {
  /// Certificates whose private key cannot be decrypted.
  static func unreadable(_ database: Database, sealer: any Sealer) throws -> [TrackedCertificate] {
    let closed = try Sealing.closed(database, in: "certificates", sealer)
    return try all(database).filter { closed.contains($0.id) && $0.details.hasPrivateKey }
  }
}
