import Calendar
import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import Mustache
import OpenSSL
import Model
import Reactor
import Reminders
import SQLite
import Store

/// The send form, its review page, and sending.
enum SendPages {
  static let views: [any PageView.Type] = [SendFormView.self, SendReviewView.self, DraftListView.self]
  static let parts: [any TemplateView.Type] = [CallbackRowsView.self]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/pushes/new", role: .operator, begin)
    routes.page(.post, "/pushes/preview", role: .operator, preview)
    routes.page(.post, "/pushes", role: .operator, send)
    DialectPages.add(to: &routes)
    DraftPages.add(to: &routes)
  }

  private static func begin(_ page: PageContext) async throws -> Response {
    let form = try await start(page)
    // Sent again as it is: its review comes at once.
    if page.filled("from") != nil, page.filled("review") != nil {
      var page = page
      page.form = form
      return try shown(page) { page in
        var answer = try await review(page)
        // Nothing was asked for yet that could be refused: a form with errors is a page as others are.
        if answer.status == .unprocessableContent { answer.status = .ok }
        return answer
      }
    }
    // If the copied push's time has passed, the form says so at once.
    let draft = form["when"] == "at" ? try? SendForm(form: form).draft() : nil  // nil: reported later
    return try await formPage(page, form, errors: draft.map { passed($0, page) } ?? FieldErrors(), status: .ok)
  }

  // MARK: The form

  static func formPage(
    _ page: PageContext, _ form: Form, errors: FieldErrors = FieldErrors(), pasted: PastedPushView = PastedPushView(),
    status: Status? = nil
  ) async throws -> Response {
    let view = try await formView(page, form, errors: errors, pasted: pasted)
    return page.answer(
      view, status: status ?? errors.status,
      language: view.hasApps ? .posting(form: "push") : .reloading)
  }

  /// The form's fields, which a template has, too.
  static func formView(
    _ page: PageContext, _ form: Form, errors: FieldErrors, pasted: PastedPushView = PastedPushView()
  ) async throws -> SendFormView {
    let texts = page.texts
    let user = page.user?.id ?? 0
    let (apps, types, known, links, own) = try await page.store.read {
      (
        try App.all($0), try offeredTypes(form, $0), try Channel.offered($0), try App.pageTypes($0),
        try Device.own($0, user: user)
      )
    }
    let app = apps.count == 1 ? apps[0] : apps.first { $0.bundleID == form["app"] }
    let names = try await page.store.read { try AudienceNames($0, of: app) }
    let channels = known.map { channel in
      let app = apps.first { $0.id == channel.appID }?.name ?? ""
      let name = channel.name.isEmpty ? channel.channel : texts.noted(channel.name, channel.channel)
      return (channel.channel, "\(name) · \(app) · \(channel.environment.word(texts))")
    }
    func choices(_ name: String, _ values: [String]) -> [ChoiceView] {
      SendForm.plain([("", texts("send.unset"))] + values.map { ($0, $0) }, chosen: [form[name]])
    }
    let chosen = Set(form.all("platforms").compactMap(Platform.init))
    let platforms: Set<Platform> = chosen.isEmpty ? [.ios] : chosen
    return SendFormView(
      form: form, errors: errors, problem: errors.others(fields(of: form)),
      isFresh: page.request.method == .get && page.request.query == nil, hasApps: !apps.isEmpty,
      apps: SendForm.choices(
        [("", texts("send.choose_app"))] + apps.map { ($0.bundleID, texts.noted($0.name, $0.bundleID)) },
        chosen: [apps.count == 1 ? apps[0].bundleID : form["app"]]),
      platforms: SendForm.choices(
        Platform.allCases.map { ($0.rawValue, texts("platform.\($0.rawValue)")) }, chosen: form.all("platforms")),
      channels: SendForm.choices([("", texts("send.choose_channel"))] + channels, chosen: [form["channel"]]),
      interruptionLevels: choices("interruption_level", Model.Notification.InterruptionLevel.allCases.map(\.rawValue)),
      priorities: choices("priority", PushDraft.Priority.allCases.map(\.rawValue)),
      pushTypes: choices("push_type", types.map(\.rawValue)), texts: texts,
      preview: PushPreviewView(
        lockScreen: LockScreenView(form, app: app, platforms: platforms, texts), isChecked: false,
        dialects: Dialect.written.map { DialectView($0, texts) }),
      pasted: pasted, links: links,
      mayProduce: page.maySend(.production), ownDevice: own.first.map { $0.name ?? texts("drafts.own_device") },
      names: names)
  }

  /// The fields that show their errors themselves.
  static func fields(of form: Form) -> [String] {
    SendForm.fields + [
      "channel", "app", "environment", "platforms", "audience", "content_available", "mutable_content",
    ]
      + SendForm.timeFields + [SendForm.rowsField] + SendForm(form: form).rowFields
  }

  /// The push types that the app's key or certificate may send, if known, plus the selected one, so that changing the
  /// app does not silently clear it.
  private static func offeredTypes(_ form: Form, _ database: Database) throws -> [PushType] {
    guard let environment = Environment(rawValue: form["environment"]),
      let app = try App.find(database, bundleID: form["app"]),
      let scope = try CredentialScope.find(database, app: app.id, environment: environment)
    else { return PushType.allCases }
    let types = scope.types(for: app.bundleID)
    return PushType.allCases.filter { types.contains($0) || $0.rawValue == form["push_type"] }
  }

  // MARK: The review

  private static func preview(_ page: PageContext) async throws -> Response {
    if page.request.header("Accept") == "application/json" { return try await LivePreview.answer(page) }
    return try await LanguagePages.choosing(page) { page in try shown(page, step) }
  }

  /// What a button of the form or of its review asks for; nothing is sent.
  private static func step(_ page: PageContext) async throws -> Response {
    if page.form.has("lang") {
      return page.form.has("review") ? try await review(page) : try await formPage(page, page.form)
    }
    if page.form.has("edit") || page.form.has(SendForm.allZones) { return try await formPage(page, page.form) }
    if page.form.has("add_language") { return try await formPage(page, SendForm(form: page.form).withRow()) }
    if let row = page.form.filled("remove_language") {
      return try await formPage(page, SendForm(form: page.form).without(row: row))
    }
    if let fix = page.form.filled("fix") { return try await repair(page, fix) }
    return try await review(page)
  }

  /// - Parameters:
  ///   - isRefused: whether it was to be sent, and was not.
  ///   - app: whose name was typed wrongly for that.
  private static func review(
    _ page: PageContext, isRefused: Bool = false, differsFrom app: String? = nil
  ) async throws -> Response {
    try await orForm(page) {
      if let path = try await sent(page) {
        throw PageError(.conflict, "push_sent", action: (path, "errors.push_sent.action"))
      }
      let preview = try await PushPreview.find(try SendForm(form: page.form).draft(), page)
      let errors = passed(preview.draft, page, reaching: preview.check.production.environment)
      guard errors.isEmpty else { return try await formPage(page, page.form, errors: errors) }
      let services = page.form.has("validate") ? try await page.console.engine.validate(preview.check) : []
      return confirmPage(
        page, preview, services: services, error: app.map { page.texts("confirm.differs", ["app": $0]) },
        status: isRefused ? .unprocessableContent : .ok)
    }
  }

  /// Repairs what one finding names. The form comes back with it, or the review if it was asked for there.
  private static func repair(_ page: PageContext, _ fix: String) async throws -> Response {
    try await orForm(page) {
      let preview = try await PushPreview.find(try SendForm(form: page.form).draft(), page)
      let repaired = preview.check.findings.first { FindingView.fix($0) == fix }?.fix ?? preview.draft
      var page = page
      let isReview = page.form.has("review")
      page.form = Form(Form(repaired).all + page.form.all.filter { ["draft", idempotencyKey].contains($0.name) })
      guard isReview else { return try await formPage(page, page.form) }
      return confirmPage(page, try await PushPreview.find(try SendForm(form: page.form).draft(), page))
    }
  }

  /// Errors that the draft itself does not have: the person may not send there, or the time of a one-time push has
  /// passed. If it passes only between review and confirmation, the push is
  /// sent at once.
  ///
  /// - Parameter environment: where it reaches phones; nil: the one that it names.
  static func passed(_ draft: PushDraft, _ page: PageContext, reaching environment: Environment? = nil) -> FieldErrors {
    var errors = FieldErrors()
    if !page.maySend(environment ?? draft.environment) {
      errors.add("environment", page.texts.text(Problem("", ApprovalMessage.notPermitted)))
    }
    if draft.recurrence == nil, let sendAt = draft.sendAt, sendAt <= page.now {
      errors.add(
        "send_at",
        page.texts(
          "when.passed",
          ["time": page.texts.moment(sendAt, draft.timeZone ?? .utc), "now": page.texts("when.now")]))
    }
    return errors
  }

  /// Shows the form again with the submitted values and a message at each invalid field.
  private static func orForm(_ page: PageContext, _ body: () async throws -> Response) async throws -> Response {
    do {
      return try await body()
    } catch let problems as Problems {
      return try await formPage(page, page.form, errors: FieldErrors(problems, page.texts))
    }
  }

  /// Whether the app's name must be typed: for a broadcast and for production, which cannot be undone.
  ///
  /// - Parameter environment: where it reaches phones.
  static func mustType(_ draft: PushDraft, _ environment: Environment) -> Bool {
    draft.audience == .all || environment == .production
  }

  private static func confirmPage(
    _ page: PageContext, _ preview: PushPreview, services: [PushValidation] = [], error: String? = nil,
    status: Status = .ok
  ) -> Response {
    let texts = page.texts
    let isProduction = preview.check.production.environment == .production
    let passing = [
      "csrf", "confirm", "edit", "review", "fix", "validate", "preview_language", idempotencyKey, DraftPages.ownKey,
      "lang",
      SendForm.allZones, PastedPushView.field,
    ]
    let kept = page.form.all.filter { !passing.contains($0.name) }
    let isLater = preview.draft.recurrence != nil || preview.draft.sendAt != nil
    let isNamed = preview.draft.environment == .production
    let waits = isProduction && preview.check.app.needsApproval
    let label =
      isLater
      ? (isNamed ? "confirm.schedule_production" : "confirm.schedule")
      : (isNamed ? "confirm.send_production" : "confirm.send")
    let action =
      preview.subscribers.map { texts("confirm.\(isLater ? "schedule" : "send")_\($0.rawValue)") }
      ?? preview.reachable.map { texts(label, count: $0) }
    let key = page.form[idempotencyKey]
    // Errors stand above all: beside the request they would be read twice.
    let (problems, rest) = preview.view(page).split(errors: !preview.check.problems.isEmpty)
    return page.answer(
      SendReviewView(
        heading: preview.check.problems.isEmpty
          ? action.map { texts("confirm.question", ["action": $0]) } ?? texts("confirm.title")
          : texts("confirm.not_ready"),
        isProduction: isProduction, idempotencyKey: key.isEmpty ? Random.token(bytes: 18) : key,
        kept: kept.map { HiddenFieldView(name: $0.name, value: $0.value) }, preview: rest, problems: problems,
        services: services.map { ServiceAnswerRow($0, texts) },
        canValidate: preview.check.problems.isEmpty && preview.providers.contains { $0 != .apns },
        question: mustType(preview.draft, preview.check.production.environment) && preview.check.problems.isEmpty
          ? texts("confirm.type_app", ["app": preview.app.name]) : nil,
        confirm: FieldView(value: page.form.raw("confirm"), error: error ?? ""),
        waits: waits,
        send: waits
          ? texts("confirm.ask_approval")
          : action ?? texts(isLater ? "confirm.schedule_many" : "confirm.send_many")),
      status: status, language: .posting(form: "review"))
  }

  // MARK: Sending

  /// Stores the push and hands it over, or stores the schedule if it repeats. Submitting the same review twice (double
  /// click, reload) creates one push.
  private static func send(_ page: PageContext) async throws -> Response {
    try await orForm(page) {
      let draft = try SendForm(form: page.form).draft()
      do {
        let path = try await take(draft, page)
        try await DraftPages.close(page)
        return page.redirect(to: path)
      } catch is Problems {
        return try shown(page) { page in try await review(page, isRefused: true) }
      } catch let error as Unconfirmed {
        return try shown(page) { page in try await review(page, isRefused: true, differsFrom: error.app) }
      } catch let error as PushIntake.NoApp {
        throw Problems([error.problem])
      } catch is Idempotency.Mismatch {
        throw PageError(.conflict, "push_changed", action: ("/pushes", "nav.pushes"))
      }
    }
  }

  /// The typed name did not match the app's.
  private struct Unconfirmed: Error { let app: String }

  /// - Returns: the URL path of the new push or schedule.
  private static func take(_ draft: PushDraft, _ page: PageContext) async throws -> String {
    try await page.check(sending: draft)
    let usual = page.console.configuration.undoSeconds
    let order = PushIntake.Order(
      draft, source: .web, by: page.actor, person: page.user?.id, from: page.clientAddress,
      undoSeconds: draft.recurrence == nil
        ? try await page.store.read { try UndoWindow.find($0, usual: usual) } : 0,
      now: page.now)
    let typed = page.form["confirm"]
    return try await page.console.intake.take(order, once: once(draft, page)) { check in
      if mustType(draft, check.production.environment), typed != check.app.name {
        throw Unconfirmed(app: check.app.name)
      }
    } answer: { _, kept, _ in
      switch kept {
      case .push(let push): Idempotency.Answer(status: 303, body: [], location: "/pushes/\(push.uid)")
      case .schedule(let schedule): Idempotency.Answer(status: 303, body: [], location: "/schedules/\(schedule.uid)")
      }
    }.location ?? "/pushes"
  }
}
