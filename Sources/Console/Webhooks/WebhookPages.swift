import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import Reactor
import SQLite
import Store
import Webhooks

/// `/settings/webhooks`: what other servers are told of, and what became of it.
enum WebhookPages {
  static let views: [any PageView.Type] = [WebhookListView.self, WebhookView.self, WebhookRemoveView.self]

  private static let pageSize = 25
  private static let list = "/settings/webhooks"

  private static let export = ListExportRoutes<WebhookAnswer>(
    path: list, action: "webhook.export",
    columns: [
      "id", "name", "target", "app", "events", "active", "failures", "failing_since", "next_try_at", "pending",
      "dropped", "gone_at", "created_by", "created_at", "rotated_at",
    ], role: .admin
  ) { _ in
    return { database, _, _ in
      Page(items: try Webhook.all(database).map { try WebhookAnswer(database, $0) }, next: nil)
    }
  }

  private static let deliveries = ListExportRoutes<WebhookDelivery>(
    path: "\(list)/:id/deliveries", action: "webhook.export",
    columns: ["id", "type", "state", "created_at", "attempts", "tried_at", "status", "duration_ms", "answer"],
    role: .admin
  ) { page in
    let id = try await find(page).id
    return { database, cursor, limit in
      try WebhookDelivery.list(database, webhook: id, cursor: cursor, limit: limit)
    }
  }

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/webhooks", role: .admin) { page in
      let (webhooks, apps) = try await page.store.read { (try Webhook.all($0), try App.all($0)) }
      let texts = page.texts
      return page.answer(
        WebhookListView(
          exports: ExportLinks(page, list),
          webhooks: webhooks.map { webhook in
            let app = webhook.details.appID.map { id in apps.first { $0.id == id }?.name ?? "" }
            return WebhookRow(webhook: webhook, app: app ?? texts("webhooks.all_apps"), texts: texts)
          }))
    }
    export.add(to: &routes)
    deliveries.add(to: &routes)
    routes.page(.get, "/settings/webhooks/new", role: .admin) { page in
      let form = Form([("active", "yes")] + Webhook.Event.allCases.map { ("events", $0.rawValue) })
      return try await show(page, nil, form)
    }
    routes.page(.post, "/settings/webhooks", role: .admin, proof: true) { page in try await save(page, nil) }
    routes.page(.get, "/settings/webhooks/:id", role: .admin) { page in try await show(page, try await find(page)) }
    routes.page(.post, "/settings/webhooks/:id", role: .admin, proof: true) { page in
      try await save(page, try await find(page))
    }
    routes.page(.post, "/settings/webhooks/:id/secret", role: .admin, proof: true) { page in
      let (id, sealer) = (try await find(page).id, page.store.sealer)
      let (webhook, secret) = try await page.store.write { database in
        let secret = try Webhook.rotate(database, id: id, sealer: sealer, now: page.now)
        let webhook = try Webhook.get(database, id: id)
        try webhook.note(database, "webhook.rotate", for: page)
        return (webhook, secret)
      }
      return try showing(page, webhook, secret: secret)
    }
    routes.page(.post, "/settings/webhooks/:id/test", role: .admin) { page in
      let (webhook, sent) = try await page.console.webhooks.test(
        try await find(page).id, in: page.store, audit: page.audit("webhook.test", ""), now: page.now)
      let isGood = sent.state == .delivered
      let text = page.texts(isGood ? "settings.test_good" : "settings.test_bad", ["to": webhook.details.name])
      let answer = [sent.status.map(String.init), sent.answer.map(page.texts.answer)].compactMap { $0 }
        .joined(separator: " ")
      return try page.shown(at: "\(list)/\(webhook.id)") { page in
        try await show(page, webhook, test: TestResult(isGood: isGood, text: text, answer: answer))
      }
    }
    routes.page(.post, "/settings/webhooks/:id/deliveries/:uid/again", role: .admin) { page in
      let (id, uid) = (try page.id(), page.request.parameters["uid"] ?? "")
      try await page.store.write { database in
        try Webhook.get(database, id: id).note(database, "webhook.redeliver", for: page)
        _ = try WebhookDelivery.sendAgain(database, webhook: id, uid: uid, now: page.now)
      }
      return page.redirect(to: "\(list)/\(id)", flash: "webhook_again")
    }
    routes.page(.get, "/settings/webhooks/:id/remove", role: .admin) { page in
      let webhook = try await find(page)
      return page.answer(
        WebhookRemoveView(name: webhook.details.name, href: "\(list)/\(webhook.id)", pending: webhook.pending))
    }
    routes.page(.post, "/settings/webhooks/:id/remove", role: .admin, proof: true) { page in
      let id = try page.id()
      try await page.store.write { database in
        try Webhook.get(database, id: id).note(database, "webhook.delete", for: page)
        try Webhook.delete(database, id: id)
      }
      return page.redirect(to: list, flash: "webhook_removed")
    }
  }

  /// Shows a secret this once.
  private static func showing(_ page: PageContext, _ webhook: Webhook, secret: String) throws -> Response {
    try page.shown(at: "\(list)/\(webhook.id)", for: ShownPage.secretLifetime) { page in
      try await show(page, webhook, secret: secret)
    }
  }

  private static func find(_ page: PageContext) async throws -> Webhook {
    let id = try page.id()
    return try await page.store.read { try Webhook.get($0, id: id) }
  }

  /// The page of a webhook, or of a new one.
  ///
  /// - Parameter filled: what was typed; nil: as stored.
  private static func show(
    _ page: PageContext, _ webhook: Webhook?, _ filled: Form? = nil, _ errors: FieldErrors = FieldErrors(),
    secret: String? = nil, test: TestResult? = nil
  ) async throws -> Response {
    let (texts, pager) = (page.texts, Pager(page.request, path: webhook.map { "\(list)/\($0.id)" }))
    let (apps, deliveries) = try await page.store.read { database in
      (
        try App.all(database),
        try webhook.map {
          try WebhookDelivery.list(database, webhook: $0.id, cursor: pager.cursor, limit: pageSize)
        }
      )
    }
    var fields: [(name: String, value: String)] = []
    if let details = webhook?.details {
      fields = [
        ("name", details.name), ("app", details.appID.map(String.init) ?? ""),
        ("active", details.isActive ? "yes" : ""),
      ]
      fields += details.events.map { ("events", $0.rawValue) }
    }
    let form = filled ?? webhook.map { Form(fields).with($0.details.revision) } ?? Form(fields)
    let events = form.all("events")
    return page.answer(
      WebhookView(
        webhook: webhook, texts: texts, form: form, errors: errors,
        events: Webhook.Event.allCases.map {
          let label = texts("webhooks.events.\($0.rawValue.replacing(".", with: "_"))")
          return ChoiceView(value: $0.rawValue, label: label, isSelected: events.contains($0.rawValue))
        },
        apps: ChoiceView.list(
          [("", texts("webhooks.all_apps"))] + apps.map { (String($0.id), $0.name) }, chosen: form["app"]),
        secret: secret, test: test,
        deliveries: deliveries?.items.map {
          WebhookDeliveryRow(delivery: $0, webhook: $0.webhookID, texts: texts, now: page.now)
        } ?? [],
        exports: webhook.map { ExportLinks(page, "\(list)/\($0.id)/deliveries") },
        pager: PagerView(pager, next: deliveries?.next)),
      status: errors.status)
  }

  private static func save(_ page: PageContext, _ before: Webhook?) async throws -> Response {
    let form = page.form
    var typed = WebhookForm()
    typed.name = form["name"]
    // Only the host is shown, so an empty field keeps the stored URL.
    typed.url = form["url"].isEmpty && before != nil ? nil : form["url"]
    typed.appID = Int64(form["app"])
    typed.events = Set(form.all("events").compactMap(Webhook.Event.init))
    typed.isActive = form["active"] == "yes"
    var problems = typed.problems(plain: page.plainHosts)
    if let app = typed.appID, try await page.store.read({ try App.find($0, id: app) }) == nil {
      problems.append(CertificatePages.noApp)
    }
    guard problems.isEmpty else {
      return try await show(page, before, form, FieldErrors(Problems(problems), page.texts))
    }
    let wanted = typed
    guard let before else {
      do {
        let added = try await page.store.write { try wanted.add($0, for: page) }
        return try showing(page, added.webhook, secret: added.secret)
      } catch let problems as Problems {
        return try await show(page, nil, form, FieldErrors(problems, page.texts))
      }
    }
    do {
      try await page.store.write { database in
        // Somebody else may have changed it since it was read.
        let stored = try Webhook.get(database, id: before.id)
        try stored.details.revision.check(form, saving: wanted.details(stored).revision)
        _ = try wanted.update(database, stored, for: page)
      }
    } catch let error as Revision.Overtaken {
      let errors = try await page.overtaken("webhook.update", "webhook \(before.id)")
      return try await show(page, try await find(page), form.with(error.stored), errors)
    }
    return page.redirect(to: "\(list)/\(before.id)", flash: "webhook_saved")
  }
}
