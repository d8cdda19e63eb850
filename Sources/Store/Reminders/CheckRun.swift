public import Foundation
public import SQLite

/// When somebody last looked how long everything lasts: the watchman is watched.
public struct CheckRun: Sendable, Hashable {
  /// Who looks.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// `check-certificates --notify`.
    case cron
    /// The server.
    case serve
  }

  /// Who looked.
  public let source: Source
  /// When.
  public let at: Date
  /// What came out, as `check-certificates` ends.
  public let exitCode: Int

  /// Creates a run.
  public init(source: Source, at: Date, exitCode: Int) {
    self.source = source
    self.at = at
    self.exitCode = exitCode
  }

  /// The last run of each.
  public static func all(_ database: Database) throws -> [CheckRun] {
    try database.fetchAll("SELECT source, at, exit_code FROM checks ORDER BY source") { row in
      CheckRun(source: try row.value(0, as: Source.self), at: row.date(1), exitCode: row.int(2))
    }
  }

  /// Writes it down in place of the one before.
  public func keep(_ database: Database) throws {
    try database.run(
      """
      INSERT INTO checks(source, at, exit_code) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET at = excluded.at, exit_code = excluded.exit_code
      """, source.rawValue, at, exitCode)
  }

  /// Forgets a source: nobody waits for it any more.
  public static func forget(_ database: Database, _ source: Source) throws {
    try database.run("DELETE FROM checks WHERE source = ?", source.rawValue)
  }
}
