package import SQLite

/// The tables, one file a noun.
///
/// All tables are STRICT. Times are INTEGER, milliseconds since 1970, UTC. Environments, platforms, states and outcomes
/// that stand in rows by the million are numbers (`Environment.code` and its like), elsewhere their text.
/// Row ids that anything else remembers (an `apns-id`, the audit, a finished push) are AUTOINCREMENT: a deleted
/// device's number never becomes another device's.
package enum Schema {
  /// `SGBX`: `file` and we know a Signalbox database by it.
  package static let applicationID: Int32 = 0x5347_4258

  /// All steps, oldest first. Append only: a step that was released never changes, and neither does the text of the
  /// tables in this folder. A later change is a step of its own below the first one, in the file of its noun.
  package static let migrator = Migrator(applicationID: applicationID, [firstRelease])

  /// What the first release begins with.
  static let firstRelease = Migration(
    id: "2026-11-22 first release",
    sql: [apps, people, certificates, credentials, hosts, reminders, devices, phones, pushes, schedules]
      .joined(separator: "\n"))
}
