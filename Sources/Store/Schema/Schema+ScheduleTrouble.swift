internal import SQLite

extension Schema {
  /// What an overview asks of schedules, without looking at every occurrence that there ever was: those that were missed
  /// lately, and schedules that stopped by themselves.
  static let scheduleTrouble = Migration(
    id: "2026-11-21 schedule trouble",
    sql: """
      CREATE INDEX schedule_occurrences_missed ON schedule_occurrences(noted_at) WHERE push_id IS NULL;
      CREATE INDEX schedules_stopped ON schedules(id) WHERE error IS NOT NULL;
      """)
}
