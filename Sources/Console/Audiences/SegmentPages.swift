import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store

/// `/audiences/segments`: making, showing, changing and deleting a segment.
enum SegmentPages {
  private static let pageSize = 50
  /// For the counts and the members of a page, each.
  private static let patience = Duration.seconds(3)

  static func add(to routes: inout ConsoleRouter) {
    let path = "/audiences/segments"
    routes.page(.get, path + "/new", role: .operator) { page in
      try await edit(page, nil, Form([("app", page.filled("app") ?? "")]))
    }
    routes.page(.post, path, role: .operator, create)
    routes.page(.get, path + "/:id", show)
    routes.page(.get, path + "/:id/edit", role: .operator) { page in
      let segment = try await find(page)
      return try await edit(page, segment, SegmentForm.form(of: segment).with(segment.revision))
    }
    routes.page(.post, path + "/:id", role: .operator, update)
    routes.page(.get, path + "/:id/devices.csv") { page in try await export(page, "csv").csv() }
    routes.page(.get, path + "/:id/devices.json") { page in try await export(page, "json").json() }
    routes.page(.get, path + "/:id/remove", role: .operator, removal)
    routes.page(.post, path + "/:id/remove", role: .operator, remove)
  }

  private static func find(_ page: PageContext) async throws -> Segment {
    let id = try page.id()
    do { return try await page.store.read { try Segment.get($0, id: id) } } catch StoreError.notFound {
      throw PageError.notFound("segment", list: "/audiences")
    }
  }

  private static func show(_ page: PageContext) async throws -> Response {
    let (segment, texts, now) = (try await find(page), page.texts, page.now)
    let pager = Pager(page.request)
    let app = try await page.store.read { try App.get($0, id: segment.appID) }
    let (uses, names) = try await page.store.read { (try segment.uses($0), try AudienceNames.devices($0, of: app)) }
    let counts = try? await page.store.read(limit: patience) { try segment.counts($0, now: now) }  // nil: too many
    var members = Page<Device>(items: [], next: nil)
    var problem: String?
    do {
      members = try await page.store.read(limit: patience) {
        try segment.members($0, cursor: pager.cursor, limit: pageSize, now: now)
      }
    } catch let error as SQLiteError where error.code == .interrupt {
      problem = texts("segments.slow")
    } catch let error as StoreError {
      problem = texts.text(Problem("", code: "cursor.bad", error.description))
    }
    let total = counts?.reduce(0) { $0 + $1.count.total }
    let position = total.flatMap { pager.position(members.items.count, size: pageSize, of: $0, texts) }
    return page.answer(
      SegmentView(
        segment: segment, app: app, words: segment.rule.words(texts),
        counts: (counts ?? []).map { environment, count in
          let title = environment.word(texts)
          return SegmentCountView(
            environment: title, reachable: count.reachable, total: count.total, isProduction: environment == .production
          )
        }, uses: SegmentUseView.list(uses, texts), problem: problem,
        devices: members.items.map {
          DeviceRow(
            device: $0, app: app.name,
            platform: texts("platform.\($0.platform.rawValue)") + ($0.provider == .jpush ? ", JPush" : ""), now: now)
        }, shown: position ?? texts("push.shown", count: members.items.count),
        exports: ExportLinks(page, "/audiences/segments/\(segment.id)/devices"),
        pager: PagerView(pager, next: members.next), mayChange: page.may(.operator), now: now, deviceNames: names,
        environments: SendForm(
          form: Form([("environment", segment.rule.environment?.rawValue ?? "")])
        ).environments(texts)))
  }

  /// The devices that belong to it now, as a file.
  private static func export(_ page: PageContext, _ format: String) async throws -> DeviceListExport {
    let (segment, now) = (try await find(page), page.now)
    try await page.note(page.audit("device.export", "segment \(segment.id)", ["format": .string(format)]))
    return DeviceListExport(page.store) { try segment.members($0, cursor: $1, limit: $2, now: now) }
  }

  // MARK: Making and changing

  private static func edit(
    _ page: PageContext, _ segment: Segment?, _ form: Form, _ errors: FieldErrors = FieldErrors()
  ) async throws -> Response {
    let (apps, tags) = try await page.store.read { database in
      let apps = try App.all(database)
      let app = apps.first { $0.id == segment?.appID || $0.bundleID == form["app"] }
      return (apps, try AudienceNames(database, of: app).tags)
    }
    return page.answer(
      SegmentFormView(segment: segment, form: form, errors: errors, apps: apps, tags: tags, texts: page.texts),
      status: errors.status)
  }

  /// Whether what sends to a segment that was just saved waits for approval.
  private static func isHeldBack(_ database: Database, _ segment: Segment, _ app: App) throws -> Bool {
    guard app.needsApproval else { return false }
    let uses = try segment.uses(database)
    return uses.schedules.contains { $0.state == .needsApproval } || uses.pushes.contains { $0.state == .needsApproval }
  }

