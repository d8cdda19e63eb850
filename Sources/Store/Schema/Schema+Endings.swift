internal import SQLite

extension Schema {
  /// What a push owes when it is over: an outcome for each device that it did not come to, and the number of devices
  /// that may have been sent to twice.
  ///
  /// Pushes that a former version cancelled or failed left devices without an outcome: they get it at the next start.
  static let endings = Migration(
    id: "2026-11-21 endings",
    sql: """
      ALTER TABLE pushes ADD COLUMN settling INTEGER NOT NULL DEFAULT 0;    -- 1: over, but not every device has its outcome
      ALTER TABLE pushes ADD COLUMN repeated_unanswered INTEGER NOT NULL DEFAULT 0;   -- sent again: no answer had come
      ALTER TABLE pushes ADD COLUMN repeated_interrupted INTEGER NOT NULL DEFAULT 0;  -- sent again: we had ended meanwhile
      UPDATE pushes SET settling = 1
      WHERE state IN ('cancelled', 'failed') AND last_device_id IS NOT NULL
        AND target > accepted + failed + dead_token + skipped + unknown;
      """)
}
