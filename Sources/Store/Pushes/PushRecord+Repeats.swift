public import SQLite

extension PushRecord {
  /// The push that already goes, or went, to those that a push did not reach; nil: there is none. One that ended before
  /// it had counted its devices does not count: it took nobody over.
  ///
  /// What that one leaves out is repeated from there: two repeats of the same push would send the same twice.
  public static func repeating(_ database: Database, push: Int64) throws -> PushRecord? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM pushes p INDEXED BY pushes_parent
      WHERE p.parent_id = ? AND (p.target IS NOT NULL OR p.state NOT IN ('finished', 'cancelled', 'failed'))
      ORDER BY p.id DESC LIMIT 1
      """, push
    ) { try PushRecord($0) }
  }
}
