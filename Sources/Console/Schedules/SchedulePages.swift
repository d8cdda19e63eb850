import Calendar
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store

/// `/schedules`: repeating pushes, their next runs, and their run history.
enum SchedulePages {
  static let views: [any PageView.Type] = [ScheduleListView.self, ScheduleView.self, ScheduleEndView.self]

  private static let pageSize = 50

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/schedules", index)
    export.add(to: &routes)
    runs.add(to: &routes)
    routes.page(.get, "/schedules/:uid", show)
    routes.page(.get, "/schedules/:uid/cancel", role: .operator, ask)
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

  static func find(_ database: Database, _ uid: String) throws -> Schedule {
    guard let schedule = try Schedule.find(database, uid: uid) else {
      throw PageError(.notFound, "missing_schedule", action: ("/schedules", "schedules.title"))
    }
    return schedule
  }

  // MARK: The list

  private static let export = ListExportRoutes<ScheduleAnswer>(
    path: "/schedules", action: "schedule.export",
    columns: [
      "id", "state", "error", "app", "environment", "start_at", "next_at", "sent", "missed", "last_push", "source",
      "created_by", "created_at", "ended_at", "draft",
    ]
  ) { page in
    let (state, now) = (try page.filter("state", ScheduleState.init), page.now)
    return { database, cursor, limit in
      try Schedule.list(database, state: state, cursor: cursor, limit: limit)
        .map { try ScheduleAnswer(database, $0, now: now) }
    }
  }

  private static let runs = ListExportRoutes<Schedule.Occurrence>(
    path: "/schedules/:uid/runs", action: "schedule.export", columns: ["at", "state", "push", "noted_at"]
  ) { page in
    let uid: String = try page.request.parameter("uid")
    let id = try await page.store.read { try find($0, uid).id }
    return { database, cursor, limit in try Schedule.history(database, id: id, cursor: cursor, limit: limit) }
  }

  private static func index(_ page: PageContext) async throws -> Response {
    let pager = Pager(page.request)
    let state = try page.filter("state", ScheduleState.init)
    let (texts, now) = (page.texts, page.now)
    let (list, rows) = try await page.store.read { database in
      let list = try Schedule.list(database, state: state, cursor: pager.cursor, limit: pageSize)
      let rows = try list.items.map { try ScheduleRow(database, $0, texts, now: now) }
      return (list, rows)
    }
    return page.answer(
      ScheduleListView(
        states: ScheduleState.allCases.map {
          ChoiceView(value: $0.rawValue, label: texts("schedules.\($0.rawValue)"), isSelected: $0 == state)
        },
        isFiltered: state != nil, schedules: rows, exports: ExportLinks(page, "/schedules"),
        pager: PagerView(pager, next: list.next)))
  }

  // MARK: One

  private static func show(_ page: PageContext) async throws -> Response {
    let uid: String = try page.request.parameter("uid")
    let pager = Pager(page.request)
    let (texts, now) = (page.texts, page.now)
    let (row, history, total, approval, production) = try await page.store.read { database in
      let schedule = try find(database, uid)
      return (
        try ScheduleRow(database, schedule, texts, now: now),
        try Schedule.history(database, id: schedule.id, cursor: pager.cursor, limit: pageSize),
        try Schedule.historyCount(database, id: schedule.id),
        try ApprovalView(database, .schedule(schedule.id), by: schedule.createdBy, "/schedules/\(uid)", page),
        try ProductionGuard(database, schedule)
      )
    }
    let (schedule, may) = (row.schedule, page.may(.operator))
    return page.answer(
      ScheduleView(
        row: row, approval: approval, canPause: may && schedule.state == .active,
        canResume: may && schedule.state == .paused && page.maySend(production.environment),
        endText: may && mayEnd(schedule, approval, page) ? endText(schedule, texts) : nil,
        times: times(schedule, now: now).map {
          ScheduleTimeRow(text: texts.moment($0, row.zone), time: MomentView(date: $0, now: now))
        },
        history: history.items.map { occurrence($0, row, texts) },
        exports: ExportLinks(page, "/schedules/\(uid)/runs"),
        position: pager.position(history.items.count, size: pageSize, of: total, texts),
        pager: PagerView(pager, next: history.next),
        facts: facts(row, approval, texts),
        payload: schedule.draft.map { APNsPayload($0).json.text(pretty: true) } ?? ""))
  }

