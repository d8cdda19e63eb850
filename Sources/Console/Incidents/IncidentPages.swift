import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The list of incidents, and one of them.
enum IncidentPages {
  static let views: [any PageView.Type] = [IncidentListView.self, IncidentView.self]

  private static let pageSize = 50
  /// Pushes and entries on the page of one incident.
  private static let shown = 50
  /// Hours to choose from.
  static let snoozes = [1, 8, 24, 72, 168]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/incidents", index)
    export.add(to: &routes)
    routes.page(.get, "/incidents/:id") { page in try await show(page, FieldErrors()) }
    routes.page(.post, "/incidents/:id/assign", role: .operator) { page in
      let name = page.form["person"]
      let change = IncidentChange(assignee: .some(name.isEmpty ? nil : name))
      return try await carryOut(page, change, flash: "incident_assigned")
    }
    routes.page(.post, "/incidents/:id/snooze", role: .operator) { page in
      let hours = Int(page.form["hours"]).flatMap { snoozes.contains($0) ? $0 : nil } ?? 0
      let until = page.now.addingTimeInterval(Double(hours) * 3600)
      return try await carryOut(page, IncidentChange(event: .snooze(until: until)), flash: "incident_snoozed")
    }
    routes.page(.post, "/incidents/:id/close", role: .operator) { page in
      let remark = String(page.form["remark"].prefix(IncidentChange.remarkLimit))
      return try await carryOut(page, IncidentChange(event: .close, remark: remark), flash: "incident_closed")
    }
    routes.page(.post, "/incidents/:id/reopen", role: .operator) { page in
      try await carryOut(page, IncidentChange(event: .reopen), flash: "incident_reopened")
    }
  }

  private static let export = ListExportRoutes<IncidentAnswer>(
    path: "/incidents", action: "incident.export",
    columns: [
      "id", "state", "app", "environment", "provider", "kind", "reason", "cause", "devices", "pushes", "first_seen_at",
      "last_seen_at", "assignee", "snoozed_until", "closed_at", "closed_by", "remark",
    ]
  ) { page in
    let filter = try await filter(page)
    return { try IncidentAnswer.list($0, filter, cursor: $1, limit: $2) }
  }

  private static func filter(_ page: PageContext) async throws -> IncidentFilter {
    IncidentFilter(
      state: try page.filter("state", IncidentState.init) ?? .open, app: try await page.filterByApp(), now: page.now)
  }

  static func find(_ database: Database, _ id: Int64) throws -> Incident {
    guard let incident = try Incident.find(database, id: id) else {
      throw PageError.notFound("incident", list: "/incidents")
    }
    return incident
  }

  private static func index(_ page: PageContext) async throws -> Response {
    let (texts, now, pager) = (page.texts, page.now, Pager(page.request))
    let filter = try await filter(page)
    let (state, app) = (filter.state ?? .open, filter.app)
    let (list, counts, apps) = try await page.store.read { database in
      (
        try Incident.list(database, filter, cursor: pager.cursor, limit: pageSize),
        try Incident.counts(database, app: app, now: now), try AppOverview.all(database)
      )
    }
    let credentials = apps.filter { app == nil || $0.id == app }.flatMap(\.credentials)
    let blocked = try await BlockedCredential.all(state == .open ? credentials : [], page)
    let numbers: [IncidentState: Int] = [.open: counts.open, .snoozed: counts.snoozed, .closed: counts.closed]
    return page.answer(
      IncidentListView(
        heading: counts.open > 0
          ? texts("incidents.open_count", count: counts.open)
          : blocked.isEmpty ? texts("incidents.none_open") : texts("incidents.blocked", count: blocked.count),
        tabs: IncidentState.allCases.map { one in
          IncidentTab(
            href: "/incidents?state=\(one.rawValue)" + (app.map { "&app=\($0)" } ?? ""),
            label: texts("incidents.states.\(one.rawValue)"), count: numbers[one] ?? 0, isHere: one == state)
        },
        apps: ChoiceView.list(apps.map { ("\($0.id)", $0.app.name) }, chosen: app.map { "\($0)" } ?? ""), state: state,
        rows: list.items.map { incident in
          let app = apps.first { $0.id == incident.place.app }
          return IncidentRow(words: IncidentWords(incident: incident, app: app, texts: texts, now: now))
        },
        attention: blocked.map { one in
          one.attention(apps.first { $0.id == one.credential.appID }?.app, texts)
        }, empty: texts("incidents.empty.\(state.rawValue)"), exports: ExportLinks(page, "/incidents"),
        pager: PagerView(pager, next: list.next)))
  }

  private static func show(_ page: PageContext, _ errors: FieldErrors) async throws -> Response {
    let (id, now, texts, mayAct) = (try page.id(), page.now, page.texts, page.may(.operator))
    let (incident, app, pushes, history, people, tokens, proof) = try await page.store.read { database in
      let incident = try find(database, id)
      return (
        incident, try AppOverview.find(database, id: incident.place.app),
        try Incident.pushes(database, id: id, limit: shown),
        try AuditEntry.list(database, AuditEntry.Filter(subject: incident.subject), limit: shown).items,
        mayAct ? try User.all(database).filter { $0.disabledAt == nil } : [],
        mayAct ? try MovedTokens.find(database, .incident(incident)) : nil,
        (evidence: try IncidentEvidence.find(database, incident), misses: try Incident.misses(database, id: id))
      )
    }
    let words = IncidentWords(incident: incident, app: app, texts: texts, now: now)
    return page.answer(
      IncidentView(
        words: words, evidence: IncidentEvidenceView(proof.evidence, words),
        chart: IncidentChart(proof.misses, texts),
        pushes: pushes.map {
          IncidentPushRow(one: $0, reason: incident.cause.reason, texts: texts, now: now)
        },
        history: history.map { IncidentEventRow(entry: $0, texts: texts, now: now) }, mayAct: mayAct,
        move: tokens.flatMap { MoveWords(incident.place.environment, $0, texts).link("/incidents/\(id)/move") },
        movesBack: tokens?.parked.isEmpty ?? true,
        people: ChoiceView.list(
          [("", texts("incidents.nobody"))] + people.map { ($0.name, $0.name) }, chosen: incident.assignee ?? ""),
        form: page.form, errors: errors), status: errors.status)
  }

  private static func carryOut(_ page: PageContext, _ change: IncidentChange, flash: String) async throws -> Response {
    let id = try page.id()
    do {
      try await page.store.write { database in
        _ = try find(database, id)
        try change.carryOut(database, id: id, by: page.entry, now: page.now)
      }
    } catch let problems as Problems {
      return try await show(page, FieldErrors(problems, page.texts))
    }
    return page.redirect(to: "/incidents/\(id)", flash: flash)
  }
}
