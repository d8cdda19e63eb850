import Foundation
import HTTPServer
package import JSON
import Model
import SQLite
package import Store

/// `POST /api/v1/devices/batch`: changes several devices together, all or none.
enum DeviceBatchAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.post, "/devices/batch", role: .operator, scope: .devices, reach: .handler) { call in
      let wanted = try DeviceBatchBody(json: try await call.body())
      do {
        return try await call.write { try carryOut(wanted, $0, call) }
      } catch let tried as Tried {
        return APIContext.answer(tried.answer)
      }
    }
  }

  /// Takes back what a dry run did.
  private struct Tried: Error {
    let answer: DeviceBatchAnswer
  }

  private static func carryOut(
    _ wanted: DeviceBatchBody, _ database: Database, _ call: APIContext
  ) throws -> DeviceBatchAnswer {
    var batch = try DeviceBatch(database, wanted.action, wanted.devices, sees: call.sees)
    (batch.tags, batch.alias, batch.kept) = (wanted.tags, wanted.alias, wanted.kept)
    batch.leaving = try call.leaving(database)
    try batch.check()
    let changed = try batch.carryOut(database, by: call.actor, now: call.now) {
      call.audit($0, "device \($1)", $2)
    }
    let answer = DeviceBatchAnswer(batch, of: wanted.devices, changed: changed, isDryRun: wanted.isDryRun)
    if wanted.isDryRun { throw Tried(answer: answer) }
    return answer
  }
}

/// The body of `POST /api/v1/devices/batch`.
struct DeviceBatchBody: Sendable {
  /// The most devices of one call.
  static let limit = 1000
  private static let tagLimit = 1000

  let action: DeviceBatchAction
  /// In the given order, each once.
  let devices: [Int64]
  private(set) var tags: [String] = []
  /// Nil: none.
  private(set) var alias: String?
  private(set) var kept: Int64?
  let isDryRun: Bool

  /// - Throws: every problem of the body together.
  init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    let action: DeviceBatchAction? = fields.choice("action", required: true)
    devices = fields.ids("devices", atMost: Self.limit)
    switch action {
    case .addTags, .removeTags:
      tags = fields.strings("tags", atMost: Self.tagLimit) { TagRule.problem(with: $0, rule: .none) }
      if json["tags"] == nil { fields.report("tags", Problem("", FieldMessage.required)) }
      if json["tags"] == [] { fields.report("tags", Problem("", FieldMessage.emptyRequired)) }
    case .setAlias:
      alias = fields.string("alias", limit: .characters(AliasRule.none.limit), check: AliasRule.none.problem(with:))
      // Null removes the alias, and must be said.
      if json["alias"] == nil { fields.report("alias", Problem("", FieldMessage.required)) }
      if json["alias"] == "" { fields.report("alias", Problem("", FieldMessage.emptyRequired)) }
    case .merge: kept = fields.integer("keep", required: true, in: 1...Int.max).map(Int64.init)
    case .reactivate, .toDevelopment, .toProduction, .delete, nil: break
    }
    isDryRun = fields.bool("dry_run") ?? false
    try fields.finish()
    // Without one, `finish` has thrown.
    self.action = action ?? .reactivate
  }
}

/// What became of the devices of one call.
package struct DeviceBatchAnswer: Sendable, JSONObject {
  package let action: DeviceBatchAction
  let isDryRun: Bool
  package let changed: Int
  let unchanged: Int
  /// IDs without a device, or with one that the token may not see.
  package let missing: [Int64]

  /// - Parameter ids: the devices that were asked for.
  package init(_ batch: DeviceBatch, of ids: [Int64], changed: Int, isDryRun: Bool = false) {
    (action, self.changed, self.isDryRun) = (batch.action, changed, isDryRun)
    unchanged = batch.devices.count - changed
    let found = Set(batch.devices.map(\.id))
    missing = ids.filter { !found.contains($0) }
  }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("action", action.rawValue)
    json.member("dry_run", isDryRun)
    json.member("changed", changed)
    json.member("unchanged", unchanged)
    json.member("missing", missing)
  }
}
