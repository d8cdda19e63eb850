import Mustache

struct SignInView: PageView {
  static let template = "session/new"
  static let section: Section? = nil

  /// Why the sign-in failed.
  var problem: String?
  /// Why the page before was left.
  var notice: String?
  /// The path to open after sign-in.
  let returnTo: String
  let email: String
  /// The way to the provider; nil if there is none.
  let provider: LinkView?
  let allowsPasswords: Bool

  static let fields: [Field<Self>] = [
    .optional("problem") { $0.problem },
    .optional("notice") { $0.notice },
    .text("return") { $0.returnTo },
    .view("provider") { $0.provider },
    .flag("passwords") { $0.allowsPasswords },
    .view("email") { FieldView(value: $0.email) },
    .view("password") { _ in FieldView() },
  ]
}

/// `/session/setup`: a one-time link that sets a first or new password.
struct SetupView: PageView {
  static let template = "session/setup"
  static let section: Section? = nil

  /// Nil: the link has expired or was used, or its token is not known yet.
  let form: SetupFormView?
  /// Whether the token stands where only the browser sees it.
  var asksForCode = false

  static let fields: [Field<Self>] = [
    .view("form") { $0.form },
    .flag("asks") { $0.asksForCode },
    .flag("spent") { $0.form == nil && !$0.asksForCode },
    .view("token") { _ in FieldView() },
  ]
}

struct SetupFormView: View {
  let token: String
  /// Whether it creates the first administrator, who also chooses an email address.
  let isFirst: Bool
  let email: String
  let errors: FieldErrors

  static let fields: [Field<Self>] = [
    .text("token") { $0.token },
    .flag("first") { $0.isFirst },
    .view("email") { FieldView(value: $0.email, error: $0.errors["email"]) },
    .view("password") { FieldView(error: $0.errors["password"]) },
    .view("repeat") { FieldView(error: $0.errors["repeat"]) },
  ]
}
