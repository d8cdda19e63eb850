import HTTPServer
import Store

/// The choice of a language: kept in the browser, and for the account of a signed-in person.
enum LanguagePages {
  static func add(to routes: inout ConsoleRouter) {
    routes.open(.post, "/language") { page in try await choose(page) }
  }

  private static func choose(_ page: PageContext) async throws -> Response {
    let code = page.form["lang"]
    var response = Response.redirect(to: SessionPages.ownPath(page.form.raw("return")))
    guard page.console.locales.texts[code] != nil else { return response }
    if let user = page.user {
      _ = try await page.store.write { try User.update($0, id: user.id, role: user.role, language: code) }
    }
    Cookies.set(Cookies.language, code, age: 365 * 86_400, on: &response, page.request)
    return response
  }
}
