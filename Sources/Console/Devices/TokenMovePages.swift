import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import SQLite
import Store

/// Moves the devices that a push parked for the wrong environment to the other environment, or back.
struct TokenMove {
  let push: Push
  let back: Bool

  init(_ push: Push, back: Bool) {
    self.push = push
    self.back = back
  }

  /// - Parameter audit: makes the audit entry for an action.
  /// - Returns: the number of devices moved. If it is 0, nothing is written to the audit log.
  func carryOut(
    _ store: Store, by actor: String, now: Date, audit: (String, [String: JSONValue]) -> NewAuditEntry
  ) async throws -> Int {
    let (push, back) = (push, back)
    let environment = back ? push.environment : push.environment.other
    let entry = audit(
      back ? "push.move_back" : "push.move",
      ["environment": .string(environment.rawValue), "reason": .string(MovedTokens.reason)])
    return try await store.write { database in
      let count =
        back
        ? try MovedTokens.moveBack(database, push: push, by: actor, now: now)
        : try MovedTokens.move(database, push: push, by: actor, now: now)
      if count > 0 { try AuditEntry.add(database, entry, now: now) }
      return count
    }
  }
}

/// `/pushes/:uid/move`: asks for confirmation, then moves.
enum TokenMovePages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/pushes/:uid/move", role: .operator) { page in try await ask(page) }
    routes.page(.post, "/pushes/:uid/move", role: .operator) { page in try await move(page) }
  }

  /// Whether the app's name must be typed, as for a push to production.
  private static func mustType(_ push: Push, back: Bool) -> Bool { !back && push.environment.other == .production }

  /// - Parameter error: why what was typed is not enough.
  private static func ask(_ page: PageContext, error: String? = nil) async throws -> Response {
    let (push, texts) = (try await PushPages.find(page), page.texts)
    let isBack = (error == nil ? page.query["back"] : page.form["back"]) == "1"
    let (found, app) = try await page.store.read {
      (try MovedTokens.find($0, push: push), try App.get($0, id: push.appID).name)
    }
    let count = isBack ? found.moved.count : found.parked.count
    let environment = isBack ? push.environment : push.environment.other
    var means = [texts(isBack ? "move.back_means" : "move.means", ["environment": environment.word(texts)])]
    if !isBack { means.append(MoveWords(push.environment, found, texts).evidence) }
    means.append(texts(isBack ? "move.again" : "move.reversible", ["environment": push.environment.word(texts)]))
    if count == MovedTokens.limit { means.append(texts("move.limit", ["limit": count.grouped])) }
    return page.answer(
      TokenMoveView(
        list: LinkView(href: "/pushes", label: texts("pushes.title")),
        origin: LinkView(href: "/pushes/\(push.uid)", label: push.heading(texts)), back: texts("move.to_push"),
        nobody: texts("move.nobody_next"), isBack: isBack, count: count,
        action: MoveWords(push.environment, found, texts).label(back: isBack), means: means,
        question: mustType(push, back: isBack) ? texts("move.type_app", ["app": app]) : nil,
        confirm: FieldView(value: page.form.raw("confirm"), error: error ?? "")),
      status: error == nil ? .ok : .unprocessableContent)
  }

  private static func move(_ page: PageContext) async throws -> Response {
    let push = try await PushPages.find(page)
    let isBack = page.form["back"] == "1"
    if mustType(push, back: isBack) {
      let app = try await page.store.read { try App.get($0, id: push.appID).name }
      guard page.form["confirm"] == app else {
        return try await ask(page, error: page.texts("confirm.differs", ["app": app]))
      }
    }
    let count = try await TokenMove(push, back: isBack).carryOut(page.store, by: page.actor, now: page.now) {
      page.audit($0, "push \(push.uid)", .object($1))
    }
    return page.redirect(
      to: "/pushes/\(push.uid)",
      flash: count == 0 ? "devices_unmoved" : isBack ? "devices_moved_back" : "devices_moved")
  }
}

/// Asks for confirmation before devices are moved.
struct TokenMoveView: PageView {
  static let template = "pushes/move"
  static let section: Section? = .pushes

  let list: LinkView
  /// The push or the incident.
  let origin: LinkView
  /// How the link to it is called.
  let back: String
  /// Said if there is nothing to move.
  let nobody: String
  let isBack: Bool
  let count: Int
  let action: String
  /// The consequences, one sentence each.
  let means: [String]
  /// The request to type the app's name, which is made for production; nil if it is not needed.
  let question: String?
  let confirm: FieldView

  static let fields: [Field<Self>] = [
    .view("list") { $0.list },
    .view("origin") { $0.origin },
    .text("back") { $0.back },
    .text("nobody") { $0.nobody },
    .flag("is_back") { $0.isBack },
    .flag("has_devices") { $0.count > 0 },
    .text("action") { $0.action },
    .list("means") { $0.means },
    .flag("production") { $0.question != nil },
    .optional("must_type") { $0.question },
    .view("confirm") { $0.question == nil ? nil : $0.confirm },
  ]
}

struct MoveWords {
  /// Where the devices are, or were.
  private let environment: Environment
  private let found: MovedTokens
  private let texts: Texts

  init(_ environment: Environment, _ found: MovedTokens, _ texts: Texts) {
    self.environment = environment
    self.found = found
    self.texts = texts
  }

  /// As “Move 14 devices to development”.
  func label(back: Bool) -> String {
    let environment = (back ? self.environment : self.environment.other).word(texts)
    return texts(
      back ? "move.back" : "move.action", count: back ? found.moved.count : found.parked.count,
      ["environment": environment])
  }

  /// Why the devices seem to belong to the other environment.
  var evidence: String {
    let words = ["other": environment.other.word(texts), "environment": environment.word(texts)]
    return found.proven > 0
      ? texts("move.proven", count: found.proven, words) : texts("move.unproven", words)
  }
}
