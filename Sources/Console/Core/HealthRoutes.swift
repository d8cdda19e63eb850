import HTTPServer
import Store

/// For what watches this server.
enum HealthRoutes {
  static func add(to routes: inout ConsoleRouter) {
    let store = routes.console.store
    // The process answers: nothing else is looked at, so that a slow disk does not get it killed.
    routes.plain(.get, "/healthz") { _ in .text("ok\n") }
    routes.plain(.get, "/readyz") { _ in
      do {
        _ = try await store.read(limit: .seconds(2)) { try Setting.find($0, "ready") }
        return .text("ready\n")
      } catch {
        return .text("the database does not answer\n", status: .serviceUnavailable)
      }
    }
  }
}
