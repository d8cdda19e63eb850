import Delivery
import Foundation
import HTTPServer
package import JSON
import Model
import Mustache
import Reactor
import SQLite
package import Store

/// Approving and rejecting what waits for a second person: the buttons of a push's and a schedule's page, and the API.
enum ApprovalPages {
  /// The ends of the paths.
  private static let ways = [(path: "approve", isApproved: true), (path: "reject", isApproved: false)]

  static func add(to routes: inout ConsoleRouter) {
    for (path, isApproved) in ways {
      routes.page(.post, "/pushes/:uid/\(path)", role: .operator) { page in
        let push = try await PushPages.find(page)
        return try await decide(.push(push.id), isApproved: isApproved, page, back: "/pushes/\(push.uid)")
      }
      routes.page(.post, "/schedules/:uid/\(path)", role: .operator) { page in
        let uid: String = try page.request.parameter("uid")
        let schedule = try await page.store.read { try SchedulePages.find($0, uid) }
        return try await decide(.schedule(schedule.id), isApproved: isApproved, page, back: "/schedules/\(uid)")
      }
    }
  }

  private static func decide(
    _ subject: Approval.Subject, isApproved: Bool, _ page: PageContext, back: String
  ) async throws -> Response {
    let remark = page.form.filled("remark").map { String($0.prefix(Approval.remarkLimit)) }
    guard let approver = page.principal?.approver else {
      throw PageError(.unprocessableContent, "refused")
    }
    do {
      try await page.console.engine.decide(
        subject, isApproved: isApproved, by: approver, remark: remark, from: page.clientAddress)
    } catch let problems as Problems {
      // Somebody else was faster: the page shows what became of it.
      if problems.all.contains(where: { ApprovalMessage(rawValue: $0.code)?.isConflict ?? false }) {
        return page.redirect(to: back, flash: "approval_late")
      }
      let action = (back, "errors.own_approval.action")
      if problems.all.contains(where: { $0.code == ApprovalMessage.own.code }) {
        throw PageError(.forbidden, "own_approval", action: action)
      }
      throw PageError(.forbidden, "production", action: action)
    }
    guard isApproved else { return page.redirect(to: back, flash: "approval_refused") }
    let (hasEnded, isPaused) = try await page.store.read { database -> (Bool, Bool) in
      let isPaused = try Approval.find(database, subject)?.isPaused ?? false
      guard case .schedule(let id) = subject else { return (false, isPaused) }
      return (try Schedule.get(database, id: id).state == .ended, isPaused)
    }
    if hasEnded { return page.redirect(to: back, flash: "approval_passed") }
    return page.redirect(to: back, flash: isPaused ? "approval_paused" : "approval_given")
  }
}

/// `POST /api/v1/pushes/:id/approve` and `/reject`, and the same of schedules.
extension ApprovalPages {
  static func addCalls(to routes: inout ConsoleRouter) {
    for (path, isApproved) in ways {
      routes.call(.post, "/pushes/:id/\(path)", role: .operator, scope: .send, reach: .push) { call in
        let remark = try await remark(call)
        let push = try await call.store.read { try PushesAPI.find($0, call) }
        try await decide(.push(push.id), isApproved: isApproved, remark, call)
        return try await call.read { try PushesAPI.json($0, try Push.get($0, id: push.id)) }
      }
      routes.call(.post, "/schedules/:id/\(path)", role: .operator, scope: .send, reach: .schedule) { call in
        let remark = try await remark(call)
        let schedule = try await call.store.read { try SchedulesAPI.find($0, call) }
        try await decide(.schedule(schedule.id), isApproved: isApproved, remark, call)
        return try await call.read { try ScheduleAnswer($0, try Schedule.get($0, id: schedule.id), now: call.now) }
      }
    }
  }

  /// The body is optional.
  private static func remark(_ call: APIContext) async throws -> String? {
    guard let body = try await call.optionalBody() else { return nil }
    let fields = JSONFields(body)
    let remark = fields.string("remark", limit: .characters(Approval.remarkLimit))
    try fields.finish()
    return remark
  }

