import Mustache
import Model
import Store

/// The fields of the add and edit forms, for `apps/_fields`.
struct AppFormView: View {
  static let names = ["name", "bundle_id", "package_name", "alias_rule"]

  let form: Form
  let errors: FieldErrors
  let rules: [ChoiceView]
  /// An existing app's bundle ID cannot be changed.
  let isKnown: Bool

  init(_ form: Form, _ errors: FieldErrors, _ texts: Texts, isKnown: Bool) {
    self.form = form
    self.errors = errors
    self.isKnown = isKnown
    rules = ChoiceView.list(
      AliasRule.allCases.map { ($0.rawValue, texts("apps.alias_rule_\($0.rawValue)")) },
      chosen: form["alias_rule"].isEmpty ? AliasRule.none.rawValue : form["alias_rule"])
  }

  static let fields: [Field<AppFormView>] =
    ["name", "bundle_id", "package_name"].map { name in
      .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
    } + [
      .view("alias_rule") { FieldView(error: $0.errors["alias_rule"], choices: $0.rules) },
      .flag("is_known") { $0.isKnown },
      .optional("problem") { $0.errors.others(names) },
      .optional("revision") { $0.form.filled(Revision.field) },
    ]
}

struct NewAppView: PageView {
  static let template = "apps/new"
  static let section: Section? = .apps

  let form: AppFormView

  static let fields: [Field<Self>] = [.view("form") { $0.form }]
}

struct AppEditView: PageView {
  static let template = "apps/edit"
  static let section: Section? = .apps

  let app: App
  let form: AppFormView

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("title") { $0.app.name },
    .view("form") { $0.form },
  ]
}

/// Asks for confirmation before an app is deleted, and lists what is deleted with it.
struct AppRemovalView: PageView {
  static let template = "apps/remove"
  static let section: Section? = .apps

  let app: App
  let belongings: App.Belongings
  let typed: String
  let error: String

  static let fields: [Field<AppRemovalView>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("app") { $0.app.name },
    .flag("has_belongings") { view in
      let all = view.belongings
      return all.devices + all.pushes + all.credentials + all.schedules + all.smokeTests + all.webhooks > 0
    },
    .view("devices") { $0.devices },
    .view("pushes") { $0.pushes },
    .view("credentials") { $0.credentials },
    .view("schedules") { $0.schedules },
    .view("smoke_tests") { Self.count($0.belongings.smokeTests) },
    .view("webhooks") { Self.count($0.belongings.webhooks) },
    .view("confirm") { FieldView(value: $0.typed, error: $0.error) },
  ]

  private var devices: CountView? { Self.count(belongings.devices) }
  private var pushes: CountView? { Self.count(belongings.pushes) }
  private var credentials: CountView? { Self.count(belongings.credentials) }
  private var schedules: CountView? { Self.count(belongings.schedules) }

  /// Nil for zero, so that the page leaves the line out.
  private static func count(_ count: Int) -> CountView? { count > 0 ? CountView(count: count) : nil }
}
