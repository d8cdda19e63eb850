import Foundation
import JSON
import Model
import Mustache
import Store

/// `/templates`.
struct TemplateListView: PageView {
  static let template = "pushes/templates"
  static let section: Section? = .pushes

  let rows: [TemplateRow]
  let exports: ExportLinks
  /// Nil: unknown.
  let position: String?
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .view("exports") { $0.rows.isEmpty ? nil : $0.exports },
    .list("templates") { $0.rows }, .flag("has_templates") { !$0.rows.isEmpty },
    .optional("position") { $0.position }, .view("pager") { $0.pager },
  ]
}

struct TemplateRow: View {
  let template: PushTemplate
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("id") { "\($0.template.id)" },
    .text("name") { $0.template.name },
    .text("title") { $0.template.headline },
    .text("places") { row in row.texts.list(row.template.message.places) },
    .view("changed") { MomentView(date: $0.template.changedAt, now: $0.now) },
  ]
}

extension PushTemplate {
  /// The title of its push, or the body if there is no title.
  var headline: String {
    let notification = message.content["notification"]
    return notification?["title"]?.string ?? notification?["body"]?.string ?? ""
  }
}

/// Creating, changing and deleting.
struct TemplateFormView: PageView {
  static let template = "pushes/template"
  static let section: Section? = .pushes

  let form: Form
  let errors: FieldErrors
  /// Nil: a new one.
  let template: Int64?
  /// The message in the fields of the send form; nil: as JSON.
  let message: SendFormView?

  private static let written = ["name", "content", "confirm"]

  static let fields: [Field<Self>] = [
    .view("message") { $0.message },
    .text("other") { $0.message == nil ? TemplatePages.asFields : TemplatePages.asJSON },
    .optional("problem") { view in
      view.errors.others(view.message == nil ? written : SendPages.fields(of: view.form) + ["name", "confirm"])
    },
    .optional("revision") { $0.form.filled(Revision.field) },
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
        PlaceView(name: place, value: view.form.raw("value.\(place)"), error: view.errors["value.\(place)"])
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