  private static func decide(
    _ subject: Approval.Subject, isApproved: Bool, _ remark: String?, _ call: APIContext
  ) async throws {
    try await call.console.engine.decide(
      subject, isApproved: isApproved, by: call.principal.approver, remark: remark,
      from: call.clientAddress)
  }
}

/// What waits for a second person, with the buttons of whoever may decide; for `pushes/_approval`.
struct ApprovalView: View, Sendable {
  /// The most people that are named.
  private static let shownApprovers = 8

  let approval: Approval
  /// Why the reader may not decide; nil: the reader may.
  let refusal: String?
  let mayDecide: Bool
  /// Whether the reader asked for it, on a page or with a token, and may withdraw it.
  let isOwn: Bool
  /// Who may decide, for readers who may not.
  let approvers: [String]
  /// Whether it was asked for because its segment has another rule: whoever changed that did not ask to send it.
  let isAskedAgain: Bool
  let path: String
  let texts: Texts
  let now: Date

  /// Nil: it needs and needed no approval.
  ///
  /// - Parameter creator: who made the push or schedule.
  init?(
    _ database: Database, _ subject: Approval.Subject, by creator: String, _ path: String, _ page: PageContext
  ) throws {
    guard let approval = try Approval.find(database, subject), let reader = page.principal?.approver else { return nil }
    let refusal = try approval.refusal(database, of: reader)
    (self.approval, self.path, texts, now) = (approval, path, page.texts, page.now)
    self.refusal = page.may(.operator) ? refusal.map { page.texts.text(Problem("", $0)) } : nil
    mayDecide = page.may(.operator) && refusal == nil
    isOwn = refusal == .own
    isAskedAgain = approval.reach == nil && approval.asker.name != creator
    approvers = try mayDecide || approval.decision != nil ? [] : approval.deciders(database).map(\.name)
  }

  var isOpen: Bool { approval.decision == nil }

  /// Who decided, and when.
  var fact: FactView? {
    guard let decision = approval.decision, let at = approval.decidedAt else { return nil }
    let name = approval.decidedBy.map { ActivityActor($0).name(texts) }
    let who = name.map { name in " · " + (approval.remark.map { texts.labelled(name, $0) } ?? name) } ?? ""
    return FactView(texts("approval.\(decision.rawValue)"), texts.minute(at) + who)
  }

  static let fields: [Field<Self>] = [
    .text("asked") { $0.asked },
    .view("expires") { MomentView(date: $0.approval.expiresAt, now: $0.now) },
    .optional("why_not") { $0.refusal },
    .optional("approvers") { $0.mayDecide ? nil : $0.whoDecides },
    .flag("may_decide") { $0.mayDecide },
    .text("path") { $0.path },
    .flag("production") { _ in true },
  ]

  private var whoDecides: String {
    if approvers.isEmpty { return texts("approval.nobody_else") }
    return approvers.count > Self.shownApprovers
      ? texts("approval.many_can", count: approvers.count)
      : texts("approval.can", ["names": texts.list(approvers)])
  }

  private var asked: String {
    let name = ["name": ActivityActor(approval.asker.name).name(texts)]
    let asked =
      isAskedAgain
      ? texts("approval.segment_changed", name)
      : approval.reach.map { texts("approval.asked", count: $0, name) } ?? texts("approval.asked_uncounted", name)
    // A push says it in its lead.
    guard case .schedule = approval.subject, approval.isPaused else { return asked }
    return [asked, texts("approval.was_paused")].sentences
  }
}

extension Approval: JSONObject {
  /// The schema `Approval`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("asked_by", asker.name)
    json.member("asked_at", askedAt)
    json.member("expires_at", expiresAt)
    json.member("reach", reach)
    json.member("decision", decision?.rawValue)
    json.member("decided_by", decidedBy)
    json.member("decided_at", decidedAt)
    json.member("remark", remark)
  }
}
