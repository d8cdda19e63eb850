import Foundation
import Mustache
import Store

struct AccountView: PageView {
  static let template = "people/show"
  static let section: Section? = .account

  let email: String
  let facts: [FactView]
  let languages: [ChoiceView]
  let newToken: NewTokenView?
  let errors: FieldErrors
  let sessions: [SessionRow]
  /// Nil unless the person is an administrator.
  let tokens: TokensView?

  static let fields: [Field<Self>] = [
    .text("email") { $0.email },
    .list("facts") { $0.facts },
    .view("language") { FieldView(choices: $0.languages) },
    .view("new_token") { $0.newToken },
    .view("current") { FieldView(error: $0.errors["current"]) },
    .view("password") { FieldView(error: $0.errors["password"]) },
    .view("repeat") { FieldView(error: $0.errors["repeat"]) },
    .flag("any_others") { $0.sessions.count > 1 },
    .list("sessions") { $0.sessions },
    .view("tokens") { $0.tokens },
  ]
}

/// A new token, shown only once.
struct NewTokenView: View {
  let name: String
  let value: String
  /// The console's public address.
  let address: String

  static let fields: [Field<Self>] = [
    .text("name") { $0.name },
    .text("value") { $0.value },
    .text("curl") { "curl --header 'Authorization: Bearer \($0.value)' '\($0.address)/api/v1/apps'" },
  ]
}

struct SessionRow: View {
  let session: Session
  let publicID: String
  let browser: String
  /// Whether it is the session of this request.
  let isOwn: Bool

  static let fields: [Field<Self>] = [
    .text("id") { $0.publicID },
    .text("browser") { $0.browser },
    .text("address") { $0.session.address ?? "" },
    .flag("current") { $0.isOwn },
    .written("date") { $1.write(utc: $0.session.createdAt) },
    .view("seen") { MomentView(date: $0.session.seenAt) },
  ]
}

/// The API tokens, and the form that adds one.
struct TokensView: View {
  let tokens: [TokenRow]
  let name: FieldView
  let expires: FieldView
  let scopes: FieldView

  static let fields: [Field<Self>] = [
    .flag("has_tokens") { !$0.tokens.isEmpty },
    .list("tokens") { $0.tokens },
    .view("name") { $0.name },
    .view("expires") { $0.expires },
    .view("scopes") { $0.scopes },
  ]
}

struct TokenRow: View {
  let token: APIToken
  let scopes: [String]
  let state: String
  let isGood: Bool
  let now: Date

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.token.id)) },
    .text("name") { $0.token.name },
    .list("scopes") { $0.scopes },
    .view("created") { MomentView(date: $0.token.createdAt) },
    .view("last_used") { row in row.token.lastUsedAt.map { MomentView(date: $0, now: row.now) } },
    .view("expires") { $0.token.expiresAt.map { MomentView(date: $0) } },
    .text("state") { $0.state },
    .flag("good") { $0.isGood },
  ]
}
