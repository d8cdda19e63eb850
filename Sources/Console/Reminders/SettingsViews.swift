import Mustache

struct SettingsView: PageView {
  static let template = "settings/index"
  static let section: Section? = .settings

  static let fields: [Field<Self>] = []
}

struct SettingsSection: View {
  let href: String
  let title: String
  let text: String
  /// The `aria-current` of its tab: `page` on the section's own page, `true` on the pages below.
  let current: String?

  static let fields: [Field<Self>] = [
    .text("href") { $0.href }, .text("title") { $0.title }, .text("text") { $0.text },
    .optional("current") { $0.current },
  ]
}

/// The result of a test message, for `settings/_test`.
struct TestResult: View {
  let isGood: Bool
  let text: String
  /// The other server's answer.
  let answer: String

  static let fields: [Field<Self>] = [
    .flag("good") { $0.isGood }, .text("text") { $0.text }, .text("answer") { $0.answer },
  ]
}

struct MailSettingsView: PageView {
  static let template = "settings/mail"
  static let section: Section? = .settings

  let form: Form
  let errors: FieldErrors
  let securities: [ChoiceView]
  let hasPassword: Bool
  let canTest: Bool
  /// Where links in messages lead if no public address is configured.
  let links: String
  /// The receiver of the test message.
  let to: String
  var test: TestResult?

  static let fields: [Field<MailSettingsView>] = typed + others

  /// Fields filled in as submitted.
  private static var typed: [Field<MailSettingsView>] {
    // Prefixed, because `user` is the signed-in person in every template.
    ["host", "port", "user", "from", "from_name", "trust"].map { name in
      .view("mail_\(name)") { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
    }
  }

  private static let named = ["host", "port", "user", "password", "security", "from", "from_name", "trust", "to"]

  private static let others: [Field<MailSettingsView>] = [
    .optional("problem") { $0.errors.others(named) },
    .optional("revision") { $0.form.filled(Revision.field) },
    .view("password") { FieldView(error: $0.errors["password"]) },
    .view("security") { FieldView(error: $0.errors["security"], choices: $0.securities) },
    .flag("has_password") { $0.hasPassword },
    .flag("can_test") { $0.canTest },
    .text("links") { $0.links },
    .view("to") { FieldView(value: $0.to, error: $0.errors["to"]) },
    .view("test") { $0.test },
  ]
}

/// `/settings/receivers`: the receivers of reminders.
struct ReceiverListView: PageView {
  static let template = "settings/receivers"
  static let section: Section? = .settings

  let receivers: [ReceiverRow]
  /// Links that add a receiver, one per channel.
  let channels: [LinkView]
  /// Nil: there is nothing to export.
  let exports: ExportLinks?
  var test: TestResult?

  static let fields: [Field<Self>] = [
    .view("exports") { $0.exports },
    .number("count") { $0.receivers.count },
    .flag("has_receivers") { !$0.receivers.isEmpty },
    .list("receivers") { $0.receivers },
    .list("channels") { $0.channels },
    .view("test") { $0.test },
  ]
}

struct ReceiverRow: View {
  let href: String
  let name: String
  let channel: String
  let target: String
  let language: String
  /// The app whose certificates it is reminded about.
  let app: String
  let isActive: Bool

  static let fields: [Field<Self>] = [
    .text("href") { $0.href },
    .text("name") { $0.name },
    .text("channel") { $0.channel },
    .text("target") { $0.target },
    .text("language") { $0.language },
    .text("app") { $0.app },
    .flag("active") { $0.isActive },
  ]
}

/// `/settings/receivers/:id`: one receiver, or a new one.
struct ReceiverView: PageView {
  static let template = "settings/receiver"
  static let section: Section? = .settings

  let title: String
  /// Nil for a new receiver.
  let name: String?
  let action: String
  let channel: String
  let channelName: String
  let isMail: Bool
  let signs: Bool
  let addressHint: String
  /// The host of a stored webhook address, which is not shown in full.
  let keptHost: String?
  let form: Form
  let errors: FieldErrors
  let languages: [ChoiceView]
  let apps: [ChoiceView]

  static let fields: [Field<Self>] = [
    .text("title") { $0.title },
    .optional("name") { $0.name },
    .flag("known") { $0.name != nil },
    .text("action") { $0.action },
    .text("channel") { $0.channel },
    .text("channel_name") { $0.channelName },
    .flag("mail") { $0.isMail },
    .text("address_hint") { $0.addressHint },
    .optional("kept_host") { $0.keptHost },
    .optional("problem") { $0.errors.others(["name", "address", "secret", "language", "app"]) },
    .optional("revision") { $0.form.filled(Revision.field) },
    .view("name_field") { FieldView(value: $0.form.raw("name"), error: $0.errors["name"]) },
    .view("address") { FieldView(value: $0.form.raw("address"), error: $0.errors["address"]) },
    .view("secret") { $0.signs ? FieldView(error: $0.errors["secret"]) : nil },
    .view("language") { FieldView(error: $0.errors["language"], choices: $0.languages) },
    .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    .flag("active") { $0.form["active"] == "yes" },
    .flag("incidents") { $0.form["incidents"] == "yes" },
  ]
}
