import Calendar
import Delivery
import HTTPServer
import Model
import Reminders
import SQLite
import Store

/// `/healthz` and `/readyz`, for monitoring.
enum HealthRoutes {
  static func add(to routes: inout ConsoleRouter) {
    let (store, engine, clock) = (routes.console.store, routes.console.engine, routes.console.clock)
    // Checks nothing else, so that a slow disk does not get the process killed.
    routes.plain(.get, "/healthz") { _ in .text("ok\n") }
    routes.plain(.get, "/readyz") { _ in
      do {
        let runs = try await store.read(limit: .seconds(2)) { try CheckRun.all($0) }
        if let trouble = await store.pool.checkDisk() {
          return .text("\(DiskWords(trouble).text)\n", status: .serviceUnavailable)
        }
        if let trouble = engine.trouble {
          return .text("delivery is not running: \(trouble)\n", status: .serviceUnavailable)
        }
        // Monitoring also reports when the certificate checks stopped running.
        if let late = Watchman.late(runs, now: clock()).first {
          return .text(
            "certificates were last checked by \(late.source.rawValue) at \(Timestamp.text(late.at))\n",
            status: .serviceUnavailable)
        }
        return .text("ready\n")
      } catch {
        let trouble = (error as? SQLiteError).flatMap(DiskWords.init(of:))
        return .text("\(trouble?.text ?? "the database does not answer")\n", status: .serviceUnavailable)
      }
    }
  }
}
