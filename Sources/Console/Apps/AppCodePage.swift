import HTTPServer
import Model
import Mustache
import Store

/// `/apps/:id/code`: the code for the app itself, with the app's newest client key and its page rules.
enum AppCodePage {
  static func show(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    let (key, rules) = try await page.store.read { database in
      (try ClientKey.all(database, app: app.id).first, try App.pageRules(database, id: app.id))
    }
    return page.answer(
      AppCodeView(
        app: app,
        code: key.map { AppCode(app: app, rules: rules, address: page.address, clientKey: $0.key) }))
  }
}

struct AppCodeView: PageView {
  static let template = "apps/code"
  static let section: Section? = .apps

  let app: App
  /// Nil: there is no key yet.
  let code: AppCode?

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("title") { $0.app.name },
    .view("code") { $0.code },
  ]
}
