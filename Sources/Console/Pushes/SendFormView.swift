import Mustache
import Delivery
import Model
import OpenSSL

/// `/pushes/new`: the send form.
struct SendFormView: PageView {
  static let template = "pushes/new"
  static let section: Section? = .send

  let form: Form
  let errors: FieldErrors
  /// A problem that belongs to no field.
  let problem: String?
  /// Whether the form was opened empty, so that a saved draft may be restored.
  let isFresh: Bool
  let hasApps: Bool
  let apps: [ChoiceView]
  let platforms: [ChoiceView]
  let channels: [ChoiceView]
  let interruptionLevels: [ChoiceView]
  let priorities: [ChoiceView]
  let pushTypes: [ChoiceView]
  let texts: Texts
  let preview: PushPreviewView
  let pasted: PastedPushView
  /// What the rules of the apps' pages name.
  let links: [String]
  /// Whether the person may send to production.
  let mayProduce: Bool
  /// The name of the person's own device, to try the push out on; nil: there is none.
  let ownDevice: String?
  /// Some of the app's, for browsers without script.
  let names: AudienceNames

  static let fields: [Field<Self>] = typed + chosen + state

  private static let typed: [Field<Self>] =
    SendForm.fields.filter { !lists.contains($0) && $0 != "jpush" }.map { text($0) } + checks.map { check($0) }
    + [
      // On the page only for a push that has them: one that was read from JPush's API, or has a raw payload.
      .view("jpush") { $0.isUsed(["jpush"]) ? FieldView(value: $0.form.raw("jpush"), error: $0.errors["jpush"]) : nil },
      .view("identified") { view in
        let isChecked = view.form.has("identified")
        return isChecked || view.isUsed(["payload"]) ? FieldView(isChecked: isChecked) : nil
      },
    ]

  private static let chosen: [Field<Self>] = [
    choice("app") { $0.apps },
    choice("environment") { SendForm(form: $0.form).environments($0.texts, mayProduce: $0.mayProduce) },
    choice("platforms") { $0.platforms },
    choice("audience") { SendForm(form: $0.form).audiences($0.texts, hasChannels: $0.channels.count > 1) },
    choice("channel") { $0.channels },
    choice("interruption_level") { $0.interruptionLevels },
    choice("priority") { $0.priorities },
    choice("push_type") { $0.pushTypes },
    choice("when") { SendForm(form: $0.form).whens($0.texts) },
    choice("every") { SendForm(form: $0.form).intervals($0.texts) },
    choice("weekdays") { SendForm(form: $0.form).weekdays($0.texts) },
    choice("day") { SendForm(form: $0.form).days($0.texts) },
    choice("time_zone") { SendForm(form: $0.form).zones() },
    choice("speed") { SendForm(form: $0.form).speeds($0.texts) },
  ]

  private static let state: [Field<Self>] = [
    .flag("fresh") { $0.isFresh },
    .flag("may_produce") { $0.mayProduce },
    .flag("has_apps") { $0.hasApps },
    .optional("problem") { $0.problem },
    .flag("all_zones") { $0.form.has(SendForm.allZones) },
    .flag("zone_chosen") { !$0.form["time_zone"].isEmpty },
    .flag("open_content") { $0.isUsed(content) || $0.isChecked(["content_available", "mutable_content"]) },
    .flag("open_languages") { view in
      !SendForm(form: view.form).rows.isEmpty || !view.errors[SendForm.rowsField].isEmpty
    },
    .view("localizations") { FieldView(error: $0.errors[SendForm.rowsField]) },
    .list("language_rows") { view in
      SendForm(form: view.form).rows.map { LanguageRowView(number: "\($0)", form: view.form, errors: view.errors) }
    },
    .view("language_row") { _ in LanguageRowView(number: "N", form: Form(), errors: FieldErrors()) },
    .list("common_languages") { _ in LanguageTag.common.map { ChoiceView(value: $0, label: $0) } },
    .flag("open_raw") { $0.isUsed(["payload", "android", "jpush"]) },
    .flag("open_how") { $0.isUsed(delivery) || $0.isChecked(["at_most_once"]) },
    .view("preview") { $0.preview },
    .view("paste") { $0.pasted },
    .text("draft") { $0.form["draft"] },
    .flag("is_draft") { !$0.form["draft"].isEmpty },
    .optional("own_device") { $0.ownDevice },
    .text("own_key") { $0.ownDevice == nil ? "" : Random.token(bytes: 18) },
    .list("tag_names") { $0.names.tags },
    .list("segment_names") { $0.names.segments },
    .list("links") { $0.links.map { ChoiceView(value: $0, label: $0) } },
  ]

