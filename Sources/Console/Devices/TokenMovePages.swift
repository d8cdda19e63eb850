import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import SQLite
import Store

/// Moves devices that were parked for the wrong environment to the other environment, or back.
struct TokenMove {
  let origin: MovedTokens.Origin
  let back: Bool

  init(_ origin: MovedTokens.Origin, back: Bool) {
    self.origin = origin
    self.back = back
  }

  /// Where the devices go.
  var environment: Environment { back ? origin.environment : origin.environment.other }

  /// Whether the app's name must be typed, as for a push to production.
  var mustType: Bool { !back && environment == .production }

  /// - Returns: the number of devices moved. If it is 0, nothing is written to the activity log.
  /// - Throws: `Problem` if they may not leave production.
  func carryOut(for context: some ActorContext) async throws -> Int {
    let (origin, back) = (origin, back)
    let detail: JSONValue = ["environment": .string(environment.rawValue), "reason": .string(MovedTokens.reason)]
    return try await context.store.write { database in
      let found = try MovedTokens.find(database, origin)
      guard !(back ? found.moved : found.parked).isEmpty else { return 0 }
      // Before the move, so that the log has it before the incident that closes or opens because of it.
      try context.record(database, origin.action(back: back), origin.subject, detail)
      return back
        ? try MovedTokens.moveBack(
          database, origin, leaving: try context.leaving(database), by: context.actor, now: context.now)
        : try MovedTokens.move(
          database, origin, leaving: try context.leaving(database), by: context.actor, now: context.now)
    }
  }

  /// The last word of a call's path.
  static func word(back: Bool) -> String { back ? "move-back" : "move" }

  /// The same for the API.
  func answer(_ call: APIContext) async throws -> Response {
    let devices = try await carryOut(for: call)
    guard devices > 0 else { throw HTTPError(.conflict, "This \(origin.noun) has no devices to move.") }
    return APIContext.answer { json in
      json.member("devices", devices)
      json.member("environment", environment.rawValue)
    }
  }
}

extension MovedTokens.Origin {
  /// Of the activity log.
  fileprivate func action(back: Bool) -> String {
    switch self {
    case .push: back ? "push.move_back" : "push.move"
    case .incident: back ? "incident.move_back" : "incident.move"
    }
  }

  /// As the texts name it.
  fileprivate var noun: String {
    switch self {
    case .push: "push"
    case .incident: "incident"
    }
  }

  fileprivate var subject: String {
    switch self {
    case .push(let push): "push \(push.uid)"
    case .incident(let incident): incident.subject
    }
  }

  fileprivate var path: String {
    switch self {
    case .push(let push): "/pushes/\(push.uid)"
    case .incident(let incident): "/incidents/\(incident.id)"
    }
  }

  fileprivate func heading(_ texts: Texts) -> String {
    switch self {
    case .push(let push): push.heading(texts)
    case .incident(let incident): texts("incidents.numbered", ["number": "\(incident.id)"])
    }
  }

  fileprivate func list(_ texts: Texts) -> LinkView {
    switch self {
    case .push: LinkView(href: "/pushes", label: texts("pushes.title"))
    case .incident: LinkView(href: "/incidents", label: texts("incidents.title"))
    }
  }
}

/// `/pushes/:uid/move` and `/incidents/:id/move`: asks for confirmation, then moves, there or back.
enum TokenMovePages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/pushes/:uid/move", role: .operator) { page in try await ask(page, push(page)) }
    routes.page(.post, "/pushes/:uid/move", role: .operator) { page in try await move(page, push(page)) }
    routes.page(.get, "/incidents/:id/move", role: .operator) { page in try await ask(page, incident(page)) }
    routes.page(.post, "/incidents/:id/move", role: .operator) { page in try await move(page, incident(page)) }
  }

  private static func push(_ page: PageContext) async throws -> MovedTokens.Origin {
    .push(try await PushPages.find(page))
  }

  private static func incident(_ page: PageContext) async throws -> MovedTokens.Origin {
    let id = try page.id()
    return .incident(try await page.store.read { try IncidentPages.find($0, id) })
  }

  /// - Parameter error: why what was typed is not enough.
  private static func ask(
    _ page: PageContext, _ origin: MovedTokens.Origin, error: String? = nil
  ) async throws -> Response {
    let texts = page.texts
    let move = TokenMove(origin, back: (error == nil ? page.query["back"] : page.form["back"]) == "1")
    let (found, app) = try await page.store.read {
      (try MovedTokens.find($0, origin), try App.get($0, id: origin.app).name)
    }
    let count = move.back ? found.moved.count : found.parked.count
    let words = MoveWords(origin.environment, found, texts)
    var means = [texts(move.back ? "move.back_means" : "move.means", ["environment": move.environment.word(texts)])]
    if !move.back { means.append(words.evidence) }
    let way = "move.\(origin.noun).\(move.back ? "again" : "reversible")"
    means.append(texts(way, ["environment": origin.environment.word(texts)]))
    if count == MovedTokens.limit { means.append(texts("move.limit", ["limit": count.grouped])) }
    return page.answer(
      TokenMoveView(
        list: origin.list(texts), origin: LinkView(href: origin.path, label: origin.heading(texts)),
        back: texts("move.\(origin.noun).back"), nobody: texts("move.\(origin.noun).nobody"), isBack: move.back,
        count: count, action: words.label(back: move.back), means: means,
        question: move.mustType ? texts("move.type_app", ["app": app]) : nil,
        confirm: FieldView(value: page.form.raw("confirm"), error: error ?? "")),
      status: error == nil ? .ok : .unprocessableContent)
  }

  private static func move(_ page: PageContext, _ origin: MovedTokens.Origin) async throws -> Response {
    let move = TokenMove(origin, back: page.form["back"] == "1")
    if move.mustType {
      let app = try await page.store.read { try App.get($0, id: origin.app).name }
      guard page.form["confirm"] == app else {
        return try await ask(page, origin, error: page.texts("confirm.differs", ["app": app]))
      }
    }
    let count: Int
    do { count = try await move.carryOut(for: page) } catch is Problem {
      throw PageError(.forbidden, "leaving")
    }
    return page.redirect(
      to: origin.path, flash: count == 0 ? "devices_unmoved" : move.back ? "devices_moved_back" : "devices_moved")
  }
}

/// Asks for confirmation before devices are moved.
struct TokenMoveView: PageView {
  static let template = "pushes/move"
  static let section: Section? = .devices

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

  /// The move there if devices are parked, or else the move back if some were moved; nil: neither.
  func link(_ path: String) -> LinkView? {
    if !found.parked.isEmpty { return LinkView(href: path, label: label(back: false)) }
    return found.moved.isEmpty ? nil : LinkView(href: path + "?back=1", label: label(back: true))
  }

  /// Why the devices seem to belong to the other environment.
  var evidence: String {
    let words = ["other": environment.other.word(texts), "environment": environment.word(texts)]
    return found.proven > 0
      ? texts("move.proven", count: found.proven, words) : texts("move.unproven", words)
  }
}
