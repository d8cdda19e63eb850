import Foundation
package import JSON
package import Model
package import SQLite
import Text

/// What a kept file says beyond the columns of its row, and what people noted of it. Nothing in it is secret.
package struct CertificateContents: Sendable, Hashable {
  /// What only people know.
  package struct Notes: Sendable, Hashable {
    /// The Apple ID of whoever made it: who can renew it.
    package let madeBy: String?
    /// Free text.
    package let note: String?

    /// Characters.
    package static let madeByLimit = 320
    /// Characters.
    package static let noteLimit = 2000

    /// Takes texts as they were typed; empty ones are none.
    ///
    /// - Throws: `Problems` at `made_by` and `note` for texts that are too long.
    package init(madeBy: String?, note: String?) throws(Problems) {
      func filled(_ text: String?) -> String? {
        let trimmed = text?.trimmingCharacters(in: .whitespacesAndNewlines)
        return trimmed?.isEmpty == false ? trimmed : nil
      }
      (self.madeBy, self.note) = (filled(madeBy), filled(note))
      let fields = [("made_by", self.madeBy, Self.madeByLimit), ("note", self.note, Self.noteLimit)]
      let problems = fields.compactMap { field, text, limit in
        (text?.count ?? 0) <= limit
          ? nil
          : Problem(
            field, code: "certificate.too_long", "Must have at most {limit} characters, but has {count}.",
            ["limit": "\(limit)", "count": "\(text?.count ?? 0)"])
      }
      if !problems.isEmpty { throw Problems(problems) }
    }
  }

  /// As the Certificates room tells an inspected file.
  package let says: JSONValue
  /// What only people know.
  package let notes: Notes

  /// Keeps them for a file that was just kept.
  package static func add(_ database: Database, certificate: Int64, says: JSONValue, _ notes: Notes) throws {
    try database.run(
      "INSERT INTO certificate_facts(certificate_id, says, made_by, note) VALUES (?, ?, ?, ?)", certificate,
      says.text(), notes.madeBy, notes.note)
  }

  /// A file says more than the one that was kept before, as with its key; what people noted stays.
  package static func update(_ database: Database, certificate: Int64, says: JSONValue) throws {
    try database.run(
      """
      INSERT INTO certificate_facts(certificate_id, says) VALUES (?1, ?2)
      ON CONFLICT(certificate_id) DO UPDATE SET says = excluded.says
      """, certificate, says.text())
  }

  /// Changes what people noted.
  package static func update(_ database: Database, certificate: Int64, _ notes: Notes) throws {
    try database.run(
      """
      INSERT INTO certificate_facts(certificate_id, says, made_by, note) VALUES (?1, 'null', ?2, ?3)
      ON CONFLICT(certificate_id) DO UPDATE SET made_by = excluded.made_by, note = excluded.note
      """, certificate, notes.madeBy, notes.note)
  }

  /// Those of one file; nil if it was kept before they were.
  package static func find(_ database: Database, certificate: Int64) throws -> CertificateContents? {
    try all(database, certificate: certificate)[certificate]
  }

  /// Those of all files, or of one, by the file's row id.
  package static func all(_ database: Database, certificate: Int64? = nil) throws -> [Int64: CertificateContents] {
    var found: [Int64: CertificateContents] = [:]
    try database.forEach(
      certificate == nil
        ? "SELECT certificate_id, says, made_by, note FROM certificate_facts WHERE ?1 IS NULL"
        : "SELECT certificate_id, says, made_by, note FROM certificate_facts WHERE certificate_id = ?1", certificate
    ) { row in
      found[row.int64(0)] = CertificateContents(
        // Of the whole text, which has what is not plain in its strings alone.
        says: try JSONValue(parsing: Data(row.text(1).singleLine.utf8)),
        notes: try Notes(madeBy: row.optionalText(2), note: row.optionalText(3)))
      return .continue
    }
    return found
  }
}
