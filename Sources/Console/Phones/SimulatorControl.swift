package import Foundation
package import HTTPServer
internal import Model
package import Simulator

/// The simulator's control API without the console, and FCM and JPush over plain HTTP/1.1, as `signalbox simulate` serves them:
/// for local programs only; the control API needs no token.
package enum SimulatorControl {
  /// Routes `/simulator/v1/…`, `/healthz`, which answers once the simulator runs, and FCM's and JPush's
  /// addresses.
  package static func router(
    _ simulator: PushSimulator, clock: @escaping @Sendable () -> Date = { Date() }
  ) -> Router {
    var router = Router()
    router.errorPage = { failure in
      var response = ProblemDetails(failure).response
      for field in failure.headers.fields { response.headers.append(field.name, field.value) }
      return response
    }
    router.use(
      Middleware(prepare: { request in
        // Keeps web pages in a local browser out: browsers send this field, programs do not.
        let site = request.header("Sec-Fetch-Site") ?? "none"
        guard site == "none" || site == "same-origin" else {
          throw HTTPError(.forbidden, "Pages on other sites cannot use the simulator.")
        }
      }))
    router.get("/healthz") { _ in .text("ok\n") }
    for operation in SimulatorAPI.all {
      router.on(operation.method, SimulatorAPI.prefix + operation.pattern, name: "api") { request in
        try await APIError.telling {
          try APIQuery.check(request.queryItems, names: operation.query)
          return try await operation.answer(SimulatorAPI.Call(request: request, running: simulator, now: clock()))
        }
      }
    }
    let fcm = ["/token", "/o/oauth2/token", "/oauth2/v4/token", "/fcm/send", "/gcm/send", "/v1/*rest", "/iid/*rest"]
    add(simulator.fcm, fcm, limit: FCMService.bodyLimit, name: "fcm", to: &router)
    add(simulator.jpush, ["/v3/*rest"], limit: JPushService.bodyLimit, name: "jpush", to: &router)
    return router
  }

  private static func add(
    _ service: any CallService, _ patterns: [String], limit: Int, name: String, to router: inout Router
  ) {
    var options = Route.Options(bodyLimit: limit)
    // A request that a fault leaves unanswered waits until its client gives up.
    options.endsWithClient = true
    for pattern in patterns {
      for method in [HTTPServer.Method.get, .post, .put, .patch, .delete] {
        router.on(method, pattern, name: name, options: options) { request in
          // A client that has this address as its proxy sends the whole URL (RFC 9112 §3.2.2).
          let target = request.path + (request.query.map { "?\($0)" } ?? "")
          let call = SimulatedCall(
            method: request.method.rawValue, target: target, authorization: request.header("Authorization"),
            contentType: request.header("Content-Type"), body: try await request.body.collect(upTo: limit))
          guard let reply = try await service.answer(call) else {
            // Close in the middle of the body, so that no client takes it for an answer.
            return Response(body: .stream(length: 1) { _ in throw CancellationError() })
          }
          let fields = reply.fields.map { Headers.Field(name: $0.name, value: $0.value) }
          return Response(Status(reply.status), headers: Headers(fields), body: .bytes(reply.body))
        }
      }
    }
  }
}
