import HTTPServer
import Store

/// `/api/v1/activity`.
enum ActivityAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list(
      "/activity", role: .operator, filters: ["actor", "action", "kind", "subject", "q", "from", "before"]
    ) { call in
      var query = APIQuery(call.request)
      let (limit, cursor) = (query.limit(), query.cursor())
      let filter = AuditEntry.Filter(
        actor: query.text("actor"), action: query.text("action"), kind: query.choice("kind"),
        subject: query.text("subject"), search: query.text("q"), from: query.time("from"), before: query.time("before"))
      try query.finish()
      return APIContext.answer(
        try await call.store.read { try AuditEntry.list($0, filter, cursor: cursor, limit: limit) })
    }
  }
}
