import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/incidents`.
enum IncidentsAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/incidents", reach: .handler, filters: ["state", "app"], list)
    routes.call(.get, "/incidents/:id", role: .viewer, scope: .read, reach: .incident) { call in
      try await call.read { try IncidentAnswer($0, id: call.id(), now: call.now) }
    }
    routes.call(.patch, "/incidents/:id", role: .operator, scope: .send, reach: .incident, update)
    for back in [false, true] {
      let path = "/incidents/:id/" + TokenMove.word(back: back)
      routes.call(.post, path, role: .operator, scope: .devices, reach: .incident, takesBody: false) { call in
        let id = try call.id()
        let incident = try await call.store.read { try Incident.get($0, id: id) }
        return try await TokenMove(.incident(incident), back: back).answer(call)
      }
    }
  }

  private static func list(_ call: APIContext) async throws -> Response {
    var query = APIQuery(call.request)
    let (limit, cursor, bundleID) = (query.limit(), query.cursor(), query.text("app"))
    let state = query.choice("state", as: IncidentState.self)
    try query.finish()
    return try await call.read { database in
      let app = try call.filter(database, app: bundleID)
      let filter = IncidentFilter(state: state, app: app?.id, now: call.now)
      return try call.seen(cursor: cursor, limit: limit, app: \.incident.place.app) {
        try IncidentAnswer.list(database, filter, cursor: $0, limit: $1)
      }
    }
  }

  private static func update(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    let (id, change): (Int64, IncidentChange) = (try call.id(), try change(body))
    return try await call.write { database in
      try change.carryOut(database, id: id, by: call.entry, now: call.now)
      return try IncidentAnswer(database, id: id, now: call.now)
    }
  }

  private static func change(_ body: JSONValue) throws -> IncidentChange {
    let fields = JSONFields(body)
    let state = fields.choice("state", as: IncidentState.self)
    let until = fields.time("snoozed_until", required: state == .snoozed)
    let remark = fields.string("remark", limit: .characters(IncidentChange.remarkLimit))
    let assignee = fields.string("assignee", limit: .characters(254))
    try fields.finish()
    var change = IncidentChange(remark: remark)
    // `null` takes it from the person who has it.
    if body.object?.keys.contains("assignee") == true { change.assignee = .some(assignee) }
    switch state {
    case .open: change.event = .reopen
    case .closed: change.event = .close
    case .snoozed, nil: change.event = until.map { .snooze(until: $0) }
    }
    return change
  }
}
