import Mustache

/// `/settings`: what can be set up.
struct SettingsView: PageView {
  static let template = "settings/index"
  static let section: Section? = .settings

  let sections: [SettingsSection]

  static let fields: [Field<Self>] = [.list("sections") { $0.sections }]
}

struct SettingsSection: View {
  let href: String
  let title: String
  /// What is set up there.
  let text: String

  static let fields: [Field<Self>] = [
    .text("href") { $0.href }, .text("title") { $0.title }, .text("text") { $0.text },
  ]
}

/// How a test message ended, for `settings/_test`.
struct TestResult: View {
  let isGood: Bool
  let text: String
  /// The other side's words.
  let answer: String

  static let fields: [Field<Self>] = [
    .flag("good") { $0.isGood }, .text("text") { $0.text }, .text("answer") { $0.answer },
  ]
}

/// `/settings/mail`: the mail server, and a test of it.
struct MailSettingsView: PageView {
  static let template = "settings/mail"
  static let section: Section? = .settings

  let form: Form
  let errors: FieldErrors
  let securities: [ChoiceView]
  let hasPassword: Bool
  let canTest: Bool
  /// Whether messages cannot link to the console, because nobody said where people reach it.
  /// Where the links of messages lead, if the address is not configured.
  let links: String
  /// Where the test goes.
  let to: String
  var test: TestResult?

  static let fields: [Field<MailSettingsView>] = typed + others

  /// What comes back as it was typed.
  private static var typed: [Field<MailSettingsView>] {
    // Each under a name of its own: `user` is who looks at the page.
    ["host", "port", "user", "from", "from_name", "trust"].map { name in
      .view("mail_\(name)") { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
    }
  }

  private static let others: [Field<MailSettingsView>] = [
    .view("password") { FieldView(error: $0.errors["password"]) },
    .view("security") { FieldView(error: $0.errors["security"], choices: $0.securities) },
    .flag("has_password") { $0.hasPassword },
    .flag("can_test") { $0.canTest },
    .text("links") { $0.links },
    .view("to") { FieldView(value: $0.to, error: $0.errors["to"]) },
    .view("test") { $0.test },
  ]
}

/// `/settings/receivers`: who is reminded.
struct ReceiverListView: PageView {
  static let template = "settings/receivers"
  static let section: Section? = .settings

  let receivers: [ReceiverRow]
  /// Ways to add one, by channel.
  let channels: [LinkView]
  var test: TestResult?

  static let fields: [Field<Self>] = [
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
  /// Whose certificates it is told about.
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

/// `/settings/receivers/:id`: one of them, or a new one.
struct ReceiverView: PageView {
  static let template = "settings/receiver"
  static let section: Section? = .settings

  let title: String
  /// Nil: a new one.
  let name: String?
  let action: String
  let channel: String
  let channelName: String
  let isMail: Bool
  /// Whether messages can be signed.
  let signs: Bool
  let addressHint: String
  /// The host of a webhook whose address is kept.
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
    .view("name_field") { FieldView(value: $0.form.raw("name"), error: $0.errors["name"]) },
    .view("address") { FieldView(value: $0.form.raw("address"), error: $0.errors["address"]) },
    .view("secret") { $0.signs ? FieldView(error: $0.errors["secret"]) : nil },
    .view("language") { FieldView(error: $0.errors["language"], choices: $0.languages) },
    .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    .flag("active") { $0.form["active"] == "yes" },
  ]
}
