package import Foundation
import JSON
package import Model
package import SQLite
internal import Text

/// A saved rule of an app, found by its name.
package struct Segment: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let appID: Int64
  package let name: String
  package let rule: SegmentRule
  package let createdBy: String
  package let createdAt: Date
  package let changedAt: Date

  private static let columns = "id, app_id, name, rule, created_by, created_at, changed_at"

  private init(_ row: borrowing Row) throws {
    id = row.int64(0)
    appID = row.int64(1)
    name = row.text(2)
    rule = try storedRule(row.text(3), "segments.rule")
    createdBy = row.text(4)
    createdAt = row.date(5)
    changedAt = row.date(6)
  }

  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, id: Int64, app: Int64? = nil) throws -> Segment {
    let found = try database.fetchOne(
      "SELECT \(columns) FROM segments WHERE id = ?1 AND (?2 IS NULL OR app_id = ?2)", id, app
    ) { try Segment($0) }
    guard let found else { throw StoreError.notFound(noun: "segment", id: "\(id)") }
    return found
  }

  package static func find(_ database: Database, app: Int64, name: String) throws -> Segment? {
    try database.fetchOne("SELECT \(columns) FROM segments WHERE app_id = ? AND name = ?", app, name) {
      try Segment($0)
    }
  }

  /// An app's segments by name.
  ///
  /// - Parameters:
  ///   - prefix: of the names.
  ///   - cursor: `next` of the previous page: the last name.
  package static func list(
    _ database: Database, app: Int64, prefix: String = "", cursor: String? = nil, limit: Int
  ) throws -> Page<Segment> {
    let found = try database.fetchAll(
      """
      SELECT \(columns) FROM segments
      WHERE app_id = ?1 AND name >= ?2 AND name < ?2 || char(0x10FFFF) AND (?3 IS NULL OR name > ?3)
      ORDER BY name LIMIT ?4
      """, app, prefix, cursor, limit + 1
    ) { try Segment($0) }
    return Page(found, limit: limit, key: \.name)
  }

  /// Segments of any app whose name begins with a text.
  package static func search(_ database: Database, _ text: String, limit: Int) throws -> [Segment] {
    try database.fetchAll(
      "SELECT \(columns) FROM segments WHERE name LIKE ? ESCAPE '\\' ORDER BY name LIMIT ?", escaped(text) + "%", limit
    ) { try Segment($0) }
  }

  /// Which of these names no segment of an app has, each with the most similar one.
  package static func missing(_ database: Database, _ names: [String], app: Int64) throws -> [String: String?] {
    let missing = try names.filter { try find(database, app: app, name: $0) == nil }
    guard !missing.isEmpty else { return [:] }
    let known = try list(database, app: app, limit: mostCompared).items.map(\.name)
    return Dictionary(missing.map { ($0, Suggestion.closest(to: $0, among: known)) }) { one, _ in one }
  }

  /// Comparing takes some microseconds for each name.
  private static let mostCompared = 2000
}

// MARK: Changing

extension Segment {
  /// - Throws: `StoreError.taken`.
  package static func add(
    _ database: Database, app: Int64, name: String, _ rule: SegmentRule, by actor: String, now: Date
  ) throws -> Segment {
    guard try find(database, app: app, name: name) == nil else {
      throw StoreError.taken(noun: "segment", field: "name")
    }
    try database.run(
      """
      INSERT INTO segments(app_id, name, rule, created_by, created_at, changed_at) VALUES (?, ?, ?, ?, ?, ?)
      """, app, name, rule.json.text(), actor, now, now)
    return try get(database, id: database.lastInsertedID)
  }

  /// Changes name and rule.
  ///
  /// - Throws: `StoreError.taken`; `Problems` at `name` if schedules or waiting pushes would lose the segment.
  package func change(_ database: Database, name: String, _ rule: SegmentRule, now: Date) throws -> Segment {
    if name != self.name {
      guard try Self.find(database, app: appID, name: name) == nil else {
        throw StoreError.taken(noun: "segment", field: "name")
      }
      let uses = try uses(database)
      guard uses.isEmpty else {
        throw Problems([Problem("name", SegmentMessage.inUse, ["count": String(uses.count)])])
      }
    }
    try database.run(
      "UPDATE segments SET name = ?, rule = ?, changed_at = ? WHERE id = ?", name, rule.json.text(), now, id)
    if name != self.name { try AudienceUse.rename(database, segment: self.name, to: name, app: appID) }
    return try Self.get(database, id: id)
  }

