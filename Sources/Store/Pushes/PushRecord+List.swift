internal import Foundation
internal import Push
public import SQLite

extension PushRecord {
  /// How many pushes one page looks through at most; a page of a narrower list may so have fewer items than asked for,
  /// and the next one goes on behind them.
  static let lookedThrough = 25_000

  /// A page of the pushes that fit, newest first.
  ///
  /// - Parameter cursor: `next` of the page before; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  public static func list(
    _ database: Database, _ filter: PushFilter, cursor: String? = nil, limit: Int
  ) throws -> Page<PushRecord> {
    let before = try position(cursor) ?? .max
    let (sql, arguments, isBounded) = query(filter, before: before, limit: limit + 1)
    let found = try database.fetchAll(sql, arguments: arguments) { try PushRecord($0) }
    guard isBounded, found.count <= limit else { return Page(found, limit: limit, key: \.id) }
    let last = try database.fetchOne(
      "SELECT id FROM pushes INDEXED BY pushes_list WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?", before,
      lookedThrough - 1
    ) { $0.int64(0) }
    return Page(items: found, next: last.map { String($0) })
  }

  /// The query of a page, and whether it looks through no more than ``lookedThrough`` pushes.
  static func query(
    _ filter: PushFilter, before: Int64, limit: Int
  ) -> (sql: String, arguments: [any SQLiteBindable], isBounded: Bool) {
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
    // The inner part reads the index alone; rows are read of what fits.
    return (
      """
      SELECT \(columns) FROM (
        SELECT p.id FROM (
          SELECT id, app_id, environment, state, source, created_at, search FROM pushes INDEXED BY pushes_list
          WHERE id < ? ORDER BY id DESC LIMIT \(lookedThrough)
        ) p WHERE 1\(also) LIMIT ?
      ) m CROSS JOIN pushes p ON p.id = m.id ORDER BY p.id DESC
      """, [before] + arguments + [limit], true
    )
  }
}

/// Text as LIKE takes it literally, with `\` as the escape.
func escaped(_ text: String) -> String {
  text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
}
