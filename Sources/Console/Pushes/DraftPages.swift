import Delivery
import Foundation
import HTTPServer
package import JSON
import Model
import Mustache
import Reactor
import SQLite
package import Store
import Text

/// `/pushes/drafts`: unsent forms, kept for their owner, and the try-out on the owner's own device.
enum DraftPages {
  /// Fields of the form that are not part of a draft.
  private static let passing = [
    "csrf", "confirm", "edit", "review", "fix", "draft", "preview_language", "idempotency_key", ownKey,
    PastedPushView.field, SendForm.allZones,
  ]

  /// The field that makes a double click on “Send to my device first” one push.
  static let ownKey = "own_key"

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/pushes/drafts", role: .operator, index)
    export.add(to: &routes)
    routes.page(.post, "/pushes/drafts", role: .operator) { page in
      _ = try await save(page)
      return page.redirect(to: "/pushes/drafts", flash: "draft_saved")
    }
    routes.page(.post, "/pushes/drafts/:id/remove", role: .operator) { page in
      let (id, user) = (try page.id(), page.user?.id ?? 0)
      guard try await page.store.write({ try SavedDraft.delete($0, id: id, user: user) }) else { throw missing }
      return page.redirect(to: "/pushes/drafts", flash: "draft_removed")
    }
    routes.page(.post, "/pushes/own", role: .operator, tryOut)
  }

  private static var missing: PageError {
    PageError(.notFound, "missing_draft", action: ("/pushes/drafts", "drafts.title"))
  }

  /// The person's own, as the page lists them.
  private static let export = ListExportRoutes<SavedDraft>(
    path: "/pushes/drafts", action: "push.export_drafts", columns: ["id", "title", "app", "changed_at", "fields"],
    role: .operator
  ) { page in
    let user = page.user?.id ?? 0
    return { database, _, _ in Page(items: try SavedDraft.all(database, user: user), next: nil) }
  }

  private static func index(_ page: PageContext) async throws -> Response {
    let user = page.user?.id ?? 0
    let (drafts, apps) = try await page.store.read { (try SavedDraft.all($0, user: user), try App.all($0)) }
    return page.answer(
      DraftListView(
        drafts: drafts.map { draft in
          DraftRow(
            draft: draft, app: apps.first { $0.bundleID == draft.app }?.name ?? "", texts: page.texts, now: page.now)
        }, exports: ExportLinks(page, "/pushes/drafts")))
  }

  /// The form of a draft, to go on with.
  static func resume(_ page: PageContext, _ text: String) async throws -> Form {
    let user = page.user?.id ?? 0
    guard let id = Int64(text), let draft = try await page.store.read({ try SavedDraft.find($0, id: id, user: user) })
    else { throw missing }
    return Form(draft.fields.map { ($0.name, $0.value) } + [("draft", "\(id)")])
  }

  /// Saves what the form holds, complete or not.
  ///
  /// - Returns: the row ID of the draft.
  private static func save(_ page: PageContext) async throws -> Int64 {
    let (user, now, known) = (page.user?.id ?? 0, page.now, Int64(page.form["draft"]))
    let fields = page.form.all.filter { !passing.contains($0.name) && !$0.value.isEmpty }
    let texts = [page.form["title"], page.form["body"]]
    let title = texts.first { !$0.isEmpty }?.singleLine.prefix(200) ?? ""
    return try await page.store.write { database in
      try SavedDraft.save(
        database, id: known, user: user, title: String(title),
        fields.map { SavedDraft.Field($0.name, $0.value.replacing("\r\n", with: "\n")) }, now: now)
    }
  }

  /// A draft is done once its push is stored.
  static func close(_ page: PageContext) async throws {
    guard let id = Int64(page.form["draft"]), let user = page.user?.id else { return }
    _ = try await page.store.write { try SavedDraft.delete($0, id: id, user: user) }
  }

  // MARK: To my device first

  /// Sends the very draft to the person's own device, in that device's environment and at once. The draft stays.
  private static func tryOut(_ page: PageContext) async throws -> Response {
    let (user, bundleID) = (page.user?.id ?? 0, page.form["app"])
    let found = try await page.store.read { database -> (Device, App)? in
      for device in try Device.own(database, user: user) {
        let app = try App.get(database, id: device.appID)
        if bundleID.isEmpty || app.bundleID == bundleID { return (device, app) }
      }
      return nil
    }
    guard let (device, app) = found else {
      var errors = FieldErrors()
      errors.add("app", page.texts("drafts.no_own_device"))
      return try await SendPages.formPage(page, page.form, errors: errors)
    }
    let replaced =
      ["app", "environment", "platforms", "audience", "device_token"] + SendForm.timeFields + passing
    let form = Form(
      page.form.all.filter { !replaced.contains($0.name) } + [
        ("app", app.bundleID), ("environment", device.environment.rawValue), ("platforms", device.platform.rawValue),
        ("audience", "device_token"), ("device_token", device.tokenText),
      ])
    try page.check(sendingIn: device.environment)
    do {
      let order = PushIntake.Order(
        try SendForm(form: form).draft(), source: .web, by: page.actor, person: page.user?.id,
        from: page.clientAddress, now: page.now)
      let push = try await send(order, page)
      let draft = try await save(page)
      try await page.store.write { try SavedDraft.note($0, id: draft, push: push.id) }
      return page.redirect(to: "/pushes/\(push.uid)", flash: "draft_tried")
    } catch let problems as Problems {
      let placed = Problems(problems.all.map(SendForm(form: page.form).placed))
      return try await SendPages.formPage(page, page.form, errors: FieldErrors(placed, page.texts))
    }
  }
}

