import Mustache

/// `/session/new`: sign-in.
struct SignInView: PageView {
  static let template = "session/new"
  static let section: Section? = nil

  /// Why nobody came in.
  var problem: String?
  /// Where the way leads on.
  let returnTo: String
  let email: String

  static let fields: [Field<Self>] = [
    .optional("problem") { $0.problem },
    .text("return") { $0.returnTo },
    .view("email") { FieldView(value: $0.email) },
    .view("password") { _ in FieldView() },
  ]
}

/// `/session/setup`: a one-time link, for a first password or a new one.
struct SetupView: PageView {
  static let template = "session/setup"
  static let section: Section? = nil

  /// Nil: the link is spent.
  let form: SetupFormView?

  static let fields: [Field<Self>] = [.view("form") { $0.form }]
}

struct SetupFormView: View {
  let token: String
  /// Whether it makes the first administrator, who chooses an address too.
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
