import Mustache
import Model
import Simulator

/// The argument of the text that names the active errors.
struct FaultNotice: View {
  let faults: String

  static let fields: [Field<Self>] = [.text("faults") { $0.faults }]
}

/// The form that sets the errors that one server simulates.
struct PhoneFaultsView: View {
  let server: SimulatedServer
  let name: String
  /// Nil: no faults are active.
  let active: String?
  let kinds: [ChoiceView]
  let count: String
  let error: String

  static let fields: [Field<Self>] = [
    .text("key") { $0.server.rawValue },
    .text("environment") { $0.name },
    .flag("production") { $0.server == .production },
    .optional("fault") { $0.active },
    .view("kind") { FieldView(choices: $0.kinds) },
    .view("number") { FieldView(value: $0.count, error: $0.error) },
  ]
}

struct NewPhoneView: PageView {
  static let template = "phones/new"
  static let section: Section? = .phones

  let form: Form
  let errors: FieldErrors
  let hasApps: Bool
  let apps: [ChoiceView]
  let environments: [ChoiceView]
  let platforms: [ChoiceView]
  let providers: [ChoiceView]
  /// Some of the app's, for browsers without script.
  let tags: [String]

  private static let typed = ["name", "alias", "tags"]

  static let fields: [Field<NewPhoneView>] =
    typed.map { name in .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) } } + others

  private static let others: [Field<NewPhoneView>] = [
    .optional("problem") { $0.errors.others(typed + ["app", "environment", "platform"]) },
    .flag("has_apps") { $0.hasApps },
    .list("tag_names") { $0.tags },
    .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    .view("environment") { FieldView(error: $0.errors["environment"], choices: $0.environments) },
    .view("platform") { FieldView(error: $0.errors["platform"], choices: $0.platforms) },
    .view("provider") { FieldView(choices: $0.providers) },
    .view("register") { FieldView(isChecked: $0.form.has("register")) },
  ]
}

/// Asks before a phone is deleted.
struct RemovePhoneView: PageView {
  static let template = "phones/remove"
  static let section: Section? = .phones

  let phone: SimulatedPhone

  static let fields: [Field<Self>] = [.written("id") { $1.write(Int($0.phone.id)) }, .text("name") { $0.phone.name }]
}

/// Shown when the simulator is not running.
struct NoPhonesView: PageView {
  static let template = "phones/stopped"
  static let section: Section? = .phones

  static let fields: [Field<Self>] = []
}
