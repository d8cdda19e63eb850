import Foundation
import Model
import Mustache
import Store

/// `/settings/webhooks`.
struct WebhookListView: PageView {
  static let template = "webhooks/index"
  static let section: Section? = .settings

  let exports: ExportLinks
  let webhooks: [WebhookRow]

  static let fields: [Field<Self>] = [
    .view("exports") { $0.webhooks.isEmpty ? nil : $0.exports },
    .flag("has_webhooks") { !$0.webhooks.isEmpty }, .list("webhooks") { $0.webhooks },
  ]
}

struct WebhookRow: View {
  let webhook: Webhook
  /// The app whose events it is told of.
  let app: String
  let texts: Texts

  static let fields: [Field<Self>] = [
    .text("href") { "/settings/webhooks/\($0.webhook.id)" },
    .text("name") { $0.webhook.details.name },
    .text("target") { $0.webhook.details.target },
    .text("app") { $0.app },
    .text("events") { row in
      Webhook.Event.allCases.filter(row.webhook.details.events.contains).map(\.rawValue)
        .joined(separator: row.texts("between.words"))
    },
    .text("tone") { $0.webhook.tone },
    .text("state") { $0.webhook.word($0.texts) },
  ]
}

extension Webhook {
  /// As “3 waiting, 1 dropped”; empty if nothing is.
  func waiting(_ texts: Texts) -> String {
    let counts = [("webhooks.waiting", pending), ("webhooks.dropped", dropped)]
    return texts.clauses(counts.filter { $0.1 > 0 }.map { texts.counted($0.1, texts($0.0)) })
  }

  fileprivate var tone: String {
    guard details.isActive else { return goneAt == nil ? "none" : "red" }
    return failures > 0 ? "red" : "green"
  }

  fileprivate func word(_ texts: Texts) -> String {
    guard details.isActive else { return texts(goneAt == nil ? "webhooks.off" : "webhooks.gone") }
    return texts(failures > 0 ? "webhooks.failing" : "webhooks.on")
  }
}

/// `/settings/webhooks/:id`: one webhook, or a new one.
struct WebhookView: PageView {
  static let template = "webhooks/show"
  static let section: Section? = .settings

  /// Nil: a new one.
  let webhook: Webhook?
  let texts: Texts
  let form: Form
  let errors: FieldErrors
  let events: [ChoiceView]
  let apps: [ChoiceView]
  /// Only when it was just made.
  let secret: String?
  let test: TestResult?
  let deliveries: [WebhookDeliveryRow]
  /// Nil: a new one.
  let exports: ExportLinks?
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .text("title") { $0.webhook?.details.name ?? $0.texts("webhooks.add") },
    .text("action") { view in "/settings/webhooks" + (view.webhook.map { "/\($0.id)" } ?? "") },
    .flag("known") { $0.webhook != nil },
    .optional("target") { $0.webhook?.details.target },
    .optional("problem") { $0.errors.others(["name", "url", "app", "events"]) },
    .optional("revision") { $0.form.filled(Revision.field) },
    .text("tone") { $0.webhook?.tone ?? "" },
    .text("state") { $0.webhook?.word($0.texts) ?? "" },
    .text("waiting") { $0.webhook?.waiting($0.texts) ?? "" },
    .view("failing_since") { $0.webhook?.failingSince.map { MomentView(date: $0) } },
    .view("next_try") { view in
      view.webhook.flatMap { $0.failures > 0 && $0.pending > 0 && $0.details.isActive ? $0.nextTryAt : nil }
        .map { MomentView(date: $0) }
    },
    .view("gone_at") { $0.webhook?.goneAt.map { MomentView(date: $0) } },
    .optional("secret") { $0.secret },
    .view("test") { $0.test },
    .view("name_field") { FieldView(value: $0.form.raw("name"), error: $0.errors["name"]) },
    .view("url") { FieldView(value: $0.form.raw("url"), error: $0.errors["url"]) },
    .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    .view("events") { FieldView(error: $0.errors["events"], choices: $0.events) },
    .flag("active") { $0.form["active"] == "yes" },
    .flag("has_deliveries") { !$0.deliveries.isEmpty },
    .list("deliveries") { $0.deliveries },
    .view("exports") { $0.deliveries.isEmpty ? nil : $0.exports },
    .view("pager") { $0.pager },
  ]
}

/// One event in the list of deliveries.
struct WebhookDeliveryRow: View {
  let delivery: WebhookDelivery
  let webhook: Int64
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("type") { $0.delivery.type },
    .text("uid") { $0.delivery.uid },
    .text("tone") { row in
      switch row.delivery.state {
      case .pending: row.delivery.attempts > 0 ? "amber" : "none"
      case .delivered: "green"
      case .failed, .dropped: "red"
      }
    },
    .text("state") { $0.texts("webhooks.states.\($0.delivery.state.rawValue)") },
    .optional("status") { $0.delivery.status.map(String.init) },
    .optional("ms") { row in row.delivery.triedAt.flatMap { _ in row.delivery.milliseconds.map(String.init) } },
    .number("attempts") { $0.delivery.attempts },
    .flag("repeated") { $0.delivery.attempts > 1 },
    .optional("answer") { row in
      row.delivery.state == .delivered ? nil : row.delivery.answer.map(row.texts.answer)
    },
    .flag("unanswered") { $0.delivery.triedAt != nil && $0.delivery.status == nil },
    .view("at") { MomentView(date: $0.delivery.triedAt ?? $0.delivery.createdAt, now: $0.now) },
    .flag("may_repeat") { $0.delivery.state != .pending || $0.delivery.attempts > 0 },
    .text("again") { "/settings/webhooks/\($0.webhook)/deliveries/\($0.delivery.uid)/again" },
  ]
}

/// `/settings/webhooks/:id/remove`: asks before a webhook is deleted.
struct WebhookRemoveView: PageView {
  static let template = "webhooks/remove"
  static let section: Section? = .settings

  let name: String
  let href: String
  let pending: Int

  static let fields: [Field<Self>] = [
    .text("name") { $0.name }, .text("href") { $0.href },
    .view("waiting") { $0.pending > 0 ? CountView(count: $0.pending) : nil },
  ]
}
