package import Foundation
package import SQLite

/// "I am on it until …": somebody has taken a renewal on, and nobody is reminded of it until then.
package struct Acknowledgement: Sendable, Hashable {
  /// One thing, as it is now: its successor is another one.
  package struct Subject: Sendable, Hashable {
    /// As `certificates/12`.
    package let key: String
    /// SHA-256; empty if it has none.
    package let fingerprint: String

    /// Names a thing.
    package init(key: String, fingerprint: String?) {
      self.key = key
      self.fingerprint = fingerprint ?? ""
    }
  }

  /// Of what.
  package let subject: Subject
  /// Who has taken it on.
  package let by: String
  /// Until when nobody is reminded.
  package let until: Date
  /// Since when.
  package let createdAt: Date

  /// Nobody is kept quiet on the last day, in seconds: whoever forgot what they took on hears of it then.
  package static let lastDay: TimeInterval = 86_400

  /// Until when reminders of something that ends can be kept back.
  package static func limit(notAfter: Date) -> Date { notAfter.addingTimeInterval(-lastDay) }

  /// Until when it keeps reminders back of something that ends then: it may have been kept when the end was further away,
  /// or by a version that knew no limit.
  package func quiet(notAfter: Date) -> Date { min(until, Self.limit(notAfter: notAfter)) }

  /// All that hold, by what they are of.
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

  /// The one that holds for a thing, nil if there is none.
  package static func find(_ database: Database, _ subject: Subject, now: Date) throws -> Acknowledgement? {
    try database.fetchOne(
      "SELECT by, until, created_at FROM acknowledgements WHERE item_key = ? AND fingerprint = ? AND until > ?",
      subject.key, subject.fingerprint, now
    ) { row in
      Acknowledgement(subject: subject, by: row.text(0), until: row.date(1), createdAt: row.date(2))
    }
  }

  /// Takes a thing on, in place of whoever had.
  package static func set(_ database: Database, _ subject: Subject, by: String, until: Date, now: Date) throws {
    try database.run(
      """
      INSERT INTO acknowledgements(item_key, fingerprint, by, until, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET by = excluded.by, until = excluded.until, created_at = excluded.created_at
      """, subject.key, subject.fingerprint, by, until, now)
  }

  /// Gives it back.
  ///
  /// - Returns: whether anybody had it.
  @discardableResult
  package static func remove(_ database: Database, _ subject: Subject) throws -> Bool {
    try database.run(
      "DELETE FROM acknowledgements WHERE item_key = ? AND fingerprint = ?", subject.key, subject.fingerprint) > 0
  }
}