  /// Selected from a list, though the API takes them as texts.
  private static let lists = ["interruption_level", "priority", "push_type"]
  private static let checks = ["content_available", "mutable_content", "at_most_once"]
  /// Fields in sections that are collapsed until used.
  private static let content = ["category", "thread_id", "interruption_level", "image", "link", "extras"]
  private static let delivery = ["time_to_live", "priority", "push_type", "collapse_id", "apns_headers"]

  private static func text(_ name: String) -> Field<Self> {
    .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
  }

  private static func check(_ name: String) -> Field<Self> {
    .view(name) { FieldView(error: $0.errors[name], isChecked: $0.form.has(name)) }
  }

  private static func choice(_ name: String, _ choices: @escaping @Sendable (Self) -> [ChoiceView]) -> Field<Self> {
    .view(name) { FieldView(error: $0.errors[name], choices: choices($0)) }
  }

  private func isChecked(_ names: [String]) -> Bool { names.contains { form.has($0) } }

  private func isUsed(_ names: [String]) -> Bool {
    names.contains { !form[$0].isEmpty || !errors[$0].isEmpty }
  }
}

/// The review page: what will be sent, and the Send button.
struct SendReviewView: PageView {
  static let template = "pushes/confirm"
  static let section: Section? = .send

  /// Asks what the button does; names the page while problems block sending.
  let heading: String
  let isProduction: Bool
  let idempotencyKey: String
  /// The submitted values, as hidden fields.
  let kept: [HiddenFieldView]
  let preview: PushPreviewView
  /// The problems that block sending.
  let problems: [FindingView]
  /// What the push services answered to the question whether they would take it; empty: they were not asked.
  let services: [ServiceAnswerRow]
  /// Whether a service can be asked.
  let canValidate: Bool
  /// The request to type the app's name; nil if it is not needed.
  let question: String?
  let confirm: FieldView
  /// Whether it waits for a second person's approval.
  let waits: Bool
  let send: String

  static let fields: [Field<Self>] = [
    .text("heading") { $0.heading },
    .flag("production") { $0.isProduction },
    .text("idempotency_key") { $0.idempotencyKey },
    .list("fields") { $0.kept },
    .view("preview") { $0.preview },
    .flag("has_repair") { view in
      !view.preview.languages.isEmpty || (view.preview.findings + view.problems).contains { $0.fix != nil }
    },
    .list("problems") { $0.problems },
    .flag("has_problems") { !$0.problems.isEmpty },
    .list("services") { $0.services },
    .flag("has_services") { !$0.services.isEmpty },
    .flag("can_validate") { $0.canValidate },
    .optional("must_type") { $0.question },
    .view("confirm") { $0.question == nil ? nil : $0.confirm },
    .flag("waits") { $0.waits },
    .text("send") { $0.send },
  ]
}

/// A push service's answer to the question whether it would take a push.
struct ServiceAnswerRow: View {
  let service: String
  let answer: PushValidation.Answer
  let text: String

  init(_ validation: PushValidation, _ texts: Texts) {
    (service, answer) = (validation.provider.name, validation.answer)
    let said = texts("confirm.service_\(validation.answer.rawValue)")
    guard let reason = validation.reason else {
      text = said
      return
    }
    let cause = texts.known("messages." + reason.causeCode) ?? reason.cause
    let remedy = texts.known("messages." + reason.remedyCode) ?? reason.remedy
    text = [said, "\(reason.code):", cause, remedy].sentences
  }

  static let fields: [Field<Self>] = [
    .text("service") { $0.service },
    .flag("accepted") { $0.answer == .accepted },
    .flag("failed") { $0.answer == .refused },
    .flag("undecided") { $0.answer == .undecided },
    .text("text") { $0.text },
  ]
}

/// A hidden form field.
struct HiddenFieldView: View {
  let name: String
  let value: String

  static let fields: [Field<Self>] = [.text("name") { $0.name }, .text("value") { $0.value }]
}
