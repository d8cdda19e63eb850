import Calendar
import Delivery
import Foundation
import HTTPServer
import Model
import Reactor
import Reminders
import SQLite
import Store

/// `/healthz` and `/readyz`, for monitoring.
enum HealthRoutes {
  static func add(to routes: inout ConsoleRouter) {
    let (store, engine, clock) = (routes.console.store, routes.console.engine, routes.console.clock)
    // Checks nothing else, so that a slow disk does not get the process killed.
    routes.plain(.get, "/healthz") { _ in .text("ok\n") }
    routes.plain(.get, "/readyz") { request in
      guard let trouble = await trouble(store, engine, now: clock()) else { return .text("ready\n") }
      return .text("\(isNear(request) ? trouble : "not ready")\n", status: .serviceUnavailable)
    }
  }

  /// Why the console is not ready; nil if it is.
  private static func trouble(_ store: Store, _ engine: DeliveryEngine, now: Date) async -> String? {
    do {
      let runs = try await store.read(limit: .seconds(2)) { try CheckRun.all($0) }
      if let trouble = await store.pool.checkDisk() { return DiskWords(trouble).text }
      if let damage = store.pool.knownDamage.text { return damage }
      if let trouble = engine.trouble { return "delivery is not running: \(trouble)" }
      // Monitoring also reports when the certificate checks stopped running.
      return Watchman.late(runs, now: now).first.map {
        "certificates were last checked by \($0.source.rawValue) at \(Timestamp.text($0.at))"
      }
    } catch {
      return (error as? SQLiteError).flatMap(DiskWords.init(of:))?.text ?? "the database does not answer"
    }
  }

  /// Whether a request comes from this machine, and not through a proxy on it: strangers learn yes or no alone.
  private static func isNear(_ request: Request) -> Bool {
    (request.remoteAddress?.isLoopback ?? false)
      && !["Forwarded", "X-Forwarded-For", "Via"].contains { request.header($0) != nil }
  }
}
