import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store
import Text

/// `/smoke-tests`: saved pushes with the answers that are expected, and their runs.
enum SmokeTestPages {
  static let views: [any PageView.Type] = [
    SmokeTestListView.self, SmokeTestView.self, SmokeTestFormView.self, SmokeTestDeleteView.self,
  ]

  private static let pageSize = 25
  /// Runs in a picture.
  static let drawn = 30

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/smoke-tests", index)
    export.add(to: &routes)
    runs.add(to: &routes)
    routes.page(.get, "/smoke-tests/new", role: .operator, begin)
    routes.page(.post, "/smoke-tests/new", role: .operator) { page in
      try page.shown(at: "/smoke-tests/new", takeOver)
    }
    routes.page(.post, "/smoke-tests", role: .operator, create)
    routes.page(.get, "/smoke-tests/:id") { page in try await show(page) }
    routes.page(.get, "/smoke-tests/:id/runs/:run/junit.xml", junit)
    routes.page(.get, "/smoke-tests/:id/edit", role: .operator, edit)
    routes.page(.post, "/smoke-tests/:id", role: .operator, update)
    routes.page(.post, "/smoke-tests/:id/runs", role: .operator, run)
    routes.page(.get, "/smoke-tests/:id/remove", role: .operator) { page in
      let id = try page.id()
      return page.answer(SmokeTestDeleteView(test: try await page.store.read { try find($0, id) }))
    }
    routes.page(.post, "/smoke-tests/:id/remove", role: .operator) { page in
      let id = try page.id()
      try await page.store.write { database in
        _ = try find(database, id)
        try SmokeTest.delete(database, id: id, by: page.entry, now: page.now)
      }
      return page.redirect(to: "/smoke-tests", flash: "smoke_test_removed")
    }
  }

  private static func find(_ database: Database, _ id: Int64) throws -> SmokeTest {
    guard let test = try SmokeTest.find(database, id: id) else {
      throw PageError(.notFound, "missing_smoke_test", action: ("/smoke-tests", "smoketests.title"))
    }
    return test
  }

  // MARK: The list

  private static let export = ListExportRoutes<SmokeTestAnswer>(
    path: "/smoke-tests", action: "smoke_test.export",
    columns: ["id", "name", "app", "push", "expected", "created_by", "created_at", "changed_at", "last_run"]
  ) { _ in
    { database, cursor, limit in
      try SmokeTest.list(database, cursor: cursor, limit: limit).map { try SmokeTestAnswer(database, $0) }
    }
  }

  private static let runs = ListExportRoutes<SmokeRun>(
    path: "/smoke-tests/:id/runs", action: "smoke_test.export",
    columns: [
      "id", "state", "error", "detail", "push", "devices", "differences", "source", "started_by", "started_at",
      "finished_at",
    ]
  ) { page in
    let id = try page.id()
    _ = try await page.store.read { try find($0, id) }
    return { database, cursor, limit in try SmokeRun.list(database, test: id, cursor: cursor, limit: limit) }
  }

  private static func index(_ page: PageContext) async throws -> Response {
    let (texts, now, pager) = (page.texts, page.now, Pager(page.request))
    let (list, rows, red) = try await page.store.read { database in
      let list = try SmokeTest.list(database, cursor: pager.cursor, limit: pageSize)
      let rows = try list.items.map { test in
        SmokeTestRow(
          test: test, app: try App.find(database, id: test.appID),
          runs: try SmokeRun.list(database, test: test.id, limit: drawn).items, texts: texts, now: now)
      }
      return (list, rows, try SmokeTest.red(database))
    }
    let heading: String
    switch red.count {
    case 0 where rows.allSatisfy({ $0.last == nil }): heading = texts("smoketests.title")
    case 0:
      let allPass = rows.allSatisfy { $0.last?.state == .passed }
      heading = texts(allPass ? "smoketests.all_pass" : "smoketests.none_fail")
    case 1: heading = texts("smoketests.one_fails", ["name": red[0].name])
    default: heading = texts("smoketests.fail", count: red.count)
    }
    return page.answer(
      SmokeTestListView(
        heading: heading, rows: rows, exports: ExportLinks(page, "/smoke-tests"),
        pager: PagerView(pager, next: list.next)))
  }

  // MARK: One

  private static func show(
    _ page: PageContext, confirm: FieldView = FieldView(), status: Status = .ok
  ) async throws -> Response {
    let (id, texts, now, pager) = (try page.id(), page.texts, page.now, Pager(page.request))
    let chosen = page.filled("run").flatMap(Int64.init)
    let (row, history, run, mustType) = try await page.store.read { database in
      let test = try find(database, id)
      let row = SmokeTestRow(
        test: test, app: try App.find(database, id: test.appID),
        runs: try SmokeRun.list(database, test: id, limit: drawn).items, texts: texts, now: now)
      let asked = try chosen.flatMap { try SmokeRun.find(database, id: $0) }
      return (
        row, try SmokeRun.list(database, test: id, cursor: pager.cursor, limit: pageSize),
        asked.flatMap { $0.testID == id ? $0 : nil } ?? row.runs.first, try asksForName(database, row.test.draft)
      )
    }
    return page.answer(
      SmokeTestView(
        row: row, run: run.map { SmokeRunView(run: $0, texts: texts, now: now) },
        history: history.items.map { SmokeRunRow(run: $0, shown: run?.id, texts: texts, now: now) },
        exports: ExportLinks(page, "/smoke-tests/\(id)/runs"),
        pager: PagerView(pager, next: history.next), mayRun: page.may(.operator),
        question: mustType ? texts("confirm.type_app", ["app": row.app?.name ?? ""]) : nil,
        confirm: confirm, address: page.address, texts: texts), status: status)
  }

  private static func junit(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    let number: Int64 = try page.request.parameter("run")
    return try await page.store.read { database in
      let run = try SmokeRun.find(database, id: number)
      guard let run, run.testID == id, run.state != .running else {
        throw PageError(.notFound, "missing_smoke_test", action: ("/smoke-tests/\(id)", "smoketests.title"))
      }
      return try SmokeRunFile.junit(database, run)
    }
  }

  /// As in the send form: for a broadcast and for production the app's name is typed.
  private static func asksForName(_ database: Database, _ draft: PushDraft?) throws -> Bool {
    guard let draft else { return false }
    return try SendPages.mustType(draft, ProductionGuard.environment(database, of: draft))
  }

  private static func run(_ page: PageContext) async throws -> Response {
    let (id, now) = (try page.id(), page.now)
    let (test, app, mustType) = try await page.store.read { database in
      let test = try find(database, id)
      return (test, try App.get(database, id: test.appID), try asksForName(database, test.draft))
    }
    if mustType, page.form["confirm"] != app.name {
      let error = page.texts("confirm.differs", ["app": app.name])
      return try await show(
        page, confirm: FieldView(value: page.form.raw("confirm"), error: error), status: .unprocessableContent)
    }
    try await page.check(sending: test.draft)
    let starter = SmokeRunner.Starter(.web, by: page.actor, person: page.user?.id, from: page.clientAddress)
    let run = try await page.console.smoke.start(test, starter, now: now)
    return page.redirect(to: "/smoke-tests/\(id)?run=\(run.id)")
  }

  // MARK: Creating and changing

  private static func begin(_ page: PageContext) async throws -> Response {
    guard let uid = page.filled("from") else {
      return formPage(page, SmokeTestForm(Form([("others", OutcomeKind.accepted.name)])))
    }
    let form = try await page.store.read { database -> SmokeTestForm? in
      guard let push = try Push.find(database, uid: uid), let draft = push.draft else { return nil }
      var expected = SmokeExpectation()
      let answered = try Delivery.list(database, push: push.id, limit: SmokeExpectation.reachLimit).items
      for one in answered.lazy.filter({ $0.delivery.outcome != .accepted }).prefix(SmokeTestForm.shown) {
        guard let device = one.device else { continue }
        let answer = one.delivery.reason.map(Reason.head) ?? one.delivery.outcome.name
        let isKnown = SmokeExpectation.problem(withAnswer: answer) == nil
        expected.devices.append(.init(device: device.token.text, answer: isKnown ? answer : one.delivery.outcome.name))
      }
      let name = push.title ?? push.body ?? draft.app
      return SmokeTestForm(name: name.singleLine, draft: SmokeTestForm.sendable(draft), expected: expected)
    }
    guard let form else { throw PageError.notFound("push", list: "/pushes") }
    return formPage(page, form)
  }

  /// From the send form: what it holds becomes the push of a new test.
  private static func takeOver(_ page: PageContext) async throws -> Response {
    do {
      let draft = try SendForm(form: page.form).draft()
      if let problem = SmokeExpectation.problem(with: draft) { throw Problems([problem]) }
      let name = (draft.notification.title ?? draft.notification.body ?? draft.app).singleLine
      return formPage(
        page, SmokeTestForm(name: name, draft: SmokeTestForm.sendable(draft), expected: SmokeExpectation()))
    } catch let problems as Problems {
      let placed = Problems(problems.all.map { $0.code == SmokeMessage.time.code ? SendForm.placed($0) : $0 })
      return try await SendPages.formPage(page, page.form, errors: FieldErrors(placed, page.texts))
    }
  }

  private static func formPage(
    _ page: PageContext, _ form: SmokeTestForm, of test: Int64? = nil, errors: FieldErrors = FieldErrors()
  ) -> Response {
    page.answer(SmokeTestFormView(form: form.form, errors: errors, test: test), status: errors.status)
  }

  private static func create(_ page: PageContext) async throws -> Response {
    try await orForm(page, SmokeTestForm(page.form), of: nil) { content in
      try await page.check(sending: content.draft)
      let test = try await page.store.write { try SmokeTest.create($0, content, by: page.entry, now: page.now) }
      return page.redirect(to: "/smoke-tests/\(test.id)", flash: "smoke_test_saved")
    }
  }

  private static func edit(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    let test = try await page.store.read { try find($0, id) }
    let form =
      test.draft.map { SmokeTestForm(name: test.name, draft: $0, expected: test.expected).form }
      ?? Form([("name", test.name), ("push", test.draftJSON)])
    return formPage(page, SmokeTestForm(form.with(test.revision)), of: id)
  }

  private static func update(_ page: PageContext) async throws -> Response {
    let (id, form) = (try page.id(), SmokeTestForm(page.form))
    let test = try await page.store.read { try find($0, id) }
    try await page.check(sending: test.draft)
    return try await orForm(page, form, of: id) { content in
      try await page.check(sending: content.draft)
      do {
        _ = try await page.store.write { database in
          try find(database, id).revision.check(form.form, saving: content.revision)
          return try SmokeTest.update(database, id: id, content, by: page.entry, now: page.now)
        }
      } catch let error as Revision.Overtaken {
        let errors = try await page.overtaken("smoke_test.update", test.subject)
        return formPage(page, SmokeTestForm(form.form.with(error.stored)), of: id, errors: errors)
      }
      return page.redirect(to: "/smoke-tests/\(id)", flash: "smoke_test_saved")
    }
  }

  /// Shows the form again, with everything typed and a message at each wrong field.
  private static func orForm(
    _ page: PageContext, _ form: SmokeTestForm, of test: Int64?,
    _ body: (SmokeTestContent) async throws -> Response
  ) async throws -> Response {
    do {
      return try await body(try form.content(page.texts))
    } catch let errors as FieldErrors {
      return formPage(page, form, of: test, errors: errors)
    } catch let problems as Problems {
      // Those of the push have its path; the form has one field for all of it.
      let placed = problems.all.map { problem in
        var problem = problem
        if problem.field.hasPrefix("push") { problem.field = "push" }
        return problem
      }
      return formPage(page, form, of: test, errors: FieldErrors(Problems(placed), page.texts))
    }
  }
}
