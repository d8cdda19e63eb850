import Foundation
import HTTPServer
import JSON
import OpenSSL
import Reactor
import Model
import Store

/// One request for a page: who asks, in which language, with which form.
struct PageContext: Sendable {
  let console: Console
  let request: Request
  /// Nil on the pages that are open to everybody.
  let principal: Principal?
  let texts: Texts
  /// What forms of this page have to send along; in the page itself it stands masked.
  let csrf: String
  var form: Form
  let now: Date

  /// The same request with its form, now that it is known who sends it.
  ///
  /// - Throws: 403 if the form does not bring the token that only our own pages know.
  func reading(_ form: Form) throws -> PageContext {
    guard CSRFToken.matches(form.raw("csrf"), csrf) else { throw PageError(.forbidden, "csrf") }
    var context = self
    context.form = form
    return context
  }

  var store: Store { console.store }
  var query: URLEncodedForm { request.queryItems }

  var user: User? { if case .user(let user, _)? = principal { user } else { nil } }
  var session: Session? { if case .user(_, let session)? = principal { session } else { nil } }

  /// Of the cookie by which this browser is known; nil without one.
  var deviceHash: [UInt8]? {
    request.cookie(Cookies.deviceName(isSecure: request.isSecure)).map { Secret.hash($0) }
  }

  /// As it stands in the audit.
  var actor: String { principal?.name ?? "anonymous" }

  /// Where people reach the console, for commands to copy: as it was configured, else as this browser found it.
  var address: String {
    if let address = console.configuration.address { return address }
    let host = request.header("Host") ?? ""
    // It goes into a shell's quotes: a name that needs other characters is none of ours.
    let isPlain = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".:-[]".contains($0)) }
    return "\(request.isSecure ? "https" : "http")://\(isPlain && !host.isEmpty ? host : "localhost")"
  }

  /// A line of the audit for what is done here.
  func audit(_ action: String, _ subject: String, _ detail: JSONValue? = nil) -> NewAuditEntry {
    NewAuditEntry(
      actor: actor, action: action, subject: subject, detail: detail, address: request.remoteAddress?.host)
  }

  /// Whether the person may do what needs a role.
  func may(_ role: User.Role) -> Bool { (principal?.role).map { $0 >= role } ?? false }

  /// A query field without blanks around it, nil if it is empty.
  func filled(_ name: String) -> String? {
    let text = (query[name] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? nil : text
  }

  /// A row's id in the address.
  func id(_ name: String = "id") throws -> Int64 { try request.parameter(name) }

  /// Sends the browser on, with a message (a key under `flash` in the locale tables) for the next page.
  func redirect(to path: String, flash: String? = nil) -> Response {
    var response = Response.redirect(to: path)
    if let flash { Cookies.set(Cookies.flash, flash, age: 60, on: &response, request) }
    return response
  }

  /// A stream of events, for as long as the person may come in.
  func events(_ body: @escaping @Sendable (EventStream) async throws -> Void) throws -> Response {
    guard let principal else { throw PageError(.forbidden, "csrf") }
    return console.events(for: principal, body)
  }

  /// The page of an error, for the person who is signed in.
  func errorPage(_ error: PageError) -> Response {
    func text(_ part: String) -> String {
      let key = "errors.\(error.code).\(part)"
      return texts.known(key) == nil ? "" : texts(key, error.arguments)
    }
    return answer(
      ErrorView(
        status: error.status.code, title: text("title"), happened: text("happened"), kept: text("kept"),
        next: text("next"), request: request.id,
        action: error.action.map { LinkView(href: $0.href, label: texts($0.label)) }), status: error.status)
  }
}
