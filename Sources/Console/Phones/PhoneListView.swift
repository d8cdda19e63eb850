import Mustache
import Model

/// `/phones`: the simulator's phones, and the errors that it simulates.
struct PhoneListView: PageView {
  static let template = "phones/index"
  static let section: Section? = .phones

  let phones: [PhoneCard]
  let faults: [PhoneFaultsView]
  /// What goes wrong on purpose now, in words.
  let active: String

  static let fields: [Field<Self>] = [
    .list("phones") { $0.phones },
    .number("count") { $0.phones.count },
    .view("notice") { $0.active.isEmpty ? nil : FaultNotice(faults: $0.active) },
    .list("environments") { $0.faults },
  ]
}

/// The place of the text that says what goes wrong on purpose.
struct FaultNotice: View {
  let faults: String

  static let fields: [Field<Self>] = [.text("faults") { $0.faults }]
}

/// The form that sets what an environment's simulator answers next.
struct PhoneFaultsView: View {
  let environment: Environment
  let name: String
  /// What it does now; nil: nothing is wrong.
  let active: String?
  let kinds: [ChoiceView]
  let count: String
  let error: String

  static let fields: [Field<Self>] = [
    .text("key") { $0.environment.rawValue },
    .text("environment") { $0.name },
    .flag("production") { $0.environment == .production },
    .optional("fault") { $0.active },
    .view("kind") { FieldView(choices: $0.kinds) },
    .view("number") { FieldView(value: $0.count, error: $0.error) },
  ]
}

/// `/phones/new`: the form that adds a phone.
struct NewPhoneView: PageView {
  static let template = "phones/new"
  static let section: Section? = .phones

  let form: Form
  let errors: FieldErrors
  let hasApps: Bool
  let apps: [ChoiceView]
  let environments: [ChoiceView]

  private static let typed = ["name", "alias", "tags"]

  static let fields: [Field<NewPhoneView>] =
    typed.map { name in .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) } } + others

  private static let others: [Field<NewPhoneView>] = [
    .optional("problem") { $0.errors.others(typed + ["app", "environment"]) },
    .flag("has_apps") { $0.hasApps },
    .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    .view("environment") { FieldView(error: $0.errors["environment"], choices: $0.environments) },
    .view("register") { FieldView(isChecked: $0.form.has("register")) },
  ]
}

/// `/phones` without the simulator.
struct NoPhonesView: PageView {
  static let template = "phones/stopped"
  static let section: Section? = .phones

  static let fields: [Field<Self>] = []
}
