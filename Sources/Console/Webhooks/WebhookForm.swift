import Foundation
import HTTPServer
import JSON
import Mail
import Model
import Reactor
import SQLite
import Store

/// An event webhook from the form or the API, validated.
struct WebhookForm {
  static let nameLimit = 100

  var name = ""
  /// Nil: unchanged.
  var url: String?
  var appID: Int64?
  var events: Set<Webhook.Event> = []
  var isActive = true

  /// - Parameter plain: hosts that may be reached without TLS.
  func problems(plain: TargetList) -> [Problem] {
    var problems = [AppName.problem(withRequiredName: name, limit: Self.nameLimit)?.under("name")].compactMap(\.self)
    let scheme = Problem(
      "url", code: "webhook.url",
      "Must be a URL that starts with https:// (http:// only for this machine, and for hosts of --allow-http).")
    if let url, let problem = Problem.address("url", url, plain: plain, else: scheme) { problems.append(problem) }
    if events.isEmpty { problems.append(Problem("events", code: "webhook.events", "Choose at least one event.")) }
    return problems
  }

  /// What is stored once this is saved.
  func details(_ before: Webhook?) -> Webhook.Details {
    Webhook.Details(
      name: name, target: url.map(WebAddress.host) ?? before?.details.target ?? "", appID: appID, events: events,
      isActive: isActive)
  }

  /// Adds a webhook, with its audit entry.
  ///
  /// - Throws: `Problems` if there are too many.
  func add(_ database: Database, for context: some ActorContext) throws -> (webhook: Webhook, secret: String) {
    guard try database.int("SELECT count(*) FROM webhooks") < Webhook.limit else {
      throw Problems([
        Problem(
          "name", code: "webhook.limit", "There can be at most {limit} webhooks. Delete one first.",
          ["limit": "\(Webhook.limit)"])
      ])
    }
    let added = try Webhook.add(
      database, details(nil), address: url ?? "", sealer: context.store.sealer, by: context.actor, now: context.now)
    try added.webhook.note(database, "webhook.create", for: context)
    return added
  }

  /// Changes a webhook, with its audit entry.
  func update(_ database: Database, _ before: Webhook, for context: some ActorContext) throws -> Webhook {
    let after = try Webhook.update(
      database, id: before.id, details(before), address: url, sealer: context.store.sealer, now: context.now)
    try after.note(database, "webhook.update", before: before.audited, for: context)
    return after
  }
}

extension Webhook.Details {
  var revision: Revision {
    let events = Webhook.Event.allCases.filter(events.contains).map(\.rawValue).joined(separator: " ")
    return Revision(name, target, appID.map { String($0) }, events, String(isActive))
  }
}

extension Webhook {
  /// For the audit log.
  var audited: JSONValue {
    [
      "name": .string(details.name), "target": .string(details.target), "active": .bool(details.isActive),
      "events": .array(Event.allCases.filter(details.events.contains).map { .string($0.rawValue) }),
    ]
  }

  /// Adds an audit entry about it; one about its end says what it was.
  func note(
    _ database: Database, _ action: String, before: JSONValue = .null, for context: some ActorContext
  ) throws {
    let isEnd = action == "webhook.delete"
    try context.record(
      database, action, "webhook \(id)", ["before": isEnd ? audited : before, "after": isEnd ? .null : audited])
  }
}
