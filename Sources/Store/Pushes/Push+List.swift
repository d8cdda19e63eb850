package import Foundation
package import Model
package import SQLite

extension Push {
  /// A page of the pushes that fit, newest first.
  ///
  /// Where no index finds what fits, a page may have fewer items than asked for: it then looked as far back as it had
  /// `patience`, and the next page goes on behind that.
  ///
  /// - Parameter cursor: `next` of the page before; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, _ filter: PushFilter, cursor: String? = nil, limit: Int, patience: Patience = Patience()
  ) throws -> Page<Push> {
    let (sql, arguments, looksThrough) = query(filter, before: try position(cursor) ?? .max, limit: limit + 1)
    guard looksThrough else {
      return Page(try database.fetchAll(sql, arguments: arguments) { try Push($0) }, limit: limit, key: \.id)
    }
    var patience = patience
    var ids: [Int64] = []
    var reached: Int64?
    try database.forEach(sql, arguments: arguments) { row in
      let id = row.int64(0)
      if row.bool(1) { ids.append(id) }
      if ids.count > limit { return .stop }
      guard id % Int64(Patience.lot) == 0, patience.isOver() else { return .continue }
      reached = id
      return .stop
    }
    let page = Page(try ids.map { try get(database, id: $0) }, limit: limit, key: \.id)
    return Page(items: page.items, next: page.next ?? reached.map { String($0) })
  }

  /// The query of a page; or, where it looks through all from `before` on, one for the ids of what fits and of a row of
  /// each lot of ``Patience``, and whether they fit.
  static func query(
    _ filter: PushFilter, before: Int64, limit: Int
  ) -> (sql: String, arguments: [any SQLiteBindable], looksThrough: Bool) {
    var conditions: [String] = []
    var arguments: [any SQLiteBindable] = []
    func add(_ condition: String, _ value: (any SQLiteBindable)?) {
      guard let value else { return }
      conditions.append(condition)
      arguments.append(value)
    }
    add("p.app_id = ?", filter.app)
    add("p.environment = ?", filter.environment?.rawValue)
    add("p.source = ?", filter.source)
    add("p.created_at >= ?", filter.from)
    add("p.created_at < ?", filter.before)
    add("p.search LIKE ? ESCAPE '\\'", filter.search.map { "%" + escaped($0) + "%" })
    if !filter.states.isEmpty {
      conditions.append("p.state IN \(placeholders(filter.states.count))")
      arguments += filter.states.map { $0.rawValue as any SQLiteBindable }
    }
    let also = conditions.map { " AND " + $0 }.joined()
    for (column, value) in [("parent", filter.parent), ("schedule", filter.schedule)] {
      guard let value else { continue }
      return (
        """
        SELECT \(columns) FROM pushes p INDEXED BY pushes_\(column)
        WHERE p.\(column)_id = ? AND p.id < ?\(also) ORDER BY p.id DESC LIMIT ?
        """, [value, before] + arguments + [limit], false
      )
    }
    if let state = filter.states.first, filter.states.count == 1, state != .finished {
      return (
        """
        SELECT \(columns) FROM pushes p INDEXED BY pushes_state
        WHERE p.state = ? AND p.state <> 'finished' AND p.id < ?\(also) ORDER BY p.id DESC LIMIT ?
        """, [state.rawValue, before] + arguments + [limit], false
      )
    }
    if conditions.isEmpty {
      return ("SELECT \(columns) FROM pushes p WHERE p.id < ? ORDER BY p.id DESC LIMIT ?", [before, limit], false)
    }
    // Read from the index alone.
    return (
      """
      SELECT id, fits FROM (
        SELECT p.id, (\(conditions.joined(separator: " AND "))) AS fits FROM pushes p INDEXED BY pushes_list
        WHERE p.id < ?
      ) WHERE fits OR id % \(Patience.lot) = 0 ORDER BY id DESC
      """, arguments + [before], true
    )
  }
}

/// Text as LIKE takes it literally, with `\` as the escape.
func escaped(_ text: String) -> String {
  text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
}

/// What a list of pushes is narrowed down to; nil: not by this.
package struct PushFilter: Sendable, Hashable {
  /// Pushes of this app.
  package var app: Int64?
  /// Pushes to this environment.
  package var environment: Environment?
  /// Pushes in one of these states; empty: in any.
  package var states: [PushState] = []
  /// Pushes that came this way.
  package var source: String?
  /// Asked for at or after.
  package var from: Date?
  /// Asked for before.
  package var before: Date?
  /// With this text in title, body, a tag, an alias or a registration id; case is ignored for ASCII letters.
  package var search: String?
  /// Occurrences of this schedule.
  package var schedule: Int64?
  /// Repeats of this push.
  package var parent: Int64?

  /// All pushes.
  package init(app: Int64? = nil) { self.app = app }
}

extension Push {
  /// How many pushes are in each state, from an index.
  package static func states(_ database: Database) throws -> [PushState: Int] {
    var states: [PushState: Int] = [:]
    try database.forEach("SELECT state, count(*) FROM pushes INDEXED BY pushes_states GROUP BY state") { row in
      states[try row.value(0, as: PushState.self)] = row.int(1)
      return .continue
    }
    return states
  }

  /// How many devices had which outcome, of all pushes that are kept; and how many wait to be sent to again.
  package static func outcomes(_ database: Database) throws -> (counts: OutcomeCounts, waiting: Int) {
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
