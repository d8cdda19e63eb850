import Calendar
import Foundation
import HTTPServer
import Reactor
import SQLite
import Store
import Synchronization

/// A consistent copy of the database for the browser, as `signalbox backup` makes it.
///
/// The copy is made beside the database and loses its name before it is sent: nothing is left behind, whatever becomes
/// of the download.
struct BackupDownload: Sendable {
  /// Bytes that are read and sent at a time.
  private static let piece = 1 << 18

  private let pools: Console.Pools
  private let database: DatabasePool
  let name: String

  init(_ console: Console, now: Date) {
    (pools, database) = (console.pools, console.store.pool)
    let stamp = Timestamp.text(now).prefix { $0 != "." && $0 != "Z" }.filter { $0 != "-" && $0 != ":" }
    name = "signalbox-\(stamp)Z.sqlite"
  }

  /// Makes the copy. Ends early if the task is cancelled.
  ///
  /// - Throws: ``PageError`` if another backup is waiting; `SQLiteError`.
  func make() async throws -> Copy {
    let (database, stop) = (database, Stop())
    do {
      return try await withTaskCancellationHandler {
        try await pools.backups.run(waiting: 1) {
          let path = database.path + ".download"
          // Left by a process that was killed.
          try? FileManager.default.removeItem(atPath: path)  // usually, there is none
          try database.backup(to: path) { _ in
            if stop.isSet { throw CancellationError() }
          }
          defer { try? FileManager.default.removeItem(atPath: path) }  // the next backup tries again
          return try Copy(path: path)
        }
      } onCancel: {
        stop.set()
      }
    } catch is BlockingPoolFull {
      throw PageError(.serviceUnavailable, "backup_busy", retryAfter: 60)
    } catch is CancellationError {
      // Nobody receives this answer; it keeps the disconnect from being logged as an internal error.
      throw HTTPError(499, "The client disconnected.")
    }
  }

  func answer(_ copy: Copy) -> Response {
    let files = pools.files
    return Response(
      headers: [
        "Content-Type": "application/vnd.sqlite3", "Content-Disposition": "attachment; filename=\"\(name)\"",
        "Cache-Control": "no-store",
      ],
      body: .stream(length: copy.size) { writer in
        var sent = 0
        while sent < copy.size {
          let bytes = try await files.run { try copy.read(Self.piece) }
          guard !bytes.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
          try await writer.write(bytes)
          sent += bytes.count
        }
      })
  }

  /// Whether the client has gone.
  private final class Stop: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }
  }

  /// An open file without a name.
  final class Copy: Sendable {
    private let file: Mutex<FileHandle>
    let size: Int

    fileprivate init(path: String) throws {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      size = Int(try handle.seekToEnd())
      try handle.seek(toOffset: 0)
      file = Mutex(handle)
    }

    /// The next bytes; none at the end. Blocks.
    fileprivate func read(_ count: Int) throws -> [UInt8] {
      try file.withLock { Array(try $0.read(upToCount: count) ?? Data()) }
    }
  }
}
