import Calendar
import Foundation
import HTTPServer
package import JSON
package import Store

/// Exports the activity log with the page's filters, newest first.
struct ActivityExport: Sendable {
  private static let columns = ["id", "at", "actor", "action", "subject", "detail", "address", "hash"]

  private let pages: PagedExport<AuditEntry>

  init(_ store: Store, _ filter: AuditEntry.Filter) {
    pages = PagedExport(store: store, name: "activity") { database, cursor, limit in
      try AuditEntry.exported(database, filter, cursor: cursor, limit: limit)
    }
  }

  func csv() -> Response { pages.csv(columns: Self.columns, cells: Self.cells) }

  func json() -> Response { pages.json { json, entry in entry.write(to: &json) } }

  private static func cells(_ item: AuditEntry) -> [String] {
    let entry = item.entry
    return [
      String(item.id), Timestamp.text(item.at), entry.actor, entry.action, entry.subject, entry.detail?.text() ?? "",
      entry.address ?? "", item.hashText,
    ]
  }
}

extension AuditEntry: JSONObject {
  /// Writes the schema `ActivityEntry`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("at", at)
    json.member("actor", entry.actor)
    json.member("action", entry.action)
    json.member("subject", entry.subject)
    json.member("detail", entry.detail)
    json.member("address", entry.address)
    json.member("hash", hashText)
  }
}
