import Delivery
import HTTPServer
import JSON
import Model
import Store

/// The buttons of a push's page: cancel, pause, resume, retry.
enum PushControlPages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.post, "/pushes/:uid/cancel", role: .operator) { page in
      try await change(page, "push.cancel", flash: "push_cancelled", or: "push_over") {
        try await page.console.engine.cancel($0.id, by: page.actor)
      }
    }
    routes.page(.post, "/pushes/:uid/pause", role: .operator) { page in
      try await change(page, "push.pause", flash: "push_paused", or: "push_unchanged") {
        try await page.console.engine.pause($0.id)
      }
    }
    routes.page(.post, "/pushes/:uid/resume", role: .operator) { page in
      try await change(page, "push.resume", flash: "push_resumed", or: "push_unchanged") {
        try await check(sending: $0, page)
        return try await page.console.engine.resume($0.id)
      }
    }
    routes.page(.post, "/pushes/:uid/retry", role: .operator, retry)
    TokenMovePages.add(to: &routes)
    ApprovalPages.add(to: &routes)
  }

  /// - Throws: 403 if the person may not send where the push reaches phones.
  private static func check(sending push: Push, _ page: PageContext) async throws {
    try page.check(sendingIn: try await page.store.read { try ProductionGuard($0, push).environment })
  }

  private static func change(
    _ page: PageContext, _ action: String, flash done: String, or otherwise: String,
    _ change: (Push) async throws -> Bool
  ) async throws -> Response {
    let push = try await PushPages.find(page)
    let isChanged = try await change(push)
    let action = push.state == .needsApproval ? "push.withdraw" : action
    if isChanged { try await page.note(page.audit(action, "push \(push.uid)")) }
    let back = "/pushes/\(push.uid)"
    guard isChanged else { return page.redirect(to: back, flash: push.refusal == nil ? otherwise : "approval_late") }
    if push.state == .needsApproval { return page.redirect(to: back, flash: "push_withdrawn") }
    // Before anything was sent there are no remaining devices; the page says that none got it.
    let isEarly = done == "push_cancelled" && push.state == .queued
    return page.redirect(to: back, flash: isEarly ? "push_undone" : done)
  }

  private static func retry(_ page: PageContext) async throws -> Response {
    let push = try await PushPages.find(page)
    try await check(sending: push, page)
    let retried = try await page.console.intake.retryFailed(
      push.id, source: .web, by: page.actor, person: page.user?.id, now: page.now
    ) { new in
      page.audit("push.retry", "push \(push.uid)", ["push": .string(new.uid)])
    }
    switch retried {
    case .notOver: return page.redirect(to: "/pushes/\(push.uid)", flash: "push_not_over")
    case .nobody: return page.redirect(to: "/pushes/\(push.uid)", flash: "push_nobody")
    case .already(let child): return page.redirect(to: "/pushes/\(child.uid)", flash: "push_repeated")
    case .created(let child, _): return page.redirect(to: "/pushes/\(child.uid)", flash: "push_retried")
    }
  }
}
