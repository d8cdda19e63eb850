import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/pushes`.
enum PushesAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/pushes", reach: .handler, filters: filters, list)
    routes.call(.post, "/pushes", role: .operator, scope: .send, reach: .handler, PushCreation.answer)
    routes.call(.get, "/pushes/:id", role: .viewer, scope: .read, reach: .push) { call in
      var answer = try await call.store.read { try json($0, try find($0, call)) }
      answer.trouble = .some(call.console.engine.trouble(push: answer.push.id))
      return APIContext.answer(answer)
    }
    let ofDeliveries = ["outcome", "reason", "platform", "provider", "receipt"]
    routes.list("/pushes/:id/deliveries", reach: .push, filters: ofDeliveries, deliveries)
    routes.call(.get, "/pushes/:id/events", role: .viewer, scope: .read, reach: .push, events)
    routes.call(.get, "/pushes/:id/receipts/events", role: .viewer, scope: .read, reach: .push) { call in
      let push = try await call.store.read { try find($0, call) }
      let console = call.console
      return console.events(for: call.principal) { stream in
        try await ReceiptEvents(push, console).send(to: stream) { $1 }
      }
    }
    PushControlAPI.add(to: &routes)
  }

  static func find(_ database: Database, _ call: APIContext) throws -> Push {
    let uid = call.request.parameters["id"] ?? ""
    guard let push = try Push.find(database, uid: uid) else {
      throw StoreError.notFound(noun: "push", id: String(uid.prefix(64)))
    }
    return push
  }

  /// The schema `Push`, including the reasons of failures.
  static func json(_ database: Database, _ push: Push) throws -> PushAnswer {
    let app = try App.get(database, id: push.appID)
    let parent = try push.parentID.flatMap { try Push.find(database, id: $0) }
    let schedule = try push.scheduleID.flatMap { try Schedule.find(database, id: $0) }
    var answer = try PushAnswer(push, app: app.bundleID)
    answer.approval = .some(try Approval.find(database, .push(push.id)))
    answer.receipts = try ReceiptCounts.find(database, push: push.id)
    let reasons = try Delivery.reasonCounts(database, push: push.id)
    answer.reasons = reasons
    answer.providers = try Delivery.providerCounts(database, push: push.id, reasons)
    answer.jpush = try SentJPushMessage.all(database, push: push.id)
    answer.unused = push.draft?.unusedKeys(try push.reached(database))
    answer.parent = parent?.uid
    answer.schedule = schedule?.uid
    return answer
  }

  // MARK: Lists

  private static let filters = [
    "app", "environment", "state", "outcome", "source", "push_type", "q", "from", "to", "schedule", "msg_id",
  ]

  private static func list(_ call: APIContext) async throws -> Response {
    var query = APIQuery(call.request)
    let (limit, cursor, bundleID) = (query.limit(), query.cursor(), query.text("app"))
    let (schedule, messageID) = (query.text("schedule"), query.text("msg_id"))
    var found = PushFilter()
    found.environment = query.choice("environment")
    found.states = query.choice("state", as: PushState.self).map { [$0] } ?? []
    found.outcome = query.choice("outcome", OutcomeKind.allCases.map { ($0.name, $0) })
    found.source = query.choice("source")
    found.pushType = query.choice("push_type")
    found.search = query.text("q")
    (found.from, found.before) = (query.day("from"), query.day("to", isEnd: true))
    try query.finish()
    let filter = found
    return try await call.kept { database in
      var filter = filter
      filter.app = try call.filter(database, app: bundleID)?.id
      filter.schedule = try schedule.map { try SchedulesAPI.find(database, uid: $0).id }
      filter.ids = try messageID.map { try Push.ids(database, messageID: $0) }
      let apps = try App.bundleIDs(database)
      let page = try call.seen(cursor: cursor, limit: limit, app: \.appID) {
        try Push.list(database, filter, cursor: $0, limit: $1)
      }
      return try page.map { try PushAnswer($0, app: apps[$0.appID] ?? "") }
    }
  }

  private static func deliveries(_ call: APIContext) async throws -> Response {
    var query = APIQuery(call.request)
    let (limit, cursor) = (query.limit(), query.cursor())
    var found = DeliveryFilter()
    found.outcome = query.choice("outcome", OutcomeKind.allCases.map { ($0.name, $0) })
    found.reason = query.text("reason")
    found.platform = query.choice("platform")
    found.provider = query.choice("provider")
    found.receipt = query.choice("receipt", ReceiptKind.allCases.map { ($0.name, $0) })
    try query.finish()
    let filter = found
    let (push, draft, page, names, answers) = try await call.store.read { database in
      let push = try find(database, call)
      let draft = push.draft
      let page = try Delivery.list(
        database, push: push.id, filter, isLocalized: draft?.languages != nil, cursor: cursor, limit: limit)
      return (
        push, draft, page, try Delivery.names(database, push: push.id),
        try KeptAnswer.all(database, push: push.id, devices: page.items.map(\.delivery.deviceID))
      )
    }
    return APIContext.answer { json in
      page.map { row in
        let id = row.delivery.deviceID
        return DeliveryAnswer(row: row, push: push, draft: draft, name: names[id], answer: answers[id])
      }.writeMembers(to: &json)
      json.member("details_removed_at", push.detailsRemovedAt)
    }
  }

  // MARK: Live

  private static func events(_ call: APIContext) async throws -> Response {
    let id = try await call.store.read { try find($0, call).id }
    let broadcasts = call.console.broadcasts
    return call.console.events(for: call.principal) { stream in
      for try await event in broadcasts.events(of: id, as: "api", { $0 }) { try await stream.send(encoded: event) }
    }
  }
}
