import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/v3/schedules`: JPush's schedules as schedules of the console.
enum JPushSchedulesAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.jpush(.get, "/v3/schedules") { call in try await list(call) }
    routes.jpush(.post, "/v3/schedules") { call in try await create(call) }
    routes.jpush(.get, "/v3/schedules/:id") { call in
      JPushCall.answer(json(try await call.store.read { try find($0, call) }))
    }
    routes.jpush(.put, "/v3/schedules/:id") { call in try await update(call) }
    routes.jpush(.delete, "/v3/schedules/:id") { call in try await remove(call) }
    routes.jpush(.get, "/v3/schedules/:id/msg_ids") { call in
      let ids = try await call.store.read { try find($0, call).pushes($0) }
      return JPushCall.answer([
        "count": .number(ids.count), "msgids": .array(ids.map { ["msg_id": .string(String($0))] }),
      ])
    }
  }

  private static func find(_ database: Database, _ call: JPushCall) throws -> JPushSchedule {
    let uid = call.request.parameters["id"] ?? ""
    guard let found = try JPushSchedule.find(database, app: call.app.id, uid: uid.lowercased()) else {
      throw JPushError(.scheduleMissing, "There is no schedule with this schedule_id.")
    }
    return found
  }

  private static func json(_ found: JPushSchedule) -> JSONValue {
    [
      "schedule_id": .string(found.uid), "name": .string(found.name),
      "enabled": .bool(found.schedule.state == .active), "trigger": found.trigger, "push": found.push,
    ]
  }

  private static func list(_ call: JPushCall) async throws -> Response {
    let page = try JPushSchedulePage(call.request.queryItems["page"])
    let all = try await call.store.read { try JPushSchedule.live($0, app: call.app.id) }
    return JPushCall.answer(page.json(all, json))
  }

  // MARK: Changing

  /// Reads when and what, with the push's keys that have no effect.
  private static func plan(
    _ call: JPushCall, _ trigger: JSONValue, _ push: JSONValue
  ) async throws -> (order: PushIntake.Order, unused: [String]) {
    let found = try JPushTrigger(trigger, now: call.now)
    guard trigger["single"]?.object == nil || found.startAt.timeIntervalSince(call.now) <= JPushTrigger.longest else {
      throw call.invalid("trigger.single.time must be within a year.")
    }
    let request = try JPushRequest(push, app: call.app.bundleID)
    var draft = try await JPushPushesAPI.draft(call, request)
    (draft.sendAt, draft.recurrence) = (found.startAt, found.rule)
    // Whom it reaches is asked at each run.
    draft.options.allowEmptyAudience = true
    let order = PushIntake.Order(draft, source: .jpush, by: call.actor, from: call.clientAddress, now: call.now)
    return (order, draft.unusedKeys(nil).map { "push.\($0)" })
  }

  private static func create(_ call: JPushCall) async throws -> Response {
    let fields = try JPushScheduleFields(try await call.body(), isNew: true)
    guard let name = fields.name, let trigger = fields.trigger, let push = fields.push else {
      throw call.invalid("name, trigger and push are needed.")
    }
    let (order, unused) = try await plan(call, trigger, push)
    let idempotency = Idempotency(
      actor: call.actor, key: fields.cid, route: "POST /v3/schedules", content: [], now: call.now)
    let uid = UUID().uuidString.lowercased()
    let answer = try await JPushPushesAPI.naming(order.draft) {
      try await call.console.intake.take(order, once: idempotency) { database, kept, _ in
        guard case .schedule(let schedule) = kept else { throw JPushError(.scheduleInternal, "Server internal error") }
        guard try JPushSchedule.live(database, app: call.app.id).count < JPushSchedule.liveLimit else {
          throw call.invalid("This app has \(JPushSchedule.liveLimit) schedules that have not ended, the maximum.")
        }
        try JPushSchedule(uid: uid, name: name, trigger: trigger, push: push, schedule: schedule).save(database)
        return Idempotency.Answer(status: .ok, json: ["schedule_id": .string(uid), "name": .string(name)] as JSONValue)
      }
    }
    return answer.response.naming(unused: unused)
  }

  /// Changes any of name, enabled, trigger and push; trigger and push only as a whole.
  private static func update(_ call: JPushCall) async throws -> Response {
    let before = try await call.store.read { try find($0, call) }
    let fields = try JPushScheduleFields(try await call.body(), isNew: false)
    guard before.schedule.state != .ended else { throw call.invalid("This schedule has ended and cannot be changed.") }
    try fields.check(before: before.trigger)
    var changed = before
    changed.trigger = fields.trigger ?? before.trigger
    changed.push = fields.push ?? before.push
    let isReplaced = fields.trigger != nil || fields.push != nil
    var planned: (order: PushIntake.Order, unused: [String])?
    if isReplaced { planned = try await plan(call, changed.trigger, changed.push) }
    let wanted = changed
    let finish: @Sendable (Database, Schedule) throws -> Void = { database, schedule in
      if let enabled = fields.enabled, schedule.state == .needsApproval {
        try Approval.keep(database, .schedule(schedule.id), isPaused: !enabled)
      } else if let enabled = fields.enabled, enabled != (schedule.state == .active) {
        let change: ScheduleChange = enabled ? .resume : .pause
        _ = try change.carryOut(database, schedule, by: call.actor, from: call.clientAddress, now: call.now)
      }
      // Another call may have changed or removed it since it was read.
      var current = try find(database, call)
      current.name = fields.name ?? current.name
      if isReplaced { (current.trigger, current.push) = (wanted.trigger, wanted.push) }
      try current.save(database)
    }
    if let planned {
      let isLive = try await JPushPushesAPI.naming(planned.order.draft) {
        try await call.console.intake.replace(schedule: before.schedule, with: planned.order, also: finish)
      }
      guard isLive else { throw call.invalid("This schedule has ended and cannot be changed.") }
    } else {
      try await call.store.write { try finish($0, try Schedule.get($0, id: before.schedule.id)) }
    }
    return JPushCall.answer(json(try await call.store.read { try find($0, call) })).naming(
      unused: planned?.unused ?? [])
  }

  private static func remove(_ call: JPushCall) async throws -> Response {
    try await call.store.write { database in
      let found = try find(database, call)
      _ = try ScheduleChange.cancel.carryOut(
        database, found.schedule, by: call.actor, from: call.clientAddress, now: call.now)
      try found.remove(database)
    }
    return JPushCall.done
  }
}