  private static func create(_ page: PageContext) async throws -> Response {
    guard let approver = page.principal?.approver else { throw PageError(.forbidden, "csrf") }
    do {
      let input = try SegmentInput(json: SegmentForm(form: page.form).json())
      let bundleID = page.form["app"]
      let (id, waits) = try await page.store.write { database in
        guard let app = try App.find(database, bundleID: bundleID) else {
          throw Problems([Problem("app", FieldMessage.required)])
        }
        let segment = try input.add(database, app, by: approver, now: page.now) { page.audit($0, $1, $2) }
        return (segment.id, try isHeldBack(database, segment, app))
      }
      return page.redirect(to: "/audiences/segments/\(id)", flash: waits ? "segment_waits" : "segment_added")
    } catch let problems as Problems {
      return try await edit(page, nil, page.form, SegmentForm.errors(problems, page.texts))
    }
  }

  private static func update(_ page: PageContext) async throws -> Response {
    let segment = try await find(page)
    guard let approver = page.principal?.approver else { throw PageError(.forbidden, "csrf") }
    do {
      let input = try SegmentInput(json: SegmentForm(form: page.form).json())
      let waits = try await page.store.write { database in
        let before = try Segment.get(database, id: segment.id)
        try before.revision.check(page.form, saving: input.revision)
        let app = try App.get(database, id: segment.appID)
        let changed = try input.change(database, segment, app, by: approver, now: page.now) { page.audit($0, $1, $2) }
        guard changed.rule != before.rule else { return false }
        return try isHeldBack(database, changed, app)
      }
      let back = "/audiences/segments/\(segment.id)"
      return page.redirect(to: back, flash: waits ? "segment_waits" : "segment_saved")
    } catch let error as Revision.Overtaken {
      let errors = try await page.overtaken("segment.update", "segment \(segment.id)")
      return try await edit(page, segment, page.form.with(error.stored), errors)
    } catch let problems as Problems {
      return try await edit(page, segment, page.form, SegmentForm.errors(problems, page.texts))
    }
  }

  // MARK: Deleting

  private static func removal(_ page: PageContext) async throws -> Response {
    let segment = try await find(page)
    let uses = try await page.store.read { try segment.uses($0) }
    return page.answer(SegmentRemovalView(segment: segment, uses: SegmentUseView.list(uses, page.texts)))
  }

  private static func remove(_ page: PageContext) async throws -> Response {
    let segment = try await find(page)
    let bundleID = try await page.store.write { database in
      let app = try App.get(database, id: segment.appID)
      try segment.delete(database)
      try page.record(database, "segment.delete", "segment \(segment.id)", segment.audited(app))
      return app.bundleID
    }
    return page.redirect(to: "/audiences?app=\(bundleID)", flash: "segment_removed")
  }
}

/// The form of a segment, as the API's JSON and back.
struct SegmentForm {
  let form: Form

  static let lists = ["tag", "tag_and", "tag_not", "time_zone", "language"]
  static let texts = ["name", "alias", "version_from", "version_below", "days"]

  func json() -> JSONValue {
    var rule: [String: JSONValue] = [:]
    let platforms = form.all("platforms")
    if !platforms.isEmpty { rule["platforms"] = .array(platforms.map(JSONValue.string)) }
    if !form["environment"].isEmpty { rule["environment"] = .string(form["environment"]) }
    for name in Self.lists {
      let parts = form.parts(name)
      if !parts.isEmpty { rule[name] = .array(parts.map(JSONValue.string)) }
    }
    if !form["alias"].isEmpty { rule["alias"] = .string(form["alias"]) }
    rule["app_version"] = ["from": .string(form["version_from"]), "below": .string(form["version_below"])]
    if !form["last_seen"].isEmpty {
      // Pass text that is not a number on, so that its own field reports it.
      rule["last_seen"] = [form["last_seen"]: Int64(form["days"]).map(JSONValue.integer) ?? .string(form["days"])]
    }
    return ["name": .string(form["name"]), "rule": .object(rule)]
  }

  /// The errors at the form's fields.
  static func errors(_ problems: Problems, _ texts: Texts) -> FieldErrors {
    FieldErrors(
      Problems(
        problems.all.map { problem in
          var placed = problem
          let path = problem.field.split(separator: ".").map { String($0.prefix { $0 != "[" }) }
          placed.field =
            switch path.count > 1 ? path[1] : path.first ?? "" {
            case "app_version": path.last == "below" ? "version_below" : "version_from"
            case "last_seen": "days"
            case let name: name
            }
          return placed
        }), texts)
  }

  static func form(of segment: Segment) -> Form {
    let rule = segment.rule
    var fields: [(name: String, value: String)] = [
      ("name", segment.name), ("environment", rule.environment?.rawValue ?? ""), ("alias", rule.alias ?? ""),
      ("version_from", rule.versionFrom?.text ?? ""), ("version_below", rule.versionBelow?.text ?? ""),
    ]
    fields += Platform.allCases.filter(rule.platforms.contains).map { ("platforms", $0.rawValue) }
    let values = [rule.tag, rule.tagAnd, rule.tagNot, rule.timeZone, rule.language]
    fields += zip(lists, values).map { ($0, Form.parts($1)) }
    switch rule.lastSeen {
    case .within(let days): fields += [("last_seen", "within_days"), ("days", String(days))]
    case .over(let days): fields += [("last_seen", "over_days"), ("days", String(days))]
    case nil: break
    }
    return Form(fields)
  }
}
