internal import SQLite

extension Schema {
  /// What a file says beyond the columns of its row, and what people noted of it.
  static let certificateFacts = Migration(
    id: "2026-11-21 certificate facts",
    sql: """
      CREATE TABLE certificate_facts(
        certificate_id INTEGER PRIMARY KEY REFERENCES certificates(id) ON DELETE CASCADE,
        says TEXT NOT NULL,                  -- JSON, without secrets
        made_by TEXT,                        -- Apple ID
        note TEXT
      ) STRICT;
      """)
}