  /// The next runs; also those that it will have once approved, because whoever decides has to know them.
  private static func times(_ schedule: Schedule, now: Date) -> [Date] {
    schedule.state == .needsApproval
      ? schedule.recurrence?.occurrences(from: now, limit: 10) ?? [] : schedule.occurrences(from: now, limit: 10)
  }

  private static func occurrence(_ item: Schedule.Occurrence, _ row: ScheduleRow, _ texts: Texts) -> OccurrenceRow {
    let means = item.isMissed ? "schedules.missed_means" : "schedules.deleted_means"
    return OccurrenceRow(
      text: texts.moment(item.at, row.zone), isMissed: item.isMissed,
      push: item.push.map { SchedulePushView($0, texts, now: row.now) },
      note: item.push == nil ? texts(means, ["time": texts.minute(item.notedAt)]) : "")
  }

  private static func facts(_ row: ScheduleRow, _ approval: ApprovalView?, _ texts: Texts) -> [FactView] {
    let schedule = row.schedule
    return [
      FactView(texts("details.id"), schedule.uid), FactView("schedule_id", row.jpushID),
      FactView(texts("schedules.jpush_name"), row.name),
      FactView(
        texts("details.app"), row.app.map { texts.noted($0.name, $0.bundleID) }, href: "/apps/\(schedule.appID)"),
      FactView(texts("details.audience"), row.audience),
      FactView(texts("schedules.speed"), row.draft.flatMap { texts.speed($0, devices: nil) }),
      FactView(texts("details.ttl"), row.draft?.options.timeToLive.map { "\($0.grouped) s" }),
      FactView(texts("schedules.starts"), at: schedule.startAt),
      FactView(texts("details.source"), "\(texts("source.\(schedule.source.rawValue)")) · \(row.who)"),
      FactView(texts("details.created"), at: schedule.createdAt), approval?.fact,
      FactView(texts("schedules.ended_at"), at: schedule.endedAt),
    ].compactMap { $0 }
  }

  // MARK: Changing

  /// Who did not ask for it decides on it instead.
  private static func mayEnd(_ schedule: Schedule, _ approval: ApprovalView?, _ page: PageContext) -> Bool {
    schedule.state != .ended
      && (schedule.state != .needsApproval || schedule.createdBy == page.actor || approval?.isOwn == true)
  }

  private static func endText(_ schedule: Schedule, _ texts: Texts) -> String {
    texts(schedule.state == .needsApproval ? "approval.withdraw" : "schedules.end")
  }

  /// Asks for confirmation, because ending a schedule cannot be undone.
  private static func ask(_ page: PageContext) async throws -> Response {
    let uid: String = try page.request.parameter("uid")
    let (texts, now) = (page.texts, page.now)
    let row = try await page.store.read { database in
      try ScheduleRow(database, try find(database, uid), texts, now: now)
    }
    let isWaiting = row.schedule.state == .needsApproval
    return page.answer(
      ScheduleEndView(
        row: row, label: endText(row.schedule, texts),
        means: texts(isWaiting ? "schedules.withdraw_means" : "schedules.end_means")))
  }

  private static func carryOut(_ change: ScheduleChange, _ page: PageContext, flash done: String) async throws
    -> Response
  {
    let uid: String = try page.request.parameter("uid")
    if change == .resume {
      try page.check(sendingIn: try await page.store.read { try ProductionGuard($0, find($0, uid)).environment })
    }
    let (before, isChanged) = try await page.store.write { database in
      let schedule = try find(database, uid)
      return (
        schedule.state,
        try change.carryOut(database, schedule, by: page.actor, from: page.clientAddress, now: page.now)
      )
    }
    guard isChanged else { return page.redirect(to: "/schedules/\(uid)", flash: "schedule_unchanged") }
    return page.redirect(to: "/schedules/\(uid)", flash: before == .needsApproval ? "schedule_withdrawn" : done)
  }
}
