import Foundation
import HTTPServer
package import JSON
package import Store

/// `/api/v1/activity`.
enum ActivityAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/activity/check", role: .operator, scope: .admin) { call in
      try await call.read(limit: ActivityPages.checkPatience) { try AuditChain.check($0) }
    }
    routes.list(
      "/activity", role: .operator, scope: .admin,
      filters: ["actor", "action", "kind", "subject", "q", "from", "before"]
    ) { call in
      var query = APIQuery(call.request)
      let (limit, cursor) = (query.limit(), query.cursor())
      let filter = AuditEntry.Filter(
        actor: query.text("actor"), action: query.text("action"), kind: query.choice("kind"),
        subject: query.text("subject"), search: query.text("q"), from: query.time("from"), before: query.time("before"))
      try query.finish()
      await call.console.noteDueRefusals(now: call.now)
      return try await call.read(limit: ActivityPages.patience(filter, call.console)) {
        try AuditEntry.list($0, filter, cursor: cursor, limit: limit)
      }
    }
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

extension AuditChain.Report: JSONObject {
  /// Writes the schema `ActivityCheck`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("intact", faults.isEmpty)
    json.member("entries", entries)
    json.member("deleted_sign_ins", deleted)
    json.objects("faults", faults) { json, fault in
      switch fault {
      case .missing(let first, let last):
        json.member("kind", "missing")
        json.member("first", first)
        json.member("last", last)
      case .changed(let id):
        json.member("kind", "changed")
        json.member("first", id)
        json.member("last", id)
      case .deleted(let count, let recorded):
        json.member("kind", "deleted")
        json.member("count", count)
        json.member("recorded", recorded)
      }
    }
  }
}
