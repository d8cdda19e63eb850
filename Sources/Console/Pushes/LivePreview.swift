import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Store

/// The preview beside the send form, as JSON, updated while the user types.
enum LivePreview {
  static func answer(_ page: PageContext) async throws -> Response {
    var errors: JSONValue = [:]
    var preview: PushPreview?
    do {
      let draft = try SendForm(form: page.form).draft()
      let found = try await PushPreview.find(draft, page)
      preview = found
      errors = said(SendPages.passed(draft, page, reaching: found.check.production.environment))
    } catch let problems as Problems {
      errors = said(FieldErrors(problems, page.texts))
    }
    var json: [String: JSONValue] = [:]
    let whole = preview
    if preview == nil { preview = try await sketch(page) }
    if var view = preview?.view(page) {
      // A repair needs a form that is complete.
      if whole == nil { for index in view.findings.indices { view.findings[index].fix = nil } }
      json = view.json
      json["callbacks_html"] = .string(page.console.views.part(CallbackRowsView(callbacks: view.callbacks), page.texts))
      // Without a complete target no number of devices is shown.
      if whole == nil { (json["sentence"], json["times"]) = ("", "") }
    }
    json["errors"] = errors
    return APIContext.answer(JSONValue.object(json))
  }

  private static func said(_ errors: FieldErrors) -> JSONValue {
    .object(errors.byField.mapValues { .string($0.sentences) })
  }

  /// Previews the content before app, environment, platforms, audience and time are complete; nil if the content has
  /// errors.
  private static func sketch(_ page: PageContext) async throws -> PushPreview? {
    let open = ["app", "environment", "platforms", "audience"] + SendForm.timeFields
    var fields = page.form.all.filter { !open.contains($0.name) }
    var app = page.form.filled("app")
    let isOpen = app == nil
    if isOpen { app = try await page.store.read { try App.all($0).first?.bundleID } }
    fields += [("app", app ?? ""), ("environment", page.form.filled("environment") ?? "development")]
    let platforms = page.form.all("platforms").filter { Platform(rawValue: $0) != nil }
    fields += (platforms.isEmpty ? ["ios"] : platforms).map { ("platforms", $0) } + [("audience", "all")]
    do {
      var draft = try SendForm(form: Form(fields)).draft()
      draft.options.allowEmptyAudience = true  // no audience is chosen yet
      return try await PushPreview.find(draft, isOpen: isOpen, page)
    } catch is Problems {
      return nil  // shown beside the fields
    }
  }
}
