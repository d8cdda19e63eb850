import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store
import Text

/// `/templates`: saved messages with places, and their use in the send form.
enum TemplatePages {
  static let views: [any PageView.Type] = [TemplateListView.self, TemplateFormView.self, TemplateUseView.self]

  private static let pageSize = 50

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/templates") { page in try await index(page) }
    export.add(to: &routes)
    routes.page(.get, "/templates/new", role: .operator) { page in formPage(page, Form()) }
    routes.page(.post, "/templates/new", role: .operator) { page in try await takeOver(page) }
    routes.page(.post, "/templates", role: .operator) { page in try await save(page, id: nil) }
    routes.page(.get, "/templates/:id", role: .operator) { page in
      let template = try await find(page)
      return formPage(
        page, Form([("name", template.name), ("content", template.message.json.text(pretty: true))]), of: template.id)
    }
    routes.page(.post, "/templates/:id", role: .operator) { page in try await save(page, id: try await find(page).id) }
    routes.page(.get, "/templates/:id/use", role: .operator) { page in
      page.answer(TemplateUseView(template: try await find(page), form: Form()))
    }
    routes.page(.post, "/templates/:id/use", role: .operator) { page in try await fill(page, try await find(page)) }
    routes.page(.post, "/templates/:id/remove", role: .operator) { page in
      let (template, entry, now) = (try await find(page), page.audit("", ""), page.now)
      // Typed, so that no stray click deletes what scripts rely on.
      guard page.form["confirm"] == template.name else {
        var errors = FieldErrors()
        errors.add("confirm", page.texts("templates.confirm_differs", ["name": template.name]))
        return formPage(
          page, Form([("name", template.name), ("content", template.message.json.text(pretty: true))]),
          of: template.id, errors: errors)
      }
      try await page.store.write { try PushTemplate.delete($0, id: template.id, by: entry, now: now) }
      return page.redirect(to: "/templates", flash: "template_removed")
    }
  }

  private static func find(_ page: PageContext) async throws -> PushTemplate {
    let id = try page.id()
    guard let template = try await page.store.read({ try PushTemplate.find($0, id: id) }) else {
      throw PageError(.notFound, "missing_template", action: ("/templates", "templates.title"))
    }
    return template
  }

  private static let export = ListExportRoutes<PushTemplate>(
    path: "/templates", action: "template.export",
    columns: ["id", "name", "content", "places", "created_by", "created_at", "changed_at"]
  ) { _ in { try PushTemplate.list($0, cursor: $1, limit: $2) } }

  private static func index(_ page: PageContext) async throws -> Response {
    let pager = Pager(page.request)
    let list = try await page.store.read { try PushTemplate.list($0, cursor: pager.cursor, limit: pageSize) }
    return page.answer(
      TemplateListView(
        rows: list.items.map { TemplateRow(template: $0, texts: page.texts, now: page.now) },
        exports: ExportLinks(page, "/templates"), pager: PagerView(pager, next: list.next)))
  }

  private static func formPage(
    _ page: PageContext, _ form: Form, of template: Int64? = nil, errors: FieldErrors = FieldErrors()
  ) -> Response {
    page.answer(
      TemplateFormView(form: form, errors: errors, template: template),
      status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  /// From the send form, whose app and audience do not matter.
  private static func takeOver(_ page: PageContext) async throws -> Response {
    let replaced = ["app", "environment", "platforms", "audience"] + SendForm.timeFields
    let form = Form(
      page.form.all.filter { !replaced.contains($0.name) } + [
        ("app", "com.example.app"), ("environment", Environment.development.rawValue),
        ("platforms", Platform.ios.rawValue), ("audience", "all"),
      ])
    do {
      let content = try SendForm(form: form).draft().json.object?.filter { MessageTemplate.members.contains($0.key) }
      let name = String(page.form["title"].singleLine.prefix(PushTemplate.nameLimit))
      return formPage(page, Form([("name", name), ("content", JSONValue.object(content ?? [:]).text(pretty: true))]))
    } catch {
      return try await SendPages.formPage(page, page.form, errors: FieldErrors(error, page.texts))
    }
  }

  private static func save(_ page: PageContext, id: Int64?) async throws -> Response {
    let (form, texts, entry, now) = (page.form, page.texts, page.audit("", ""), page.now)
    var errors = FieldErrors()
    let name = form["name"]
    if name.isEmpty { errors.add("name", texts.text(Problem("", FieldMessage.required))) }
    if name.count > PushTemplate.nameLimit {
      let arguments = ["limit": String(PushTemplate.nameLimit), "count": String(name.count)]
      errors.add("name", texts.text(Problem("", FieldMessage.tooManyCharacters, arguments)))
    }
    var message: MessageTemplate?
    do {
      message = try MessageTemplate(json: JSONValue(checking: Array(form.raw("content").utf8)))
    } catch let problems as Problems {
      for problem in problems.all { errors.add("content", texts.line(problem)) }
    } catch let problem as Problem {
      errors.add("content", texts.text(problem))
    }
    guard errors.isEmpty, let message else { return formPage(page, form, of: id, errors: errors) }
    do {
      _ = try await page.store.write {
        try PushTemplate.save($0, id: id, name: name, message, by: entry, now: now)
      }
    } catch let problems as Problems {
      return formPage(page, form, of: id, errors: FieldErrors(problems, texts))
    }
    return page.redirect(to: "/templates", flash: "template_saved")
  }

  /// Opens the send form with the template's message, its places filled in.
  private static func fill(_ page: PageContext, _ template: PushTemplate) async throws -> Response {
    let places = template.message.places
    // An empty field has no value.
    let values = places.compactMap { place in page.form.filled("value.\(place)").map { (place, JSONValue.string($0)) } }
    do {
      var push = try template.message.filled(Dictionary(values) { $1 })
      (push["app"], push["environment"], push["audience"]) = ("com.example.app", "development", "all")
      let open = ["app", "environment", "platforms", "audience"]
      let form = Form(Form(try PushDraft(json: .object(push))).all.filter { !open.contains($0.name) })
      return try await SendPages.formPage(page, Form(form.all + Platform.allCases.map { ("platforms", $0.rawValue) }))
    } catch let problems as Problems {
      var errors = FieldErrors()
      for problem in problems.all {
        let place = places.first { problem.field == "values.\($0)" }
        errors.add(
          place.map { "value.\($0)" } ?? "", place == nil ? page.texts.line(problem) : page.texts.text(problem))
      }
      return page.answer(
        TemplateUseView(template: template, form: page.form, errors: errors), status: .unprocessableContent)
    }
  }
}

/// `/templates`.
struct TemplateListView: PageView {
  static let template = "pushes/templates"
  static let section: Section? = .pushes

  let rows: [TemplateRow]
  let exports: ExportLinks
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .view("exports") { $0.rows.isEmpty ? nil : $0.exports },
    .list("templates") { $0.rows }, .flag("has_templates") { !$0.rows.isEmpty }, .view("pager") { $0.pager },
  ]
}

