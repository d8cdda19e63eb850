import HTTPServer
import JSON
import Model
import Mustache
import Store

/// `/settings/sending`: how long a push of the console waits before it is sent.
enum SendingSettingsPage {
  private static let path = "/settings/sending"
  private static let field = "undo_seconds"

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, path, role: .admin) { page in
      let usual = page.console.configuration.undoSeconds
      let seconds = try await page.store.read { try UndoWindow.find($0, usual: usual) }
      return show(page, FieldView(value: String(seconds)))
    }
    routes.page(.post, path, role: .admin, save)
  }

  private static func show(_ page: PageContext, _ undo: FieldView, status: Status = .ok) -> Response {
    page.answer(SendingSettingsView(undo: undo), status: status)
  }

  private static func save(_ page: PageContext) async throws -> Response {
    guard let seconds = Int(page.form[field]), PushLimits.undoSeconds.contains(seconds) else {
      let undo = FieldView(value: page.form.raw(field), error: page.texts("settings.undo_problem"))
      return show(page, undo, status: .unprocessableContent)
    }
    let usual = page.console.configuration.undoSeconds
    try await page.store.write { database in
      let before = try UndoWindow.find(database, usual: usual)
      try UndoWindow.set(database, seconds: seconds)
      try page.record(
        database, "setting.undo", "settings undo",
        ["before": ["seconds": .number(before)], "after": ["seconds": .number(seconds)]])
    }
    return page.redirect(to: path, flash: "undo_set")
  }
}

struct SendingSettingsView: PageView {
  static let template = "settings/sending"
  static let section: Section? = .settings

  /// The undo window, in seconds.
  let undo: FieldView

  static let fields: [Field<Self>] = [.view("undo_seconds") { $0.undo }]
}
