import HTTPServer
import Store

/// The choice of a language: kept in the browser, and for the account of a signed-in person.
enum LanguagePages {
  static func add(to routes: inout ConsoleRouter) {
    routes.open(.post, "/language", choose)
  }

  /// Where the send form and its review are posted to be shown in another language.
  static let preview = "/pushes/preview"

  private static func choose(_ page: PageContext) async throws -> Response {
    let path = SessionPages.ownPath(page.form.raw("return"))
    return try await choosing(page) { _ in .redirect(to: path) }
  }

  /// Keeps the language that a form chose, and answers in it.
  static func choosing(
    _ page: PageContext, _ body: (PageContext) async throws -> Response
  ) async throws -> Response {
    let code = page.form["lang"]
    guard let texts = page.console.locales.texts[code] else { return try await body(page) }
    if let user = page.user {
      try await page.store.write { try User.setLanguage($0, id: user.id, code) }
    }
    var page = page
    page.texts = texts
    var response = try await body(page)
    Cookies.set(Cookies.language, code, age: 365 * 86_400, on: &response, page.request)
    return response
  }
}
