import Delivery
import HTTPServer
import Push
import SQLite
import Store

/// What can be done with a push: cancel, pause, resume, retry.
enum PushControlAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.post, "/pushes/:id/cancel", role: .operator) { call in
      try await change(call, "push.cancel", "The push has ended already; what was sent cannot be taken back.") {
        try await call.console.engine.cancel($0)
      }
    }
    routes.call(.post, "/pushes/:id/pause", role: .operator) { call in
      try await change(call, "push.pause", "The push is not under way; nothing was changed.") {
        try await call.console.engine.pause($0)
      }
    }
    routes.call(.post, "/pushes/:id/resume", role: .operator) { call in
      try await change(call, "push.resume", "The push is not paused; nothing was changed.") {
        try await call.console.engine.resume($0)
      }
    }
    routes.call(.post, "/pushes/:id/retry", role: .operator) { call in try await retry(call) }
    routes.call(.post, "/pushes/:id/move", role: .operator) { call in try await move(call, back: false) }
    routes.call(.post, "/pushes/:id/move-back", role: .operator) { call in try await move(call, back: true) }
  }

  /// - Throws: 409 with `otherwise` if `change` could not be made.
  private static func change(
    _ call: APIContext, _ action: String, _ otherwise: String, _ change: (Int64) async throws -> Bool
  ) async throws -> Response {
    let push = try await call.store.read { try PushesAPI.find($0, call) }
    guard try await change(push.id) else { throw HTTPError(.conflict, otherwise) }
    let (audit, now) = (call.audit(action, "push \(push.uid)"), call.now)
    let answer = try await call.store.write { database in
      try AuditEntry.add(database, audit, now: now)
      return try PushesAPI.json(database, try PushRecord.get(database, id: push.id))
    }
    return APIContext.answer(answer)
  }

  /// Moves devices that were refused for their environment to the other one, or back.
  private static func move(_ call: APIContext, back: Bool) async throws -> Response {
    let push = try await call.store.read { try PushesAPI.find($0, call) }
    let devices = try await TokenMove(push, back: back).carryOut(call.store, by: call.actor, now: call.now) {
      call.audit($0, "push \(push.uid)", .object($1))
    }
    guard devices > 0 else { throw HTTPError(.conflict, "No device of this push is to be moved.") }
    let environment = back ? push.environment : push.environment.other
    return APIContext.answer([
      "devices": .integer(Int64(devices)), "environment": .string(environment.rawValue),
    ])
  }

  private static func retry(_ call: APIContext) async throws -> Response {
    let push = try await call.store.read { try PushesAPI.find($0, call) }
    let retried = try await call.console.engine.retryFailed(push.id, source: "api", by: call.actor) { new in
      call.audit("push.retry", "push \(push.uid)", ["push": .string(new.uid)])
    }
    switch retried {
    case .notOver: throw HTTPError(.conflict, "The push is not over yet: retry when it is.")
    case .nobody:
      throw HTTPError(.conflict, "Nobody is left to retry: what failed would be refused again.")
    case .already(let child):
      throw HTTPError(
        .conflict, "Push \(child.uid) is the retry of this one. Retry that one for those whom it did not reach.")
    case .created(let child, let found):
      let json = try await call.store.read { try PushesAPI.json($0, child) }
      return APIContext.answer(
        [
          "push": json, "devices": .integer(Int64(found.devices)), "unknown": .integer(Int64(found.unknown)),
          "excluded": .array(
            found.excluded.map { count in
              [
                "outcome": .string(count.outcome.name), "reason": .optional(count.reason),
                "count": .integer(Int64(count.count)),
              ]
            }),
        ], status: .accepted, location: "/api/v1/pushes/\(child.uid)")
    }
  }
}
