package import Foundation
package import HTTPServer
internal import Model
package import Simulator

/// The simulator's control API by itself, as `signalbox simulate` serves it: without tokens, for programs of this
/// machine.
package enum SimulatorControl {
  /// Everything that it answers: `/simulator/v1/…`, and `/healthz` once the simulator runs.
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
      // A web page in a browser of this machine must not play with it; programs do not send this field.
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
