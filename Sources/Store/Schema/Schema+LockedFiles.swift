internal import SQLite

extension Schema {
  /// Files that were brought to be kept and wait for a right password.
  static let lockedFiles = Migration(
    id: "2026-11-22 locked files",
    sql: """
      CREATE TABLE locked_files(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        sealed BLOB NOT NULL                 -- name and content, JSON, sealed with "locked_files/<id>"
      ) STRICT;
      """)
}
