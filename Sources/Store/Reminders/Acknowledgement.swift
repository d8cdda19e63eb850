package import Foundation
package import SQLite

/// "I'll handle it": somebody has taken on a renewal, and reminders are paused until then.
package struct Acknowledgement: Sendable, Hashable {
  /// A thing with its fingerprint: its replacement is another subject.
  package struct Subject: Sendable, Hashable {
    /// Such as `certificates/12`.
    package let key: String
    /// SHA-256; empty if there is none.
    package let fingerprint: String

    package init(key: String, fingerprint: String?) {
      self.key = key
      self.fingerprint = fingerprint ?? ""
    }
  }

  package let subject: Subject
  package let by: String
  /// The end of the pause.
  package let until: Date
  package let createdAt: Date

  /// The last day, in seconds, on which reminders are never paused, in case the renewal was forgotten.
  package static let lastDay: TimeInterval = 86_400

  /// The latest end of a pause for a thing with this end.
  package static func limit(notAfter: Date) -> Date { notAfter.addingTimeInterval(-lastDay) }

  /// The effective end of the pause: the thing's end may have been later when it was stored, or an older version had no
  /// limit.
  package func quiet(notAfter: Date) -> Date { min(until, Self.limit(notAfter: notAfter)) }

  /// All in force, by subject.
  package static func all(_ database: Database, now: Date) throws -> [Subject: Acknowledgement] {
    let rows = try database.fetchAll(
      "SELECT item_key, fingerprint, by, until, created_at FROM acknowledgements WHERE until > ?", now
    ) { row in
      Acknowledgement(
        subject: Subject(key: row.text(0), fingerprint: row.text(1)), by: row.text(2), until: row.date(3),
        createdAt: row.date(4))
    }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.subject, $0) })
  }

  /// The one in force for a subject, nil if there is none.
  package static func find(_ database: Database, _ subject: Subject, now: Date) throws -> Acknowledgement? {
    try database.fetchOne(
      "SELECT by, until, created_at FROM acknowledgements WHERE item_key = ? AND fingerprint = ? AND until > ?",
      subject.key, subject.fingerprint, now
    ) { row in
      Acknowledgement(subject: subject, by: row.text(0), until: row.date(1), createdAt: row.date(2))
    }
  }

  /// Replaces a previous one.
  package static func set(_ database: Database, _ subject: Subject, by: String, until: Date, now: Date) throws {
    try database.run(
      """
      INSERT INTO acknowledgements(item_key, fingerprint, by, until, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET by = excluded.by, until = excluded.until, created_at = excluded.created_at
      """, subject.key, subject.fingerprint, by, until, now)
  }

  /// Deletes it.
  ///
  /// - Returns: whether it existed.
  @discardableResult
  package static func remove(_ database: Database, _ subject: Subject) throws -> Bool {
    try database.run(
      "DELETE FROM acknowledgements WHERE item_key = ? AND fingerprint = ?", subject.key, subject.fingerprint) > 0
  }
}

/// The last expiry check: shows whether the checks themselves still run.
package struct CheckRun: Sendable, Hashable {
  package enum Source: String, Sendable, Hashable, CaseIterable {
    /// `check-certificates --notify`.
    case cron
    /// The server.
    case serve
  }

  package let source: Source
  package let at: Date
  /// The exit code of `check-certificates`.
  package let exitCode: Int
  package init(source: Source, at: Date, exitCode: Int) {
    (self.source, self.at, self.exitCode) = (source, at, exitCode)
  }

  package static func all(_ database: Database) throws -> [CheckRun] {
    try database.fetchAll("SELECT source, at, exit_code FROM checks ORDER BY source") { row in
      CheckRun(source: try row.value(0, as: Source.self), at: row.date(1), exitCode: row.int(2))
    }
  }

  /// Replaces the previous run.
  package func keep(_ database: Database) throws {
    try database.run(
      """
      INSERT INTO checks(source, at, exit_code) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET at = excluded.at, exit_code = excluded.exit_code
      """, source.rawValue, at, exitCode)
  }

  /// Deletes a source, which is no longer expected to run.
  package static func forget(_ database: Database, _ source: Source) throws {
    try database.run("DELETE FROM checks WHERE source = ?", source.rawValue)
  }
}
