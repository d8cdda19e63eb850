import Calendar
import Delivery
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The actions on a push: cancel, pause, resume, retry.
enum PushControlAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.post, "/pushes/:id/cancel", role: .operator, scope: .send, reach: .push, takesBody: false) { call in
      try await change(call, "push.cancel", "The push has already ended. Sent pushes cannot be recalled.") {
        try await call.console.engine.cancel($0, by: call.actor)
      }
    }
    routes.call(.post, "/pushes/:id/pause", role: .operator, scope: .send, reach: .push, takesBody: false) { call in
      try await change(call, "push.pause", "The push is not being sent. Nothing was changed.") {
        try await call.console.engine.pause($0)
      }
    }
    routes.call(.post, "/pushes/:id/resume", role: .operator, scope: .send, reach: .push, takesBody: false) { call in
      try await change(call, "push.resume", "The push is not paused. Nothing was changed.") {
        try await call.console.engine.resume($0)
      }
    }
    routes.call(.post, "/pushes/:id/retry", role: .operator, scope: .send, reach: .push, takesBody: false, retry)
    ApprovalPages.addCalls(to: &routes)
    for back in [false, true] {
      let path = "/pushes/:id/" + TokenMove.word(back: back)
      routes.call(.post, path, role: .operator, scope: .devices, reach: .push, takesBody: false) { call in
        let push = try await call.store.read { try PushesAPI.find($0, call) }
        return try await TokenMove(.push(push), back: back).answer(call)
      }
    }
  }

  /// - Throws: 409 if `change` returns false: with the message `otherwise`, or how the request for approval ended.
  private static func change(
    _ call: APIContext, _ action: String, _ otherwise: String, _ change: (Int64) async throws -> Bool
  ) async throws -> Response {
    let push = try await call.store.read { try PushesAPI.find($0, call) }
    guard try await change(push.id) else {
      let ending = try await call.store.read { try Approval.find($0, .push(push.id))?.ending }
      throw HTTPError(.conflict, ending ?? otherwise)
    }
    let action = push.state == .needsApproval ? "push.withdraw" : action
    return try await call.write { database in
      try call.record(database, action, "push \(push.uid)")
      return try PushesAPI.json(database, try Push.get(database, id: push.id))
    }
  }

  private static func retry(_ call: APIContext) async throws -> Response {
    let push = try await call.store.read { try PushesAPI.find($0, call) }
    let idempotency = try Idempotency(call, content: [])
    return try await call.console.intake.retryFailed(
      push.id, once: idempotency, source: .api, by: call.actor, person: call.principal.person, now: call.now,
      audit: { call.audit("push.retry", "push \(push.uid)", ["push": .string($0.uid)]) }
    ) { database, retried in
      switch retried {
      case .notOver: throw HTTPError(.conflict, "The push has not finished yet. Retry it once it has.")
      case .nobody:
        throw HTTPError(
          .conflict, "No devices to retry: all failed devices would be refused again, or are no longer active.")
      case .already(let child):
        throw HTTPError(
          .conflict, "This push was already retried as \(child.uid). To reach the remaining devices, retry that one.")
      case .created(let child, let found):
        return Idempotency.Answer(
          status: .accepted, json: RetryAnswer(push: try PushesAPI.json(database, child), found: found),
          location: "/api/v1/pushes/\(child.uid)")
      }
    }.response
  }
}

/// The schema `Retry`: the new push, and the devices that it leaves out.
private struct RetryAnswer: JSONObject {
  let push: PushAnswer
  let found: PushRepeat

  func writeMembers(to json: inout JSONWriter) {
    json.member("push", push)
    json.member("devices", found.devices)
    json.member("unknown", found.unknown)
    json.objects("excluded", found.excluded) { json, count in
      json.member("outcome", count.outcome.name)
      json.member("reason", count.reason)
      json.member("count", count.count)
    }
  }
}

extension Approval {
  /// How a request ended that was not approved; nil: it is open, or was approved.
  fileprivate var ending: String? {
    guard let decision, let decidedAt else { return nil }
    let (who, time) = (decidedBy ?? "signalbox", Timestamp.text(decidedAt))
    switch decision {
    case .approved: return nil
    case .rejected, .withdrawn:
      return "The push was \(decision.rawValue) by \(who) at \(time). Nothing was changed."
    case .expired:
      return "Nobody approved the push in time, so it expired at \(time). Nothing was changed."
    }
  }
}
