import Delivery
import HTTPServer
import Store

/// For what watches this server.
enum HealthRoutes {
  static func add(to routes: inout ConsoleRouter) {
    let (store, engine) = (routes.console.store, routes.console.engine)
    // The process answers: nothing else is looked at, so that a slow disk does not get it killed.
    routes.plain(.get, "/healthz") { _ in .text("ok\n") }
    routes.plain(.get, "/readyz") { _ in
      do {
        _ = try await store.read(limit: .seconds(2)) { try Setting.find($0, "ready") }
        if let trouble = engine.trouble {
          return .text("delivery does not run: \(trouble)\n", status: .serviceUnavailable)
        }
        return .text("ready\n")
      } catch {
        return .text("the database does not answer\n", status: .serviceUnavailable)
      }
    }
  }
}
