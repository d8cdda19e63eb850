import Foundation
import Glibc
import Logging
import Text

/// Keeps a copy of a replicated database up to date: runs `litestream restore -f`, and starts it again if it ends.
///
/// Litestream writes the last transaction that it applied into a file beside the copy, and resumes there.
struct Follower: Sendable {
  /// How often the replica is looked at.
  private static let interval = "500ms"
  /// Seconds before another start; doubled each time.
  private static let pauses = 1...60

  /// Litestream's program.
  let program: String
  /// As `s3://bucket/path` or `file:///mnt/replica`.
  let replica: String
  /// The replica without what may be secret in its URL.
  var place: String { Self.place(of: replica) }

  /// A URL without name, password and query.
  static func place(of replica: String) -> String {
    guard var parts = URLComponents(string: replica) else { return "the replica" }
    (parts.user, parts.password, parts.query) = (nil, nil, nil)
    return parts.string ?? "the replica"
  }

  /// The copy.
  let database: String
  let log: Logger

  private var positionFile: String { database + "-txid" }

  /// The last transaction that the copy has; nil: nothing was copied yet.
  var position: UInt64? {
    guard let text = try? String(contentsOfFile: positionFile, encoding: .utf8) else { return nil }
    return UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines), radix: 16)
  }

  /// Follows until its task is cancelled; then Litestream has ended.
  func run() async {
    var pause = Self.pauses.lowerBound
    while !Task.isCancelled {
      let began = ContinuousClock.now
      do {
        let status = try await litestream("restore", "-f", "-follow-interval", Self.interval, "-o", database, replica)
        if Task.isCancelled { return }
        log.error("litestream ended; it is started again", ["status": status, "seconds": pause])
      } catch {
        log.error("litestream cannot be started", ["error": "\(error)", "seconds": pause])
      }
      if began.duration(to: .now) > .seconds(Self.pauses.upperBound) { pause = Self.pauses.lowerBound }
      do { try await Task.sleep(for: .seconds(pause)) } catch { return }
      pause = min(pause * 2, Self.pauses.upperBound)
    }
  }

  /// The last transaction in the replica.
  ///
  /// - Parameter limit: after which Litestream is ended, as if the replica could not be read: a network that drops
  ///   packets must not keep a take-over waiting.
  /// - Throws: ``CommandFailure`` if the replica cannot be read.
  func newest(within limit: Duration = .seconds(60)) async throws -> UInt64 {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { unlink(path) }
    guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
    else { throw CommandFailure("\(path) cannot be written.") }
    let status = try await withThrowingTaskGroup(of: Int32?.self) { group in
      group.addTask { try await litestream("ltx", "-level", "all", replica, output: file, last: SIGKILL) }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      let first = try await group.next()
      // The other one of the two: Litestream is ended.
      group.cancelAll()
      return first ?? nil
    }
    try file.close()
    guard let status else {
      throw CommandFailure("\(place) did not answer within \(limit); see what litestream says above.")
    }
    // level min_txid max_txid size created
    let rows = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
    let last = rows.compactMap { row -> UInt64? in
      let cells = row.split(separator: " ", omittingEmptySubsequences: true)
      return cells.count > 2 ? UInt64(cells[2], radix: 16) : nil
    }.max()
    guard status == 0, let last else {
      throw CommandFailure("\(place) cannot be read, or has no transactions; see what litestream says above.")
    }
    return last
  }

  /// Makes the copy a database of its own: forgets where following would resume.
  func finish() throws {
    guard chmod(database, 0o600) == 0 else { throw CommandFailure("\(database) cannot be made private.") }
    unlink(positionFile)
  }

  /// Runs Litestream until it ends, or its task is cancelled.
  ///
  /// - Parameter last: the signal on cancellation. A program may start with SIGTERM blocked, as this one's threads have
  ///   it: one that is not known to open it for itself is killed.
  private func litestream(
    _ words: String..., output: FileHandle = .standardError, last: Int32 = SIGTERM
  ) async throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.standardError
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
        do {
          try process.run()
          // Cancelled before it ran: the handler below found nothing to end.
          if Task.isCancelled { kill(process.processIdentifier, last) }
        } catch {
          process.terminationHandler = nil
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      if process.isRunning { kill(process.processIdentifier, last) }
    }
  }
}
