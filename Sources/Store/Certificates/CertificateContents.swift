import Foundation
package import JSON
package import Model
package import SQLite
import Text

/// What a stored file says beyond its row's columns, and people's notes. Never secret.
package struct CertificateContents: Sendable, Hashable {
  /// Entered by people.
  package struct Notes: Sendable, Hashable {
    /// The Apple ID of its creator, who can renew it.
    package let madeBy: String?
    package let note: String?

    /// Characters.
    package static let madeByLimit = 320
    /// Characters.
    package static let noteLimit = 2000

    /// Empty texts become nil.
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

  /// The Certificates room's description of the inspected file.
  package let says: JSONValue
  package let notes: Notes

  /// Adds them for a new file.
  package static func add(_ database: Database, certificate: Int64, says: JSONValue, _ notes: Notes) throws {
    try database.run(
      "INSERT INTO certificate_facts(certificate_id, says, made_by, note) VALUES (?, ?, ?, ?)", certificate,
      says.text(), notes.madeBy, notes.note)
  }

  /// Replaces the description, for instance after a key was added; notes stay.
  package static func update(_ database: Database, certificate: Int64, says: JSONValue) throws {
    try database.run(
      """
      INSERT INTO certificate_facts(certificate_id, says) VALUES (?1, ?2)
      ON CONFLICT(certificate_id) DO UPDATE SET says = excluded.says
      """, certificate, says.text())
  }

  package static func update(_ database: Database, certificate: Int64, _ notes: Notes) throws {
    try database.run(
      """
      INSERT INTO certificate_facts(certificate_id, says, made_by, note) VALUES (?1, 'null', ?2, ?3)
      ON CONFLICT(certificate_id) DO UPDATE SET made_by = excluded.made_by, note = excluded.note
      """, certificate, notes.madeBy, notes.note)
  }

  /// Nil for files stored before this table existed.
  package static func find(_ database: Database, certificate: Int64) throws -> CertificateContents? {
    try all(database, certificate: certificate)[certificate]
  }

  /// By the file's row ID; of all files, or of one.
  package static func all(_ database: Database, certificate: Int64? = nil) throws -> [Int64: CertificateContents] {
    var found: [Int64: CertificateContents] = [:]
    try database.forEach(
      certificate == nil
        ? "SELECT certificate_id, says, made_by, note FROM certificate_facts WHERE ?1 IS NULL"
        : "SELECT certificate_id, says, made_by, note FROM certificate_facts WHERE certificate_id = ?1", certificate
    ) { row in
      found[row.int64(0)] = CertificateContents(
        // Filters the whole text, because only strings can contain such characters.
        says: try JSONValue(parsing: Data(row.text(1).singleLine.utf8)),
        notes: try Notes(madeBy: row.optionalText(2), note: row.optionalText(3)))
      return .continue
    }
    return found
  }
}
