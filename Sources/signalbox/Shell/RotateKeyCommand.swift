import Arguments
import Foundation
import Glibc
import JSON
import OpenSSL
import Model
import Reactor
import SQLite
import Store
import Text

enum RotateKeyCommand {
  private static let lost = Flag(
    "lost", "The key is lost: start over with a new one. Everything the old one encrypted must be uploaded again.")
  private static let keep = Option<String?>(
    "keep-old", "file", "Save the old key to this file. Earlier backups need it.")

  static let command = Command<Action>(
    "rotate-key", "Change the key that encrypts stored private keys.",
    discussion: """
      All secrets are encrypted again in one step. If it is interrupted, the next run or server start finishes it. \
      Stop the server first. Earlier backups need the old key. At the end, the database is rewritten so that nothing \
      encrypted with the old key remains in it. This temporarily takes as much disk space again.
      """,
    parameters: [lost.parameter, keep.parameter, CommonOptions.data.parameter]
  ) { values, io in
    let directory = DataDirectory(values, io)
    try directory.mustExist()
    guard try directory.lock() else {
      throw CommandFailure("\(directory.path) is in use by a running signalbox. Stop it first.")
    }
    defer { directory.unlock() }
    try directory.handOver()
    let rotation = KeyRotation(directory: directory)
    if try rotation.finishIfBrokenOff() {
      io.say("Finished the interrupted rotation. \(directory.keyFile) is the new key.")
      return ExitCode.done
    }
    return try values[lost] ? beginAnew(directory, io) : rotate(directory, rotation, keep: values[keep], io)
  }

  private static func rotate(
    _ directory: DataDirectory, _ rotation: KeyRotation, keep: String?, _ io: CommandIO
  ) throws -> Int32 {
    let old = try directory.key()
    if let keep {
      try copy(directory.keyFile, to: keep)
      try directory.handOver(copy: keep)
    }
    let new = try rotation.prepare()
    let done: KeyRotation.Done
    do {
      done = try rotation.reseal(from: old, to: new, now: io.now())
    } catch {
      unlink(directory.nextKeyFile)
      throw error
    }
    let leftover = rotation.scrub()
    try rotation.finish()
    io.say(
      Message(
        count: done.count, one: "Encrypted 1 secret with a new key (\(done.new)) in \(directory.keyFile).",
        other: "Encrypted \(done.count) secrets with a new key (\(done.new)) in \(directory.keyFile)."))
    io.say(
      keep.map { "The old key (\(done.old)) is in \($0). Earlier backups need it." }
        ?? "The old key (\(done.old)) is gone. Make a new backup now, because earlier ones need the old key.")
    if let leftover {
      io.note(
        """
        the database could not be rewritten, so its free pages may contain data encrypted with the old key: \
        \(leftover). Free up space and rotate the key again.
        """)
    }
    if !done.closed.isEmpty {
      let rows = done.closed.map { "\($0.table)/\($0.id)" }.joined(separator: ", ")
      io.note("the old key could not decrypt \(rows): upload them again.")
    }
    return ExitCode.done
  }

  /// Copies the key file to a new file, and waits until it is on the disk: the old key is about to be deleted.
  private static func copy(_ path: String, to copy: String) throws {
    guard let text = FileManager.default.contents(atPath: path) else { throw SystemError("open \(path)") }
    try NamedFile.mustBeNew(copy)
    do {
      try NamedFile.write(Array(text), toNew: copy)
    } catch {
      throw CommandFailure(
        """
        The old key cannot be saved to \(singleLine(copy)): \(NamedFile.words(error.number)). The key was not changed. \
        Choose another file with --keep-old.
        """)
    }
  }

  private static func beginAnew(_ directory: DataDirectory, _ io: CommandIO) throws -> Int32 {
    let key = try directory.storedKey() ?? directory.createKey()
    let now = io.now()
    let store = try directory.openStore(key, readers: 1, now: now)
    defer { store.close() }
    let closed = try store.writeSync { database -> [TrackedCertificate]? in
      guard try Sealing.state(database, key) != .fits else { return nil }
      try Sealing.beginAnew(database, key, now: now)
      try audit(database, "key.begin_anew", "secret.key", ["key": .string(key.identifier)], now: now)
      return try TrackedCertificate.unreadable(database, sealer: key)
    }
    guard let closed else {
      throw CommandFailure("\(directory.keyFile) matches this database. Nothing is lost, and nothing was changed.")
    }
    io.say("New secrets are encrypted with \(directory.keyFile) (\(key.identifier)).")
    if !closed.isEmpty {
      io.say("Upload these again, each on its page or with signalbox certificates renew <id> <file>:")
      for certificate in closed { io.print("  \(certificate.id)  \(singleLine(certificate.details.name))") }
    }
    return ExitCode.done
  }
}
