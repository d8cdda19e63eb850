import Foundation
import HTTPServer
import JSON
import Logging
import Model
import Reactor
import SQLite
import Store

/// The API that is compatible with JPush's REST API v3 (docs/protocols.md §4): JPush's own server libraries work against
/// it after a change of the host.
enum JPushAPI {
  /// A batch has up to 1000 pushes of 4 kB and more.
  static let bodyLimit = 8 << 20

  static func add(to routes: inout ConsoleRouter) {
    JPushPushesAPI.add(to: &routes)
    JPushSchedulesAPI.add(to: &routes)
    JPushDevicesAPI.add(to: &routes)
    JPushReportsAPI.add(to: &routes)
  }

  /// Answers a request: who asks, then how often, then the call. Every error is JSON in JPush's form.
  static func answer(
    _ console: Console, _ request: Request, _ handler: (JPushCall) async throws -> Response
  ) async throws -> Response {
    let now = console.clock()
    let family = JPushFamily(path: request.path) ?? .push
    let call: JPushCall
    do {
      call = try await JPushAccess.call(console, request, family, now: now)
    } catch {
      let wrong = error as? JPushAccess.WrongSecrets
      var response = try refusal(of: wrong?.error ?? error, family, request, console.log)
      let quota = wrong.map { JPushLimits.Quota(limit: family.quota, remaining: -1, reset: $0.wait) }
      (quota ?? .uncounted(family)).add(to: &response)
      return response
    }
    let quota = console.jpushLimits.count(app: call.app.id, family, now: now)
    var response: Response
    do {
      guard quota.remaining >= 0 else { throw JPushError(.tooOften, "Rate limit exceeded") }
      response = try await handler(call)
    } catch {
      response = try refusal(of: error, family, request, console.log)
    }
    quota.add(to: &response)
    return response
  }

  /// - Throws: `error` itself if nobody waits for an answer.
  private static func refusal(
    of error: any Error, _ family: JPushFamily, _ request: Request, _ log: Logger
  ) throws -> Response {
    if error is ClientGone || error is CancellationError { throw error }
    if let error = error as? JPushError { return refusal(error.answered(by: family)) }
    if let problems = error as? Problems { return refusal(JPushPushesAPI.error(of: problems).answered(by: family)) }
    if let known = APIError(error) { return refusal(known.status, known.message, known.headers, family) }
    if let known = error as? any HTTPResponseError {
      return refusal(known.status, known.message, known.headers, family)
    }
    // Unexpected errors may name devices: their text is masked, and only logged.
    log.error(
      "request failed",
      ["request": request.id, "path": request.route ?? "", "error": Redaction.masking("\(error)")])
    return refusal(.internalServerError, "", Headers(), family)
  }

  /// A failure of the router in JPush's form. Addresses of JPush's that Signalbox has no use for say so (403, 2007).
  static func refusal(of failure: Failure, _ request: Request, _ family: JPushFamily) -> Response {
    var response = unrouted(failure, request, family)
    JPushLimits.Quota.uncounted(family).add(to: &response)
    return response
  }

  private static func unrouted(_ failure: Failure, _ request: Request, _ family: JPushFamily) -> Response {
    // Only DELETE takes any word below /v3/push, for a msg_id.
    guard failure.status == .notFound || failure.headers["Allow"] == "DELETE, OPTIONS" else {
      return refusal(failure.status, failure.message, failure.headers, family)
    }
    guard let text = absence(request.path) else {
      return refusal(.notFound, "Signalbox has no such address. Check the path.", Headers(), family)
    }
    return refusal(.noRight, text, status: .forbidden)
  }

  private static func absence(_ path: String) -> String? {
    let parts = path.split(separator: "/")
    if parts.first == "v1" {
      return "Signalbox has no Admin API of JPush's. Create apps and upload certificates on its pages, or at /api/v1."
    }
    if parts.contains("grouppush") {
      return "Signalbox has no app groups. Send to each app with its own AppKey and master secret at /v3/push."
    }
    let rest = parts.dropFirst().prefix(2).map(String.init)
    if rest.first == "files" || rest == ["push", "file"] {
      return "Signalbox has no push to a file. Name up to 1000 aliases or registration IDs, a tag, or a segment."
    }
    // The Beijing zone has everything on one host, and so other paths (docs/protocols.md §4.1).
    guard rest.first == "device" || rest.first == "report" || rest == ["push", "schedules"] else { return nil }
    return "Signalbox has the paths of JPush's default zone: /v3/devices, /v3/aliases, /v3/tags, /v3/received, "
      + "/v3/schedules and so on. Do not use those of the Beijing zone."
  }

  /// A failure in JPush's form.
  private static func refusal(
    _ status: Status, _ message: String, _ headers: Headers, _ family: JPushFamily
  ) -> Response {
    let text = status.code >= 500 && message.isEmpty ? "Server internal error" : message
    let code = family.code(status: status.code)
    var response = refusal(code, text.isEmpty ? status.reason : text, status: status)
    for field in headers.fields { response.headers.append(field.name, field.value) }
    return response
  }

  private static func refusal(_ error: JPushError) -> Response {
    refusal(error.code, error.message, status: Status(error.code.status))
  }

  private static func refusal(_ code: JPushCode, _ message: String, status: Status) -> Response {
    var response = APIContext.answer(status: status) { json in
      // JPush numbers a push that reaches nobody, too.
      if code == .noTarget { json.member("msg_id", JPushPushesAPI.unusedID()) }
      json.object("error") { json in
        json.member("code", code.rawValue)
        json.member("message", message)
      }
    }
    if status == .unauthorized { response.headers.append("WWW-Authenticate", "Basic realm=\"JPush\"") }
    return response
  }
}
