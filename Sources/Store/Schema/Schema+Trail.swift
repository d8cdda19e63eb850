internal import SQLite

extension Schema {
  /// Where a push keeps which devices it has left for: the number of a trail, a file beside the database.
  static let trail = Migration(
    id: "2026-11-22 trail",
    sql: """
      ALTER TABLE pushes ADD COLUMN trail INTEGER NOT NULL DEFAULT 0;   -- 0: none, or nothing is under way
      CREATE INDEX pushes_trail ON pushes(trail) WHERE trail <> 0;
      """)
}
