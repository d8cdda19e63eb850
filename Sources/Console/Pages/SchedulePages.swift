import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// `/schedules`: what repeats, when it is next sent, and what became of it.
enum SchedulePages {
  private static let pageSize = 50

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/schedules") { page in try await index(page) }
    routes.page(.post, "/schedules/undo", role: .admin) { page in try await setUndo(page) }
    routes.page(.get, "/schedules/:uid") { page in try await show(page) }
    routes.page(.get, "/schedules/:uid/cancel", role: .operator) { page in try await ask(page) }
    routes.page(.post, "/schedules/:uid/pause", role: .operator) { page in
      try await carryOut(.pause, page, flash: "schedule_paused")
    }
    routes.page(.post, "/schedules/:uid/resume", role: .operator) { page in
      try await carryOut(.resume, page, flash: "schedule_resumed")
    }
    routes.page(.post, "/schedules/:uid/cancel", role: .operator) { page in
      try await carryOut(.cancel, page, flash: "schedule_ended")
    }
  }

  private static func find(_ database: Database, _ uid: String) throws -> Schedule {
    guard let schedule = try Schedule.find(database, uid: uid) else {
      throw PageError(.notFound, "missing_schedule", action: ("/schedules", "schedules.title"))
    }
    return schedule
  }

  // MARK: The list

  private static func index(
    _ page: PageContext, undo: String? = nil, errors: FieldErrors = FieldErrors()
  ) async throws -> Response {
    let pager = Pager(page.request)
    let state = page.filled("state").flatMap(ScheduleState.init)
    let usual = page.console.configuration.undoSeconds
    let (list, seconds, rows) = try await page.store.read { database in
      let list = try Schedule.list(database, state: state, cursor: pager.cursor, limit: pageSize)
      let rows = try list.items.map { try ScheduleRow(database, $0) }
      return (list, try UndoWindow.find(database, usual: usual), rows)
    }
    let texts = page.texts
    return try page.page(
      "schedules/index", .pushes,
      [
        "any_schedules": .bool(!rows.isEmpty), "filtered": .bool(state != nil),
        "states": .options(
          [("", texts("pushes.any"))] + ScheduleState.allCases.map { ($0.rawValue, texts("schedules.\($0.rawValue)")) },
          selected: page.query["state"] ?? ""),
        "schedules": .list(rows.map { $0.value(page) }), "newer": Value(pager.previous),
        "older": Value(pager.next(list.next)), "may_set": .bool(page.may(.admin)),
        "form": ["undo_seconds": .string(undo ?? String(seconds))],
        "errors": errors.value(["undo_seconds"]),
      ], status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  /// Sets the undo window.
  private static func setUndo(_ page: PageContext) async throws -> Response {
    let (text, limits) = (page.form["undo_seconds"], PushLimits.undoSeconds)
    guard let seconds = Int(text), limits.contains(seconds) else {
      var errors = FieldErrors()
      errors.add("undo_seconds", page.texts("schedules.undo_problem"))
      return try await index(page, undo: page.form.raw("undo_seconds"), errors: errors)
    }
    let (now, audit) = (page.now, page.audit("setting.undo", "undo window", ["seconds": .integer(Int64(seconds))]))
    try await page.store.write { database in
      try UndoWindow.set(database, seconds: seconds)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/schedules", flash: "undo_set")
  }

  // MARK: One

  private static func show(_ page: PageContext) async throws -> Response {
    let uid: String = try page.request.parameter("uid")
    let pager = Pager(page.request)
    let (row, history) = try await page.store.read { database in
      let schedule = try find(database, uid)
      return (
        try ScheduleRow(database, schedule),
        try Schedule.history(database, id: schedule.id, cursor: pager.cursor, limit: pageSize)
      )
    }
    let (schedule, may) = (row.schedule, page.may(.operator))
    var members = row.members(page)
    members.merge([
      "can_pause": .bool(may && schedule.state == .active), "can_resume": .bool(may && schedule.state == .paused),
      "can_end": .bool(may && schedule.state != .ended), "may_send": .bool(may),
      "problem": .string(schedule.error ?? ""),
      "times": .list(
        schedule.occurrences(from: page.now, limit: 10).map { time(page, $0, row.zone) }),
      "any_times": .bool(schedule.state == .active), "any_history": .bool(!history.items.isEmpty),
      "history": .list(history.items.map { occurrence(page, $0, row) }),
      "newer": Value(pager.previous), "older": Value(pager.next(history.next)),
      "any_pages": .bool(pager.previous != nil || history.next != nil),
      "facts": .list(facts(row, page)),
      "payload": .string(schedule.draft.map { APNsPayload($0).json.text(pretty: true) } ?? ""),
    ]) { $1 }
    return try page.page("schedules/show", .pushes, members)
  }

  private static func time(_ page: PageContext, _ date: Date, _ zone: NamedZone) -> Value {
    [
      "datetime": .string(Timestamp.text(date)), "text": .string(page.texts.moment(date, zone)),
      "ahead": .string(page.texts.ahead(date, now: page.now)),
    ]
  }

  private static func occurrence(_ page: PageContext, _ item: Schedule.Occurrence, _ row: ScheduleRow) -> Value {
    let texts = page.texts
    return [
      "datetime": .string(Timestamp.text(item.at)), "text": .string(texts.moment(item.at, row.zone)),
      "missed": .bool(item.push == nil),
      "push": item.push.map { push in
        [
          [
            "href": .string("/pushes/\(push.uid)"), "state": .string(push.state.rawValue),
            "state_text": .string(texts(push.stateKey(now: page.now))),
            "outcome_bar": push.counts.bar(target: push.target ?? 0),
            "outcome_text": .string(push.counts.text(texts)),
          ]
        ]
      } ?? [],
      "note": .string(
        item.push == nil ? texts("schedules.missed_means", ["time": item.notedAt.utcText]) : ""),
    ]
  }

  private static func facts(_ row: ScheduleRow, _ page: PageContext) -> [Value] {
    let (schedule, texts) = (row.schedule, page.texts)
    func fact(_ key: String, _ value: String?, at date: Date? = nil) -> Value? {
      guard let value = date?.utcText ?? value, !value.isEmpty else { return nil }
      return [
        "label": .string(texts(key)), "value": .string(value),
        "datetime": date.map { .string(Timestamp.text($0)) } ?? "",
      ]
    }
    return [
      fact("facts.id", schedule.uid), fact("facts.app", row.app.map { "\($0.name) (\($0.bundleID))" }),
      fact("facts.audience", row.draft?.audience.text(texts)),
      fact("schedules.speed", row.draft.flatMap { texts.speed($0, devices: nil) }),
      fact("facts.ttl", row.draft?.options.timeToLive.map { "\($0) s" }),
      fact("schedules.starts", nil, at: schedule.startAt),
      fact("facts.source", "\(schedule.createdBy), \(texts("source.\(schedule.source)"))"),
      fact("facts.created", nil, at: schedule.createdAt), fact("schedules.ended_at", nil, at: schedule.endedAt),
    ].compactMap { $0 }
  }

  // MARK: Changing

  /// Ending one is for good: it asks first.
  private static func ask(_ page: PageContext) async throws -> Response {
    let uid: String = try page.request.parameter("uid")
    let row = try await page.store.read { database in try ScheduleRow(database, try find(database, uid)) }
    return try page.page("schedules/cancel", .pushes, row.members(page))
  }

  private static func carryOut(_ change: ScheduleChange, _ page: PageContext, flash done: String) async throws
    -> Response
  {
    let uid: String = try page.request.parameter("uid")
    let now = page.now
    let audit = page.audit("schedule.\(change.rawValue)", "schedule \(uid)")
    let isChanged = try await page.store.write { database in
      let schedule = try find(database, uid)
      guard try change.carryOut(database, schedule.id, now: now) else { return false }
      try AuditEntry.add(database, audit, now: now)
      return true
    }
    return page.redirect(to: "/schedules/\(uid)", flash: isChanged ? done : "schedule_unchanged")
  }
}
