import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store

/// `/api/v1/schedules`. `POST /api/v1/pushes` with `repeat` creates a schedule.
enum SchedulesAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/schedules", reach: .handler, filters: ["app", "state", "schedule_id"], list)
    routes.call(.get, "/schedules/:id", role: .viewer, scope: .read, reach: .schedule) { call in
      try await call.read { try ScheduleAnswer($0, try find($0, call), now: call.now) }
    }
    routes.list("/schedules/:id/occurrences", reach: .schedule, occurrences)
    for change in ScheduleChange.allCases {
      routes.call(
        .post, "/schedules/:id/\(change.rawValue)", role: .operator, scope: .send, reach: .schedule, takesBody: false
      ) { call in
        try await carryOut(change, call)
      }
    }
  }

  static func find(_ database: Database, _ call: APIContext) throws -> Schedule {
    try find(database, uid: call.request.parameters["id"] ?? "")
  }

  static func find(_ database: Database, uid: String) throws -> Schedule {
    guard let schedule = try Schedule.find(database, uid: uid) else {
      throw StoreError.notFound(noun: "schedule", id: String(uid.prefix(64)))
    }
    return schedule
  }

  private static func list(_ call: APIContext) async throws -> Response {
    var query = APIQuery(call.request)
    let (limit, cursor, bundleID) = (query.limit(), query.cursor(), query.text("app"))
    let state = query.choice("state", as: ScheduleState.self)
    let jpushID = query.text("schedule_id")
    try query.finish()
    return try await call.read { database in
      let app = try call.filter(database, app: bundleID)?.id
      return try call.seen(cursor: cursor, limit: limit, app: \.appID) {
        try Schedule.list(database, app: app, state: state, jpushID: jpushID, cursor: $0, limit: $1)
      }.map { try ScheduleAnswer(database, $0, now: call.now) }
    }
  }

  private static func occurrences(_ call: APIContext) async throws -> Response {
    let (limit, cursor) = try APIQuery.page(call.request)
    return try await call.read { database in
      try Schedule.history(database, id: try find(database, call).id, cursor: cursor, limit: limit)
    }
  }

  /// - Throws: 409 if the schedule's state does not allow the change.
  private static func carryOut(_ change: ScheduleChange, _ call: APIContext) async throws -> Response {
    return try await call.write { database -> ScheduleAnswer in
      let schedule = try find(database, call)
      guard try change.carryOut(database, schedule, by: call.actor, from: call.clientAddress, now: call.now) else {
        throw HTTPError(.conflict, change.otherwise)
      }
      return try ScheduleAnswer(database, try Schedule.get(database, id: schedule.id), now: call.now)
    }
  }
}
