import Delivery
import Foundation
import HTTPServer
import JSON
import Reactor
import SQLite
import Store

/// A request for a page or a call of the JSON API, as the activity log names it.
protocol ActorContext: Sendable {
  var console: Console { get }
  var store: Store { get }
  var request: Request { get }
  /// The name in the activity log, in timelines and beside pushes.
  var actor: String { get }
  var now: Date { get }
}

extension ActorContext {
  /// For what the push services are asked to change.
  var author: KeeperAuthor { KeeperAuthor(actor, from: request.remoteAddress?.host, now: now) }

  func audit(_ action: String, _ subject: String, _ detail: JSONValue? = nil) -> NewAuditEntry {
    NewAuditEntry(actor: actor, action: action, subject: subject, detail: detail, address: request.remoteAddress?.host)
  }

  /// Writes an entry of the activity log that belongs to no change, such as one about an export.
  func note(_ entry: NewAuditEntry) async throws {
    let now = now
    try await store.write { _ = try AuditEntry.add($0, entry, now: now) }
  }
}
