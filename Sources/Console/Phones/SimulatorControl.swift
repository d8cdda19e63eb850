package import Foundation
package import HTTPServer
internal import Model
package import Simulator

/// The simulator's control API without the console, as `signalbox simulate` serves it: no tokens, for local programs
/// only.
package enum SimulatorControl {
  /// Routes `/simulator/v1/…`, and `/healthz`, which answers once the simulator runs.
  package static func router(
    _ simulator: APNsSimulator, clock: @escaping @Sendable () -> Date = { Date() }
  ) -> Router {
    var router = Router()
    router.errorPage = { failure in
      var response = ProblemDetails(failure).response
      for field in failure.headers.fields { response.headers.append(field.name, field.value) }
      return response
    }
    router.use { request, next in
      // Keeps web pages in a local browser out: browsers send this field, programs do not.
      let site = request.header("Sec-Fetch-Site") ?? "none"
      guard site == "none" || site == "same-origin" else {
        throw HTTPError(.forbidden, "Pages on other sites cannot use the simulator.")
      }
      return try await next(request)
    }
    router.get("/healthz") { _ in .text("ok\n") }
    for operation in SimulatorAPI.operations {
      router.on(operation.method, SimulatorAPI.prefix + operation.pattern, name: "api") { request in
        try await APIError.telling {
          try APIQuery.check(request.queryItems, names: operation.query)
          return try await operation.answer(SimulatorAPI.Call(request: request, running: simulator, now: clock()))
        }
      }
    }
    return router
  }
}
