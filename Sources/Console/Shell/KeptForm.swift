import Foundation
import HTTPServer
import OpenSSL
import SQLite
import Store

/// What somebody typed into a form that was not carried out, because the session had ended or because the page is to be
/// read in another language. The page of the form shows it again.
struct KeptForm: Sendable {
  /// The query item that names it.
  static let item = "kept"
  private static let lifetime: TimeInterval = 3600
  /// Of a form that is read although nobody is signed in.
  private static let longest = 64 * 1024

  /// Where it was posted to.
  let action: String
  let form: Form
  /// Whose it is; nil: the session was unknown, and whoever has the address may see it.
  fileprivate let person: Int64?

  private var bytes: Int { 256 + form.all.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }

  fileprivate init(action: String, form: Form, person: Int64?) {
    self.action = action
    self.form = form.withoutSecrets
    self.person = person
  }

  /// - Parameter path: the page of the form.
  /// - Returns: the address that shows it with what was typed.
  fileprivate func keep(_ console: Console, path: String, now: Date) -> String {
    let shelf = person == nil ? console.strangersForms : console.keptForms
    let id = shelf.keep(self, of: person.map { "\($0)" } ?? "", bytes: bytes, for: Self.lifetime, now: now)
    return SessionPages.address(path, Self.item, id)
  }

  /// Keeps the form of a request whose session has ended.
  ///
  /// - Parameters:
  ///   - path: the page of the form.
  ///   - action: where it was to be sent; nil: where it was.
  /// - Returns: the address that shows it again; nil: it is not kept. A form of another site never is: what it holds would
  ///   look as if the person had typed it.
  static func keep(
    _ request: Request, path: String, action: String? = nil, _ console: Console, _ address: PublicAddress, now: Date
  ) async throws -> String? {
    guard isOwn(request, address), let length = request.header("Content-Length").flatMap(Int.init),
      length <= longest, ["application/x-www-form-urlencoded", "multipart/form-data"].contains(request.mediaType)
    else { return nil }
    let form: Form
    do { form = try await Form(request) } catch is any HTTPResponseError { return nil }
    // An ended session is known until somebody signs in.
    let hash = Cookies.value(Cookies.session, of: request).map { Secret.hash($0) }
    let person = try await console.store.read { database in
      try hash.flatMap { try Session.find(database, idHash: $0, idle: Authentication.lifetime, now: now)?.user.id }
    }
    return KeptForm(action: action ?? request.path, form: form, person: person).keep(console, path: path, now: now)
  }

  /// Whether the browser says that the form stands on a page of this console.
  private static func isOwn(_ request: Request, _ address: PublicAddress) -> Bool {
    if let site = request.header("Sec-Fetch-Site") { return site == "same-origin" }
    return request.header("Origin").map { address.isOrigin($0, of: request) } ?? false
  }
}

extension Form {
  /// The fields that are secrets, and the form's own token.
  private static let secrets: Set = [
    "csrf", "password", "current", "repeat", "secret", "client_secret", "master_secret", "proof", "proof_code", "code",
  ]

  /// A page asks for a secret anew, and none is kept on the way.
  var withoutSecrets: Form { Form(all.filter { !Self.secrets.contains($0.name) }) }
}

extension PageContext {
  /// The address that shows the page of this request's form again, with what was typed.
  func keptAddress() -> String {
    let path = SessionPages.address(SessionPages.postedPage(request, console.basePath))
    // A browser that does not tell where the form stands is led to the Overview.
    guard let user, !form.all.isEmpty, request.header("Referer") != nil else { return path }
    return KeptForm(action: request.path, form: form, person: user.id).keep(console, path: path, now: now)
  }

  /// What the address says was typed before.
  func keptForm() -> KeptForm? {
    guard request.method.isSafe, let user, let id = filled(KeptForm.item) else { return nil }
    let found = console.keptForms.find(id, now: now) ?? console.strangersForms.find(id, now: now)
    return found.flatMap { $0.person == nil || $0.person == user.id ? $0 : nil }
  }
}
