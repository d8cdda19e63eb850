package import Foundation
package import SQLite

/// When somebody last looked how long everything lasts: the watchman is watched.
package struct CheckRun: Sendable, Hashable {
  /// Who looks.
  package enum Source: String, Sendable, Hashable, CaseIterable {
    /// `check-certificates --notify`.
    case cron
    /// The server.
    case serve
  }

  /// Who looked.
  package let source: Source
  /// When.
  package let at: Date
  /// What came out, as `check-certificates` ends.
  package let exitCode: Int
  package init(source: Source, at: Date, exitCode: Int) {
    self.source = source
    self.at = at
    self.exitCode = exitCode
  }

  /// The last run of each.
  package static func all(_ database: Database) throws -> [CheckRun] {
    try database.fetchAll("SELECT source, at, exit_code FROM checks ORDER BY source") { row in
      CheckRun(source: try row.value(0, as: Source.self), at: row.date(1), exitCode: row.int(2))
    }
  }

  /// Writes it down in place of the one before.
  package func keep(_ database: Database) throws {
    try database.run(
      """
      INSERT INTO checks(source, at, exit_code) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET at = excluded.at, exit_code = excluded.exit_code
      """, source.rawValue, at, exitCode)
  }

  /// Forgets a source: nobody waits for it any more.
  package static func forget(_ database: Database, _ source: Source) throws {
    try database.run("DELETE FROM checks WHERE source = ?", source.rawValue)
  }
}
