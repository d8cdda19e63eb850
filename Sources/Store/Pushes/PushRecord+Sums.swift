public import Push
public import SQLite

extension PushRecord {
  /// How many pushes are in each state, from an index.
  public static func states(_ database: Database) throws -> [PushState: Int] {
    var states: [PushState: Int] = [:]
    try database.forEach("SELECT state, count(*) FROM pushes INDEXED BY pushes_states GROUP BY state") { row in
      states[try row.value(0, as: PushState.self)] = row.int(1)
      return .continue
    }
    return states
  }

  /// How many devices had which outcome, of all pushes that are kept; and how many wait to be sent to again.
  public static func outcomes(_ database: Database) throws -> (counts: OutcomeCounts, waiting: Int) {
    var counts = OutcomeCounts()
    try database.forEach("SELECT outcome, sum(count) FROM push_reasons GROUP BY outcome") { row in
      counts[try row.value(0, as: OutcomeKind.self)] = row.int(1)
      return .continue
    }
    let waiting = try database.int(
      """
      SELECT coalesce(sum(waiting), 0) FROM pushes INDEXED BY pushes_unfinished WHERE state IN ('queued', 'sending')
      """)
    return (counts, waiting)
  }
}
