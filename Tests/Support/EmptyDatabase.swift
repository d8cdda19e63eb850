package import Foundation
internal import Glibc
internal import Reactor
internal import SQLite
package import Store

/// A database with today's tables and no rows, made once for all tests of a process: making the tables takes longer than
/// most tests, and is left to the tests of the schema.
package enum EmptyDatabase {
  private static let made = Result { try make() }

  /// The file.
  package static var bytes: Data { get throws { try made.get() } }

  /// Writes the file to a path at which there is none yet.
  static func write(to path: String) throws {
    // Data's own way to a file waits until the disk has it.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError("open \(path)") }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  private static func make() throws -> Data {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let path = folder.path + "/empty.sqlite"
    let pool = try DatabasePool(path: path, readers: 1)
    defer { pool.close() }
    try pool.migrate(Schema.migrator, at: noon.milliseconds)
    pool.close()  // which moves the log into the file
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }
}

extension Store {
  /// ``open(path:sealer:readers:isReplicated:now:)`` for a new file, which begins as ``EmptyDatabase``.
  package static func openNew(path: String, sealer: any Sealer, readers: Int = 4, now: Date) throws -> Store {
    try EmptyDatabase.write(to: path)
    return try open(path: path, sealer: sealer, readers: readers, now: now)
  }
}
