import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Text

/// `/v3/schedules`: JPush's schedules as schedules of the console.
enum JPushSchedules {
  private static let pageSize = 50
  private static let keys: Set<String> = ["name", "enabled", "trigger", "push"]

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
    let text = call.request.queryItems["page"].flatMap { $0.isEmpty ? nil : $0 } ?? "1"
    guard let page = Int(text), (1...1_000_000).contains(page) else {
      throw call.invalid("page must be a number from 1.")
    }
    let all = try await call.store.read { try JPushSchedule.live($0, app: call.app.id) }
    return JPushCall.answer([
      "total_count": .number(all.count), "total_pages": .number((all.count + pageSize - 1) / pageSize),
      "page": .number(page), "schedules": .array(all.dropFirst((page - 1) * pageSize).prefix(pageSize).map(json)),
    ])
  }

  // MARK: Changing

  private struct Plan {
    let order: PushIntake.Order
    let push: JSONValue
  }

  /// Reads when and what.
  private static func plan(_ call: JPushCall, _ trigger: JSONValue, _ push: JSONValue) async throws -> Plan {
    let found = try JPushTrigger(trigger, now: call.now)
    // Ignored there, as at JPush: each run is a push of its own.
    let push = JSONValue.object((push.object ?? [:]).filter { $0.key != "cid" })
    let request = try JPushRequest(push, app: call.app.bundleID)
    var draft = try await JPushPushes.draft(call, request)
    (draft.sendAt, draft.recurrence) = (found.startAt, found.rule)
    // Whom it reaches is asked at each run.
    draft.options.allowEmptyAudience = true
    let order = PushIntake.Order(draft, door: .jpush, by: call.actor, from: call.address, now: call.now)
    return Plan(order: order, push: push)
  }

  private static func create(_ call: JPushCall) async throws -> Response {
    let body = try await call.body()
    let members = try members(body, known: keys.union(["cid"]))
    guard let name = members["name"]?.string else { throw call.invalid("name is missing.") }
    try JPushTrigger.check(name: name)
    guard members["enabled"] == true else { throw call.invalid("enabled must be true when a schedule is created.") }
    guard let trigger = members["trigger"], let push = members["push"] else {
      throw call.invalid("trigger and push are needed.")
    }
    let cid = members["cid"]?.string
    guard members["cid"] == nil || cid.map(JPushRequest.isCID) == true else { throw call.invalid("cid is not a cid.") }
    let plan = try await plan(call, trigger, push)
    let idempotency = Idempotency(
      actor: call.actor, key: cid, route: "POST /v3/schedules", content: [], now: call.now)
    let uid = UUID().uuidString.lowercased()
    return try await call.console.intake.take(plan.order, once: idempotency) { database, kept in
      guard case .schedule(let schedule) = kept else { throw JPushError(.scheduleInternal, "Server internal error") }
      guard try JPushSchedule.live(database, app: call.app.id).count < JPushSchedule.liveLimit else {
        throw call.invalid("This app has \(JPushSchedule.liveLimit) schedules that have not ended, the most allowed.")
      }
      try JPushSchedule(uid: uid, name: name, trigger: trigger, push: plan.push, schedule: schedule).save(database)
      return Idempotency.Answer(
        status: .ok, json: ["schedule_id": .string(uid), "name": .string(name)] as JSONValue)
    }.response
  }

  /// Changes any of name, enabled, trigger and push; trigger and push only as a whole.
  private static func update(_ call: JPushCall) async throws -> Response {
    let before = try await call.store.read { try find($0, call) }
    let members = try members(try await call.body(), known: keys)
    guard !members.isEmpty else { throw call.invalid("Send at least one of name, enabled, trigger and push.") }
    guard before.schedule.state != .ended else { throw call.invalid("This schedule has ended and cannot be changed.") }
    var changed = before
    if let value = members["name"] {
      guard let name = value.string else { throw call.invalid("name must be a string.") }
      try JPushTrigger.check(name: name)
      changed.name = name
    }
    if let value = members["enabled"], value.bool == nil { throw call.invalid("enabled must be true or false.") }
    let enabled = members["enabled"]?.bool
    if let trigger = members["trigger"] {
      guard trigger.object?.keys.first == before.trigger.object?.keys.first else {
        throw call.invalid("A single schedule cannot become periodical, nor the other way around.")
      }
      changed.trigger = trigger
    }
    let plan: Plan?
    if members["trigger"] != nil || members["push"] != nil {
      let made = try await self.plan(call, changed.trigger, members["push"] ?? before.push)
      (plan, changed.push) = (made, made.push)
    } else {
      plan = nil
    }
    let after = changed
    let finish: @Sendable (Database, Schedule) throws -> Void = { database, schedule in
      let isActive = schedule.state == .active
      if let enabled, enabled != isActive {
        let change: ScheduleChange = enabled ? .resume : .pause
        _ = try change.carryOut(database, schedule, by: call.actor, from: call.address, now: call.now)
      }
      try after.save(database)
    }
    if let plan {
      guard try await call.console.intake.replace(schedule: before.schedule, with: plan.order, also: finish) else {
        throw call.invalid("This schedule has ended and cannot be changed.")
      }
    } else {
      try await call.store.write { try finish($0, try Schedule.get($0, id: before.schedule.id)) }
    }
    return JPushCall.answer(json(try await call.store.read { try find($0, call) }))
  }

  private static func remove(_ call: JPushCall) async throws -> Response {
    try await call.store.write { database in
      let found = try find(database, call)
      _ = try ScheduleChange.cancel.carryOut(
        database, found.schedule, by: call.actor, from: call.address, now: call.now)
      try found.remove(database)
    }
    return JPushCall.done
  }

  private static func members(_ body: JSONValue, known: Set<String>) throws -> [String: JSONValue] {
    guard let members = body.object?.filter({ $0.value != .null }) else {
      throw JPushError(.scheduleInvalid, "The body must be a JSON object.")
    }
    if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
      throw JPushError(.scheduleInvalid, "\(unknown.abbreviated(to: 60)) is not supported. Remove this key.")
    }
    return members
  }
}
