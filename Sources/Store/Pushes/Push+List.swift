import Calendar
package import Foundation
package import JSON
package import Model
package import SQLite

extension Push {
  /// A page of matching pushes, newest first.
  ///
  /// Without a matching index, a page may be short: it ends where `patience` ended, and the next page continues there.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
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

  /// How many pushes match.
  ///
  /// - Parameter most: more are not counted: the answer is one more.
  /// - Returns: nil if counting takes longer than the usual ``Patience``.
  package static func count(_ database: Database, _ filter: PushFilter, most: Int) throws -> Int? {
    let (sql, arguments, looksThrough) = query(filter, before: .max, limit: most + 1)
    guard looksThrough else {
      return try database.fetchOne("SELECT count(*) FROM (\(sql))", arguments: arguments) { $0.int(0) }
    }
    var patience = Patience()
    var (count, isWhole) = (0, true)
    try database.forEach(sql, arguments: arguments) { row in
      if row.bool(1) { count += 1 }
      if count > most { return .stop }
      guard row.int64(0) % Int64(Patience.lot) == 0, patience.isOver() else { return .continue }
      isWhole = false
      return .stop
    }
    return isWhole ? count : nil
  }

  /// The query of a page; or, for a scan from `before` on, one for the IDs of matches and of a row of each lot of
  /// ``Patience``, and whether they match.
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
    add("p.source = ?", filter.source?.rawValue)
    add("p.push_type = ?", filter.pushType?.rawValue)
    add("EXISTS (SELECT 1 FROM push_reasons x WHERE x.push_id = p.id AND x.outcome = ?)", filter.outcome?.rawValue)
    add("p.created_at >= ?", filter.from)
    add("p.created_at < ?", filter.before)
    add("p.search LIKE ? ESCAPE '\\'", filter.search.map(anywhere))
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

/// Escapes text for LIKE with `\\`.
func escaped(_ text: String) -> String {
  text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
}

/// The pattern for LIKE that finds a text anywhere; also with ESCAPE '\\'.
func anywhere(_ text: String) -> String { "%" + escaped(text) + "%" }

/// The filter of a list of pushes; nil: any.
package struct PushFilter: Sendable, Hashable {
  package var app: Int64?
  package var environment: Environment?
  package var states: [PushState] = []
  package var source: PushSource?
  package var pushType: PushType?
  /// With at least one device of this outcome.
  package var outcome: OutcomeKind?
  /// Created at or after.
  package var from: Date?
  /// Created before.
  package var before: Date?
  /// Text in title, body, a tag, an alias or a registration ID; ASCII case is ignored.
  package var search: String?
  /// Occurrences of this schedule.
  package var schedule: Int64?
  /// Retries of this push.
  package var parent: Int64?

  package init(app: Int64? = nil) { self.app = app }
}

extension Push {
  /// The number of pushes in each state, from an index.
  package static func states(_ database: Database) throws -> [PushState: Int] {
    Dictionary(
      uniqueKeysWithValues: try database.fetchAll(
        "SELECT state, count(*) FROM pushes INDEXED BY pushes_states GROUP BY state"
      ) { (try $0.value(0, as: PushState.self), $0.int(1)) })
  }

  /// The outcomes of all stored pushes, and the number of waiting devices.
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

  /// Devices without an outcome of the pushes under way.
  package static func queueDepth(_ database: Database) throws -> Int {
    try database.int(
      """
      SELECT coalesce(sum(max(0, coalesce(p.target, 0) - (
          SELECT coalesce(sum(r.count), 0) FROM push_reasons r WHERE r.push_id = p.id))), 0)
      FROM pushes p INDEXED BY pushes_unfinished WHERE p.state IN ('queued', 'sending')
      """)
  }
}

/// A push scheduled for the future.
package struct PlannedPush: Sendable, Hashable {
  /// Public ID.
  package let uid: String
  package let title: String?
  package let appID: Int64
  package let bundleID: String
  package let environment: Environment
  package let platforms: [Platform]
  package let sendAt: Date

  /// All future pushes, the next first. Fast for any number of past pushes.
  package static func all(_ database: Database, after now: Date) throws -> [PlannedPush] {
    // The planner recognises the index's condition by its text.
    try database.fetchAll(
      """
      SELECT p.uid, coalesce(p.title, p.body), p.app_id, a.bundle_id, p.environment,
        iif(json_valid(p.draft), json_extract(p.draft, '$.platforms'), '[]'), p.send_at
      FROM pushes p INDEXED BY pushes_unfinished JOIN apps a ON a.id = p.app_id
      WHERE p.state IN ('queued', 'sending') AND p.state = 'queued' AND p.send_at > ?1
      ORDER BY p.send_at, p.id
      """, now
    ) { row in
      PlannedPush(
        uid: row.text(0), title: row.optionalText(1), appID: row.int64(2), bundleID: row.text(3),
        environment: try row.value(4, as: Environment.self),
        platforms: try texts(row.optionalText(5) ?? "[]", "pushes.draft").compactMap(Platform.init(rawValue:)),
        sendAt: row.date(6))
    }
  }
}

extension PlannedPush: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("push", uid)
    json.member("app", bundleID)
    json.member("environment", environment.rawValue)
    json.member("send_at", sendAt)
  }
}
