import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/incidents/:id/move`: moves the devices that an incident parked to the other environment, where their tokens belong.
enum IncidentMovePages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/incidents/:id/move", role: .operator) { page in try await ask(page) }
    routes.page(.post, "/incidents/:id/move", role: .operator) { page in try await move(page) }
  }

  /// The devices that would move; nil: the incident has another cause.
  static func found(_ database: Database, _ incident: Incident) throws -> MovedTokens? {
    guard incident.cause.kind == .parked, incident.cause.reason == MovedTokens.reason else { return nil }
    return try MovedTokens.find(database, in: incident.place)
  }

  private static func find(_ database: Database, _ id: Int64) throws -> Incident {
    guard let incident = try Incident.find(database, id: id) else {
      throw PageError.notFound("incident", list: "/incidents")
    }
    return incident
  }

  /// - Parameter error: why what was typed is not enough.
  private static func ask(_ page: PageContext, error: String? = nil) async throws -> Response {
    let (id, texts) = (try page.id(), page.texts)
    let (incident, tokens, app) = try await page.store.read { database in
      let incident = try find(database, id)
      return (
        incident, try found(database, incident) ?? MovedTokens(), try App.get(database, id: incident.place.app).name
      )
    }
    let words = MoveWords(incident.place.environment, tokens, texts)
    let (target, count) = (incident.place.environment.other, tokens.parked.count)
    var means = [texts("move.means", ["environment": target.word(texts)]), words.evidence]
    if count == MovedTokens.limit { means.append(texts("move.limit", ["limit": count.grouped])) }
    let isProduction = target == .production
    return page.answer(
      TokenMoveView(
        list: LinkView(href: "/incidents", label: texts("incidents.title")),
        origin: LinkView(href: "/incidents/\(id)", label: texts("incidents.numbered", ["number": "\(id)"])),
        back: texts("move.to_incident"), nobody: texts("move.nobody_incident"), isBack: false, count: count,
        action: words.label(back: false), means: means,
        question: isProduction ? texts("move.type_app", ["app": app]) : nil,
        confirm: FieldView(value: page.form.raw("confirm"), error: error ?? "")),
      status: error == nil ? .ok : .unprocessableContent)
  }

  private static func move(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    let (incident, app) = try await page.store.read { database in
      let incident = try find(database, id)
      return (incident, try App.get(database, id: incident.place.app).name)
    }
    let target = incident.place.environment.other
    if target == .production, page.form["confirm"] != app {
      return try await ask(page, error: page.texts("confirm.differs", ["app": app]))
    }
    let (actor, now) = (page.actor, page.now)
    let entry = page.audit(
      "incident.move", incident.subject,
      ["environment": .string(target.rawValue), "reason": .string(MovedTokens.reason)])
    let count = try await page.store.write { database in
      guard try found(database, incident) != nil else { return 0 }
      let count = try MovedTokens.move(database, in: incident.place, by: actor, now: now)
      if count > 0 { try AuditEntry.add(database, entry, now: now) }
      return count
    }
    return page.redirect(to: "/incidents/\(id)", flash: count == 0 ? "devices_unmoved" : "devices_moved")
  }
}
