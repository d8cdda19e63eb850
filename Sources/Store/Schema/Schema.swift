public import SQLite

/// The tables, as the steps that made them. Append only: a step that was released never changes.
///
/// All tables are STRICT. Times are INTEGER, milliseconds since 1970, UTC. Environments, platforms, states and outcomes
/// that stand in rows by the million are numbers (`Environment.code` and its like), elsewhere their text.
/// Row ids that anything else remembers (an `apns-id`, the audit, a finished push) are AUTOINCREMENT: a deleted
/// device's number never becomes another device's.
public enum Schema {
  /// `SGBX`: `file` and we know a Signalbox database by it.
  public static let applicationID: Int32 = 0x5347_4258

  /// All steps, oldest first.
  public static let migrator = Migrator(
    applicationID: applicationID,
    [
      apps, certificates, devices, pushes, people, phones, waiting,
      schedules,
      retention,
      renewal,
      endings,
      certificateFacts,
      reminders,
      hosts,
      scheduleTrouble,
      coveringReasons,
      trail,
    ])
}
