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
    routes.page(.get, "/templates", index)
    export.add(to: &routes)
    routes.page(.get, "/templates/new", role: .operator) { page in
      try await formPage(page, page.keptForm()?.form ?? Form())
    }
    routes.page(.post, "/templates/new", role: .operator) { page in try page.shown(at: "/templates/new", takeOver) }
    routes.page(.post, "/templates", role: .operator) { page in try await save(page, id: nil) }
    routes.page(.get, "/templates/:id", role: .operator) { page in
      let template = try await find(page)
      return try await formPage(page, page.keptForm()?.form ?? form(of: template), of: template.id)
    }
    routes.page(.post, "/templates/:id", role: .operator) { page in try await save(page, id: try await find(page).id) }
    routes.page(.get, "/templates/:id/use", role: .operator) { page in
      page.answer(TemplateUseView(template: try await find(page), form: Form()))
    }
    routes.page(.post, "/templates/:id/use", role: .operator) { page in
      try page.shown(at: "/templates/\(try page.id())/use") { page in try await fill(page, try await find(page)) }
    }
    routes.page(.post, "/templates/:id/remove", role: .operator) { page in
      let template = try await find(page)
      // Typed, so that no stray click deletes what scripts rely on.
      guard page.form["confirm"] == template.name else {
        var errors = FieldErrors()
        errors.add("confirm", page.texts("templates.confirm_differs", ["name": template.name]))
        return try await formPage(page, form(of: template), of: template.id, errors: errors)
      }
      try await page.store.write { try PushTemplate.delete($0, id: template.id, by: page.entry, now: page.now) }
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
    let (list, total) = try await page.store.read {
      (try PushTemplate.list($0, cursor: pager.cursor, limit: pageSize), try PushTemplate.count($0))
    }
    return page.answer(
      TemplateListView(
        rows: list.items.map { TemplateRow(template: $0, texts: page.texts, now: page.now) },
        exports: ExportLinks(page, "/templates"),
        position: pager.position(list.items.count, size: pageSize, of: total, page.texts),
        pager: PagerView(pager, next: list.next)))
  }

  // MARK: The form

  /// The ways to write a message: values of the button that leads to the other one.
  static let asJSON = "json"
  static let asFields = "fields"

  /// A form with `content` is one with JSON.
  private static func formPage(
    _ page: PageContext, _ form: Form, of template: Int64? = nil, errors: FieldErrors = FieldErrors()
  ) async throws -> Response {
    let message = try await form.has("content") ? nil : SendPages.formView(page, form, errors: errors)
    return page.answer(
      TemplateFormView(form: form, errors: errors, template: template, message: message),
      status: errors.status)
  }

  /// The fields of the send form if they can hold the message, else JSON.
  private static func form(of template: PushTemplate) -> Form {
    let fields = fields(of: template.message) ?? Form([("content", template.message.json.text(pretty: true))])
    return Form(fields.all + [("name", template.name)]).with(template.revision)
  }

  /// Nil if the fields of the send form cannot hold all of a message: a place that stands for a number, or a member that
  /// the form does not have.
  private static func fields(of message: MessageTemplate) -> Form? {
    var push = message.content
    (push["app"], push["environment"], push["audience"]) = ("com.example.app", "development", "all")
    // No push: it has to be written as JSON.
    guard let draft = try? PushDraft(json: .object(push)) else { return nil }
    let form = Form(Form(draft).all.filter { !replaced.contains($0.name) })
    // A member that the form lacks is lost when it is read back.
    guard let same = try? self.message(of: form), same == message else { return nil }
    return form
  }

  /// What a template does not have: when it is used, they are chosen.
  private static let replaced = ["app", "environment", "platforms", "audience"] + SendForm.timeFields

  /// The message of the fields of the send form.
  ///
  /// - Throws: `Problems`, each with the name of a form field.
  private static func message(of form: Form) throws(Problems) -> MessageTemplate {
    let form = Form(
      form.all.filter { !replaced.contains($0.name) } + [
        ("app", "com.example.app"), ("environment", Environment.development.rawValue),
        ("platforms", Platform.ios.rawValue), ("audience", "all"),
      ])
    let send = SendForm(form: form)
    let content = try send.draft().json.object?.filter { MessageTemplate.members.contains($0.key) }
    do { return try MessageTemplate(json: .object(content ?? [:])) } catch {
      throw Problems(error.all.map(send.placed))
    }
  }

  /// The message of a form, whichever way it is written.
  ///
  /// - Throws: the errors beside its fields.
  private static func written(_ form: Form, _ texts: Texts) throws(FieldErrors) -> MessageTemplate {
    guard form.has("content") else {
      do { return try message(of: form) } catch { throw FieldErrors(error, texts) }
    }
    var errors = FieldErrors()
    let json: JSONValue
    do { json = try JSONValue(checking: Array(form.raw("content").utf8)) } catch {
      errors.add("content", texts.text(error))
      throw errors
    }
    do { return try MessageTemplate(json: json) } catch {
      for problem in error.all { errors.add("content", texts.line(problem)) }
      throw errors
    }
  }

  /// From the send form, whose app and audience do not matter.
  private static func takeOver(_ page: PageContext) async throws -> Response {
    do { _ = try message(of: page.form) } catch {
      return try await SendPages.formPage(page, page.form, errors: FieldErrors(error, page.texts))
    }
    let name = String(page.form["title"].singleLine.prefix(PushTemplate.nameLimit))
    let fields = page.form.all.filter { !replaced.contains($0.name) }
    return try await formPage(page, Form(fields + [("name", name)]))
  }

  /// The form as its buttons change it, without saving; nil: it is to be saved.
  private static func changed(_ page: PageContext, id: Int64?) async throws -> Response? {
    let (form, texts) = (page.form, page.texts)
    if form.has("add_language") { return try await formPage(page, SendForm(form: form).withRow(), of: id) }
    if let row = form.filled("remove_language") {
      return try await formPage(page, SendForm(form: form).without(row: row), of: id)
    }
    guard let way = form.filled("as") else { return nil }
    let kept = [(name: "name", value: form.raw("name"))] + form.revision
    // Nothing is written yet: the other way begins blank, too.
    if way == asJSON, !form.has("content"), SendPages.fields(of: form).allSatisfy({ form[$0].isEmpty }) {
      return try await formPage(page, Form(kept + [("content", blank)]), of: id)
    }
    if way == asFields, form.has("content"), ["", blank].contains(form["content"]) {
      return try await formPage(page, Form(kept), of: id)
    }
    var errors = FieldErrors()
    do {
      let message = try written(form, texts)
      if way == asJSON {
        return try await formPage(page, Form(kept + [("content", message.json.text(pretty: true))]), of: id)
      }
      if let fields = fields(of: message) { return try await formPage(page, Form(fields.all + kept), of: id) }
      errors.add("content", texts("templates.not_in_fields"))
    } catch let wrong as FieldErrors {
      errors = wrong
    }
    return try await formPage(page, form, of: id, errors: errors)
  }

  /// What the JSON of a new template begins with.
  private static let blank = (["notification": ["title": "", "body": ""]] as JSONValue).text(pretty: true)

  private static func save(_ page: PageContext, id: Int64?) async throws -> Response {
    if let response = try await changed(page, id: id) { return response }
    let (form, texts) = (page.form, page.texts)
    var errors = FieldErrors()
    var message: MessageTemplate?
    do { message = try written(form, texts) } catch { errors = error }
    let name = form["name"]
    if name.isEmpty { errors.add("name", texts.text(Problem("", FieldMessage.required))) }
    if name.count > PushTemplate.nameLimit {
      let arguments = ["limit": String(PushTemplate.nameLimit), "count": String(name.count)]
      errors.add("name", texts.text(Problem("", FieldMessage.tooManyCharacters, arguments)))
    }
    guard errors.isEmpty, let message else { return try await formPage(page, form, of: id, errors: errors) }
    do {
      _ = try await page.store.write { database in
        if let id {
          try PushTemplate.get(database, id: id).revision.check(form, saving: PushTemplate.revision(name, message))
        }
        return try PushTemplate.save(database, id: id, name: name, message, by: page.entry, now: page.now)
      }
    } catch let error as Revision.Overtaken {
      let errors = try await page.overtaken("template.update", "template \(id ?? 0)")
      return try await formPage(page, form.with(error.stored), of: id, errors: errors)
    } catch let problems as Problems {
      return try await formPage(page, form, of: id, errors: FieldErrors(problems, texts))
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

extension PushTemplate {
  fileprivate static func revision(_ name: String, _ message: MessageTemplate) -> Revision {
    Revision(name, message.json.text())
  }

  fileprivate var revision: Revision { Self.revision(name, message) }
}
