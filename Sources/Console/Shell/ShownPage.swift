import Foundation
import HTTPServer
import Store

/// A page that a form leads to without changing anything more, such as the review of a push, or that shows a secret once.
/// It has an address of its own (POST, redirect, GET): reloading it or going back to it sends no form again, and it can be
/// shown in another language.
struct ShownPage: Sendable {
  /// The query item that names it.
  static let item = "shown"
  /// How long it can be opened again, in seconds.
  static let lifetime: TimeInterval = 86_400
  /// The same for one with a secret.
  static let secretLifetime: TimeInterval = 900

  fileprivate let person: Int64
  fileprivate let role: User.Role
  fileprivate let path: String
  fileprivate let form: Form
  fileprivate let show: ConsoleRouter.PageHandler

  /// - Parameters:
  ///   - path: of the page in whose place it is shown.
  ///   - show: reads nothing but the context that it is given; its form is the posted one.
  fileprivate init(_ page: PageContext, path: String, _ show: @escaping ConsoleRouter.PageHandler) throws {
    let user = try page.signedIn().user
    (person, role, self.path, form, self.show) = (user.id, user.role, path, page.form.withoutSecrets, show)
  }
}

extension PageContext {
  /// Sends the browser to a page in answer to its form.
  ///
  /// - Parameters:
  ///   - path: of the page in whose place it is shown; that page itself comes when this one is not kept any more.
  ///   - lifetime: how long it can be opened again.
  func shown(
    at path: String, for lifetime: TimeInterval = ShownPage.lifetime, _ show: @escaping ConsoleRouter.PageHandler
  ) throws -> Response {
    let shown = try ShownPage(self, path: String(path.prefix { $0 != "?" }), show)
    let bytes = 1024 + form.all.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    let id = console.shownPages.keep(shown, of: "\(shown.person)", bytes: bytes, for: lifetime, now: now)
    return redirect(to: SessionPages.address(path, ShownPage.item, id))
  }

  /// The page of this address that a form led to, with what it is shown for; nil: the address names none, or it is not
  /// this person's, or not kept any more.
  func shownPage() -> (page: PageContext, show: ConsoleRouter.PageHandler)? {
    guard let id = filled(ShownPage.item), let kept = console.shownPages.find(id, now: now), kept.person == user?.id,
      kept.path == request.path, may(kept.role)
    else { return nil }
    var page = self
    page.form = kept.form
    return (page, kept.show)
  }
}

extension SessionPages {
  /// A path with one more query item, instead of those that name what is kept of a form.
  static func address(_ path: String, _ item: String? = nil, _ value: String = "") -> String {
    let parts = path.split(separator: "?", maxSplits: 1)
    let own = [ShownPage.item, KeptForm.item].map { $0 + "=" }
    var query = parts.count < 2 ? [] : parts[1].split(separator: "&").map(String.init)
    query.removeAll { part in own.contains { part.hasPrefix($0) } }
    if let item { query.append("\(item)=\(value)") }
    return String(parts.first ?? "/") + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }
}