struct TemplateRow: View {
  let template: PushTemplate
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("id") { "\($0.template.id)" },
    .text("name") { $0.template.name },
    .text("title") { row in
      let message = row.template.message.content["notification"]
      return message?["title"]?.string ?? message?["body"]?.string ?? ""
    },
    .text("places") { row in row.texts.list(row.template.message.places) },
    .view("changed") { MomentView(date: $0.template.changedAt, now: $0.now) },
  ]
}

/// Creating, changing and deleting.
struct TemplateFormView: PageView {
  static let template = "pushes/template"
  static let section: Section? = .pushes

  let form: Form
  let errors: FieldErrors
  /// Nil: a new one.
  let template: Int64?

  static let fields: [Field<Self>] = [
    .flag("known") { $0.template != nil },
    .text("action") { $0.template.map { "/templates/\($0)" } ?? "/templates" },
    .view("name") { FieldView(value: $0.form.raw("name"), error: $0.errors["name"]) },
    .view("content") { FieldView(value: $0.form.raw("content"), error: $0.errors["content"]) },
    .view("confirm") { FieldView(value: "", error: $0.errors["confirm"]) },
  ]
}

/// The values of a template's places.
struct TemplateUseView: PageView {
  static let template = "pushes/template_use"
  static let section: Section? = .send

  let template: PushTemplate
  let form: Form
  var errors = FieldErrors()

  static let fields: [Field<Self>] = [
    .text("name") { $0.template.name },
    .text("action") { "/templates/\($0.template.id)/use" },
    .text("edit") { "/templates/\($0.template.id)" },
    .flag("has_places") { !$0.template.message.places.isEmpty },
    .optional("problem") { $0.errors.others($0.template.message.places.map { "value.\($0)" }) },
    .list("places") { view in
      view.template.message.places.map { place in
        PlaceView(
          name: place, value: view.form.raw("value.\(place)"), error: view.errors["value.\(place)"])
      }
    },
  ]
}

struct PlaceView: View {
  let name: String
  let value: String
  let error: String

  static let fields: [Field<Self>] = [
    .text("place") { $0.name }, .text("value") { $0.value }, .text("error") { $0.error },
  ]
}
