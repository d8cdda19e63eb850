import Foundation
import Mustache
import OpenSSL
import Store

struct AccountView: PageView {
  static let template = "people/show"
  static let section: Section? = .account

  let email: String
  let facts: [FactView]
  let languages: [ChoiceView]
  /// Whether the person can sign in with a password.
  let hasPassword: Bool
  /// Whether a code of an authenticator app is asked for.
  let hasAuthenticator: Bool
  let passkeys: PasskeysView
  let errors: FieldErrors
  let sessions: [SessionRow]

  static let fields: [Field<Self>] = [
    .text("email") { $0.email },
    .list("facts") { $0.facts },
    .view("language") { FieldView(choices: $0.languages) },
    .flag("has_password") { $0.hasPassword },
    .flag("authenticator") { $0.hasAuthenticator },
    .view("passkeys") { $0.passkeys },
    .view("current") { FieldView(error: $0.errors["current"]) },
    .view("code") { FieldView(error: $0.errors["code"]) },
    .view("password") { FieldView(error: $0.errors["password"]) },
    .view("repeat") { FieldView(error: $0.errors["repeat"]) },
    .flag("any_others") { $0.sessions.count > 1 },
    .list("sessions") { $0.sessions },
  ]
}

struct SessionRow: View {
  let session: Session
  let texts: Texts
  /// Whether it is the session of this request.
  let isOwn: Bool
  let now: Date

  static let fields: [Field<Self>] = [
    .text("id") { $0.session.publicID },
    .text("browser") { row in
      BrowserName.short(row.session.userAgent, between: row.texts("between.clauses"))
        ?? row.texts("account.unknown_browser")
    },
    .text("address") { $0.session.address ?? "" },
    .flag("current") { $0.isOwn },
    .view("created") { MomentView(date: $0.session.createdAt, now: $0.now) },
    .view("seen") { MomentView(date: $0.session.seenAt, now: $0.now) },
  ]
}

extension Session {
  /// The start of the stored hash: it tells sessions apart and grants no access.
  var publicID: String { Base64URL.encode(idHash.prefix(9)) }
}