  /// Lets what a second person approved, or is to approve, for another rule than this segment now has wait for approval
  /// again: the devices that it reaches have changed. The rule may be new, or the segment, under a name that another one
  /// had.
  ///
  /// - Parameters:
  ///   - asker: who changed the rule, and cannot approve.
  ///   - address: the client's address; nil for this machine.
  package func askAgain(
    _ database: Database, by asker: ApprovalRule.Actor, from address: String?, now: Date
  ) throws {
    guard try App.get(database, id: appID).needsApproval else { return }
    let (new, uses) = (NewApproval(asker: asker, reach: nil, from: address), try uses(database))
    func isHeld(_ subject: Approval.Subject) throws -> Bool {
      guard let approval = try Approval.find(database, subject) else { return false }
      return [nil, .approved].contains(approval.decision) && approval.isFor(rule, of: name)
    }
    for schedule in uses.schedules {
      guard try ProductionGuard(database, schedule).environment == .production,
        try !isHeld(.schedule(schedule.id))
      else { continue }
      guard try Schedule.stop(database, id: schedule.id) else { continue }
      let wasPaused = try Approval.withdraw(database, .schedule(schedule.id), by: asker.name, now: now)
      try Approval.ask(
        database, .schedule(schedule.id), new, isPaused: wasPaused || schedule.state == .paused, now: now)
    }
    for push in uses.pushes {
      guard try ProductionGuard(database, push).environment == .production, try !isHeld(.push(push.id)) else {
        continue
      }
      // What a schedule made was approved with it.
      if let schedule = push.scheduleID, try Approval.find(database, .push(push.id)) == nil,
        try isHeld(.schedule(schedule))
      {
        continue
      }
      var isPaused = push.state == .paused
      if push.state == .needsApproval {
        isPaused = try Approval.withdraw(database, .push(push.id), by: asker.name, now: now)
      } else {
        guard try Push.move(database, id: push.id, from: [.queued, .paused], to: .needsApproval, now: now) else {
          continue
        }
      }
      try Approval.ask(database, .push(push.id), new, isPaused: isPaused, now: now)
    }
  }

  package func delete(_ database: Database) throws {
    try database.run("DELETE FROM segments WHERE id = ?", id)
    try AudienceUse.rename(database, segment: name, to: nil, app: appID)
  }

  /// What will send to a segment.
  package struct Uses: Sendable, Hashable {
    /// Schedules that have not ended.
    package var schedules: [Schedule] = []
    /// Pushes that have not begun.
    package var pushes: [Push] = []

    package var count: Int { schedules.count + pushes.count }
    package var isEmpty: Bool { count == 0 }
  }

  /// What names it and has not begun.
  package func uses(_ database: Database) throws -> Uses {
    var uses = Uses()
    let names: (Audience?) -> Bool = {
      if case .rule(let rule)? = $0 { rule.segment.contains(name) } else { false }
    }
    // The names are among the words for searching, so that few drafts are read.
    let schedules = try database.fetchAll(
      "SELECT id FROM schedules WHERE app_id = ? AND state <> 'ended' AND instr(search, ?) > 0 ORDER BY id", appID, name
    ) { $0.int64(0) }
    uses.schedules = try schedules.map { try Schedule.get(database, id: $0) }.filter { names($0.draft?.audience) }
    let pushes = try database.fetchAll(
      """
      SELECT id FROM pushes INDEXED BY pushes_state
      WHERE state <> 'finished' AND state IN ('needs_approval', 'queued', 'sending', 'paused') AND app_id = ?
        AND started_at IS NULL AND instr(search, ?) > 0 ORDER BY id
      """, appID, name
    ) { $0.int64(0) }
    uses.pushes = try pushes.map { try Push.get(database, id: $0) }.filter { push in
      names((try? JSONValue(parsing: Data(push.draftJSON.utf8))).flatMap(Audience.init(draft:)))  // nil: unreadable
    }
    return uses
  }
}

private func storedRule(_ text: String, _ column: String) throws -> SegmentRule {
  guard let value = try json(text, column), let rule = try? SegmentRule(json: value) else {
    // The problems of a rule that another version wrote add nothing.
    throw StoreError.unreadable(column: column, value: text)
  }
  return rule
}

