import Delivery
import Foundation
import HTTPServer
import JSON
import Reactor
import SQLite
import Store

/// A request for a page or a call of an API, as the activity log names it.
protocol ActorContext: Sendable {
  var console: Console { get }
  var store: Store { get }
  var request: Request { get }
  /// The name in the activity log, in timelines and beside pushes.
  var actor: String { get }
  var now: Date { get }
  /// Whether devices may be taken out of production: by whoever may send there.
  func leaving(_ database: Database) throws -> LeavingProduction
}

extension ActorContext {
  /// Hosts that webhooks and receivers may reach without TLS.
  var plainHosts: TargetList { console.configuration.proxies.plainHosts }

  /// The IP address of the request, for the activity log.
  var clientAddress: String? { request.remoteAddress?.host }

  /// For what the push services are asked to change.
  var author: KeeperAuthor { KeeperAuthor(actor, from: clientAddress, now: now) }

  /// The row ID in the path.
  func id(_ name: String = "id") throws -> Int64 { try request.parameter(name) }

  /// An entry of the activity log for a change that says itself what it is.
  var entry: NewAuditEntry { audit("", "") }

  func audit(_ action: String, _ subject: String, _ detail: JSONValue? = nil) -> NewAuditEntry {
    NewAuditEntry(actor: actor, action: action, subject: subject, detail: detail, address: clientAddress)
  }

  /// Records a change in the activity log, in the transaction that makes it.
  func record(_ database: Database, _ action: String, _ subject: String, _ detail: JSONValue? = nil) throws {
    try record(database, audit(action, subject, detail))
  }

  func record(_ database: Database, _ entry: NewAuditEntry) throws {
    try AuditEntry.add(database, entry, now: now)
  }

  /// Writes an entry of the activity log that belongs to no change, such as one about an export.
  func note(_ entry: NewAuditEntry) async throws {
    try await store.write { try self.record($0, entry) }
  }
}
