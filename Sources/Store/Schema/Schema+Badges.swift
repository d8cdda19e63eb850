import SQLite

extension Schema {
  /// The number on each app icon, as far as Signalbox has set or changed it.
  static let badges = Migration(
    id: "2026-11-23 badges",
    sql: """
      ALTER TABLE devices ADD COLUMN badge INTEGER NOT NULL DEFAULT 0;
      -- 1: a push of this app has counted, so that every number that is set must be known, too.
      ALTER TABLE apps ADD COLUMN counts_badges INTEGER NOT NULL DEFAULT 0;
      """)
}
