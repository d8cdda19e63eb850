import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/certificates/{id}/acknowledgement` and `/api/v1/hosts/{id}/acknowledgement`: snooze reminders.
enum AcknowledgementAPI {
  static func add(to routes: inout ConsoleRouter) {
    for noun in Renewable.Noun.allCases {
      let path = "/\(noun.path)/:id/acknowledgement"
      let reach: CallReach = noun == .certificate ? .certificate : .installation
      routes.call(.put, path, role: .operator, scope: .certificates, reach: reach) { call in
        try await take(noun, call)
      }
      routes.call(.delete, path, role: .operator, scope: .certificates, reach: reach) { call in
        try await giveBack(noun, call)
      }
    }
  }

  private static func take(_ noun: Renewable.Noun, _ call: APIContext) async throws -> Response {
    let id = try call.id()
    let fields = JSONFields(try await call.body())
    let until = fields.time("until", required: true)
    try fields.finish()
    guard let until else { throw Problems([Problem("until", FieldMessage.required)]) }
    let taken = try await call.store.write { try Renewable.take($0, noun, id: id, until: until, for: call) }
    guard let taken else {
      throw APIError(
        .conflict,
        Problem("", code: "acknowledgement.endless", "No reminders are sent for it, because its expiry is unknown."))
    }
    return APIContext.answer(taken)
  }

  private static func giveBack(_ noun: Renewable.Noun, _ call: APIContext) async throws -> Response {
    let id = try call.id()
    try await call.store.write { database in
      guard try Renewable.giveBack(database, noun, id: id, for: call) else {
        throw StoreError.notFound(noun: "acknowledgement", id: "of \(noun.rawValue) \(id)")
      }
    }
    return APIContext.nothing
  }
}
