package import Foundation
package import HTTPServer
internal import Model
package import Reactor
package import Simulator

/// The simulator's control API without the console, and FCM and JPush over plain HTTP/1.1, as `signalbox simulate` serves them:
/// for local programs only; the control API needs no token.
package enum SimulatorControl {
  /// Routes `/simulator/v1/…`, `/healthz`, which answers once the simulator runs, and FCM's and JPush's
  /// addresses.
  ///
  /// - Parameters:
  ///   - names: under which the control API may be called, beside those of the loopback interface and the address.
  ///   - address: where the server listens; nil: on the loopback interface.
  package static func router(
    _ simulator: PushSimulator, names: [String] = [], address: SocketAddress? = nil,
    clock: @escaping @Sendable () -> Date = { Date() }
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
        // A page whose name was made to lead here is of the same site for a browser. FCM and JPush are called by any
        // name: clients may have this server as their proxy.
        let isControl = request.pathSegments.prefix(2) == ["simulator", "v1"]
        guard !isControl || isOwn(request.host, names, address) else {
          throw HTTPError(
            .misdirectedRequest,
            "The simulator is not called by this host name. Use localhost or its address, or name it with --name.")
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

  /// Whether the field `Host` names this server; a program that sends none is no browser.
  private static func isOwn(_ host: String?, _ names: [String], _ address: SocketAddress?) -> Bool {
    guard let host = host?.lowercased() else { return true }
    // The port may be that of a proxy or a container.
    let name = host.last == "]" ? host[...] : host[..<(host.lastIndex(of: ":") ?? host.endIndex)]
    let bare = name.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    if bare == "localhost" || names.contains(where: { $0.lowercased() == bare }) { return true }
    guard let own = SocketAddress(host: bare, port: 0) else { return false }
    // Of a server on all interfaces any address may be the own one; an address in digits cannot be made to lead here.
    return own.isLoopback || address.map { $0.host == own.host || ["0.0.0.0", "::"].contains($0.host) } ?? false
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
            method: request.method.rawValue, target: target,
            fields: request.headers.fields.map { ($0.name.lowercased(), $0.value) },
            body: try await request.body.collect(upTo: limit))
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