extension DraftPages {
  /// The same form sent twice is one push; one that was changed in between is another.
  private static func send(_ order: PushIntake.Order, _ page: PageContext) async throws -> Push {
    let content = Array(order.draft.json.text().utf8)
    let once = Idempotency(
      actor: page.actor, key: page.form.filled(ownKey).map { "\($0) \(Revision($0, order.draft.json.text()).text)" },
      route: "POST /pushes/own", content: content, now: page.now)
    let answer = try await page.console.intake.take(
      order, once: once,
      answer: { _, kept, _ in
        guard case .push(let push) = kept else { throw PageError(.unprocessableContent, "refused") }
        return Idempotency.Answer(status: 303, body: [], location: push.uid)
      })
    let uid = answer.location ?? ""
    return try await page.store.read { try PushPages.find($0, uid: uid) }
  }
}

/// `/pushes/drafts`.
struct DraftListView: PageView {
  static let template = "pushes/drafts"
  static let section: Section? = .pushes

  let drafts: [DraftRow]
  let exports: ExportLinks

  static let fields: [Field<Self>] = [
    .view("exports") { $0.drafts.isEmpty ? nil : $0.exports },
    .list("drafts") { $0.drafts }, .flag("has_drafts") { !$0.drafts.isEmpty },
  ]
}

extension SavedDraft: JSONObject {
  /// Bundle ID; nil: none is chosen yet.
  fileprivate var app: String? { fields.first { $0.name == "app" }?.value }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("title", title)
    json.member("app", app)
    json.member("changed_at", changedAt)
    // A name can occur several times, as that of the platforms.
    json.objects("fields", fields) { json, field in
      json.member("name", field.name)
      json.member("value", field.value)
    }
  }
}

struct DraftRow: View {
  let draft: SavedDraft
  let app: String
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("id") { "\($0.draft.id)" },
    .text("title") { row in row.draft.title.isEmpty ? row.texts("pushes.no_text") : row.draft.title },
    .text("app") { $0.app },
    .view("changed") { MomentView(date: $0.draft.changedAt, now: $0.now) },
  ]
}