// MARK: In a push

/// A segment as a push uses it: its rule, and the time that “last seen” counts from.
package struct UsedSegment: Sendable, Hashable {
  package let name: String
  /// Nil: there is no such segment.
  package let rule: SegmentRule?
  package let at: Date

  /// The segments of an audience as they are now.
  package static func current(
    _ database: Database, _ audience: Audience, app: Int64, now: Date
  ) throws -> [UsedSegment] {
    guard case .rule(let rule) = audience else { return [] }
    return try rule.segment.map { name in
      UsedSegment(name: name, rule: try Segment.find(database, app: app, name: name)?.rule, at: now)
    }
  }

  /// The segments of a push as they were when it, or the push that it retries, began; nil: it has not begun.
  package static func kept(_ database: Database, push: Int64, parent: Int64?) throws -> [UsedSegment]? {
    for push in [push, parent].compactMap({ $0 }) {
      let kept = try database.fetchAll("SELECT name, rule, at FROM push_segments WHERE push_id = ?", push) { row in
        UsedSegment(
          name: row.text(0), rule: try storedRule(row.text(1), "push_segments.rule"), at: row.date(2))
      }
      if !kept.isEmpty { return kept }
    }
    return nil
  }

  /// Keeps the segments of a push in the transaction that starts it: a rule that changes a moment later was not approved
  /// for it. A missing one fails the push.
  package static func begin(_ database: Database, _ push: Push, now: Date) throws {
    guard push.parentID == nil, push.draftJSON.contains("segment"),
      try kept(database, push: push.id, parent: nil) == nil,
      let json = try? JSONValue(parsing: Data(push.draftJSON.utf8)), let audience = Audience(draft: json)
    else { return }
    let segments = try current(database, audience, app: push.appID, now: now)
    if segments.allSatisfy({ $0.rule != nil }) { try keep(database, segments, push: push.id) }
  }

  /// Keeps the segments of a push that begins.
  package static func keep(_ database: Database, _ segments: [UsedSegment], push: Int64) throws {
    for segment in segments {
      guard let rule = segment.rule else { continue }
      try database.run(
        "INSERT OR IGNORE INTO push_segments(push_id, name, rule, at) VALUES (?, ?, ?, ?)", push, segment.name,
        rule.json.text(), segment.at)
    }
  }
}

// MARK: Members

extension Segment {
  private func query(_ environment: Environment, now: Date) -> AudienceQuery {
    var audience = Audience.Rule()
    audience.segment = [name]
    var query = AudienceQuery(
      app: appID, environment: environment, platforms: Set(Platform.allCases), audience: .rule(audience), now: now)
    query.segments = [UsedSegment(name: name, rule: rule, at: now)]
    return query
  }

  private var environments: [Environment] { rule.environment.map { [$0] } ?? Environment.allCases }

  /// Its devices in each environment that it can have some in. As slow as counting an audience.
  package func counts(_ database: Database, now: Date) throws -> [(environment: Environment, count: AudienceCount)] {
    try environments.map { ($0, try query($0, now: now).count(database)) }
  }

  /// A page of its devices, newest first, whatever their state.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package func members(_ database: Database, cursor: String?, limit: Int, now: Date) throws -> Page<Device> {
    let before = try position(cursor)
    let found = try environments.flatMap { environment in
      try query(environment, now: now).devices(database, before: before ?? .max, limit: limit + 1)
    }
    let page = Page(Array(found.sorted { $0.id > $1.id }.prefix(limit + 1)), limit: limit, key: \.id)
    return Page(items: try Device.whole(database, page.items), next: page.next)
  }
}

extension AudienceQuery {
  /// Devices in any state with IDs below `before`, newest first, without their tags.
  fileprivate func devices(_ database: Database, before: Int64, limit: Int) throws -> [Device] {
    let range = DeviceSource.Range(upTo: before - 1, descending: true)
    guard let plan = try plan(database, states: DeviceState.allCases, range) else { return [] }
    let (sql, arguments) = plan.source.query(Device.columns, where: plan.condition, tail: "LIMIT \(limit)")
    return try database.fetchAll(sql, arguments: arguments) { try Device($0) }
  }
}
