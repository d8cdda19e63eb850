import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import Providers
import Reactor
import SQLite
import Store

/// `/apps/:id/topics`: an app's topics of FCM, and the rules that keep its devices subscribed.
enum TopicPages {
  static let views: [any PageView.Type] = [TopicListView.self]

  private static let export = ListExportRoutes<Topic>(
    path: "/apps/:id/topics", action: "topic.export",
    columns: ["name", "environment", "subscribed", "pending", "refused", "created_at"]
  ) { page in
    let app = try await AppPages.find(page)
    return { database, _, _ in Page(items: try Topic.all(database, app: app.id), next: nil) }
  }

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/apps/:id/topics") { page in try await show(page) }
    export.add(to: &routes)
    routes.page(.post, "/apps/:id/topics/rules", role: .operator) { page in
      let app = try await AppPages.find(page)
      try page.check(sendingIn: .production)
      let rules = Set(page.form.all("rules").compactMap(TopicRule.init))
      _ = try await TopicsAPI.set(rules, app, for: page)
      return page.redirect(to: "/apps/\(app.id)/topics", flash: "topic_rules_saved")
    }
    for joins in [true, false] {
      routes.page(.post, "/apps/:id/topics/\(joins ? "subscribe" : "unsubscribe")", role: .operator) { page in
        try await change(page, joins: joins)
      }
    }
  }

  private static func change(_ page: PageContext, joins: Bool) async throws -> Response {
    let app = try await AppPages.find(page)
    let texts = page.texts
    guard let environment = Environment(rawValue: page.form["environment"]) else {
      return try await show(page, problem: texts("topics.no_environment"))
    }
    let topic = page.form["topic"]
    if let problem = TopicCondition.problem(withTopic: topic) {
      return try await show(page, problem: texts.line(problem))
    }
    let written = TokenList.texts(page.form.raw("tokens"))
    var tokens: [DeviceToken] = []
    for text in written {
      do throws(Problem) {
        tokens.append(try DeviceToken(parsing: text, platform: .android))
      } catch {
        return try await show(page, problem: texts.line(error))
      }
    }
    guard (1...TopicBatch.limit).contains(tokens.count) else {
      return try await show(page, problem: texts("topics.token_count", ["limit": TopicBatch.limit.grouped]))
    }
    try page.check(
      sendingIn: try await page.store.read { try ProductionGuard($0, app: app.id, topicsIn: environment).environment })
    do {
      let results = try await page.console.engine.topics.change(
        TopicBatch(topic: topic, joins: joins, tokens: tokens), app: app, environment, by: page.author)
      guard results.contains(where: { $0 != .done }) else {
        return page.redirect(to: "/apps/\(app.id)/topics", flash: joins ? "topic_joined" : "topic_left")
      }
      return try await show(page, results: zip(tokens, results).compactMap { TopicResultRow($0, $1, texts) })
    } catch {
      return try await show(page, problem: try page.trouble(error))
    }
  }

  private static func show(
    _ page: PageContext, problem: String? = nil, results: [TopicResultRow] = []
  ) async throws -> Response {
    let app = try await AppPages.find(page)
    let (topics, changes, rules, delays) = try await page.store.read { database in
      (
        try Topic.all(database, app: app.id), try TopicChange.all(database, app: app.id),
        try TopicRules.find(database, app: app.id), try TopicSubscription.delays(database, app: app.id)
      )
    }
    let texts = page.texts
    let view = TopicListView(
      app: app, exports: ExportLinks(page, "/apps/\(app.id)/topics"), problem: problem, results: results,
      mayChange: page.may(.operator),
      rules: TopicRule.allCases.map {
        ChoiceView(
          value: $0.rawValue, label: texts("topics.rule_\($0.rawValue)", ["topic": $0.example]),
          isSelected: rules.rules.contains($0))
      },
      ruleNames: texts.phrases(
        TopicRule.allCases.filter(rules.rules.contains).map {
          texts("topics.rule_\($0.rawValue)", ["topic": $0.example])
        }),
      unchecked: rules.unchecked,
      pending: topics.reduce(0) { $0 + $1.pending },
      delays: delays.map { delay in
        let reason = Reason.of(delay.reason)
        return TopicDelayView(
          count: delay.count.grouped, reason: delay.reason,
          cause: texts.known("messages." + reason.causeCode) ?? reason.cause,
          next: MomentView(date: delay.next, now: page.now))
      },
      rows: topics.map { topic in
        SubscribedTopicRow(
          topic: topic, app: app, environment: topic.environment.word(texts), mayChange: page.may(.operator))
      },
      changes: changes.map {
        TopicChangeRow(
          change: $0, audience: $0.audience.text(texts), environment: $0.environment.word(texts), now: page.now)
      },
      topic: page.form["topic"], tokens: page.form.raw("tokens"),
      environments: SendForm(form: page.form).environments(texts))
    return page.answer(view, status: problem == nil ? .ok : .unprocessableContent)
  }
}

/// `/apps/:id/topics`.
struct TopicListView: PageView {
  static let template = "audiences/topics"
  static let section: Section? = .apps

  let app: App
  let exports: ExportLinks
  /// Why nothing was changed; nil if it was, or there was nothing to change.
  let problem: String?
  /// The tokens of the last change that are not done.
  let results: [TopicResultRow]
  let mayChange: Bool
  let rules: [ChoiceView]
  let ruleNames: String
  let unchecked: Int
  let pending: Int
  let delays: [TopicDelayView]
  let rows: [SubscribedTopicRow]
  let changes: [TopicChangeRow]
  let topic: String
  let tokens: String
  let environments: [ChoiceView]

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("app") { $0.app.name },
    .view("exports") { $0.rows.isEmpty ? nil : $0.exports },
    .optional("problem") { $0.problem },
    .list("results") { $0.results },
    .flag("has_results") { !$0.results.isEmpty },
    .flag("may_change") { $0.mayChange },
    .view("rules") { FieldView(choices: $0.rules) },
    .text("rule_names") { $0.ruleNames.isEmpty ? "–" : $0.ruleNames },
    .text("pending") { $0.pending.grouped },
    .text("unchecked") { $0.unchecked.grouped },
    .flag("underway") { $0.pending + $0.unchecked > 0 },
    .list("delays") { $0.delays },
    .list("rows") { $0.rows },
    .flag("has_rows") { !$0.rows.isEmpty },
    .list("changes") { $0.changes },
    .flag("has_changes") { !$0.changes.isEmpty },
    .view("topic") { FieldView(value: $0.topic) },
    .view("tokens") { FieldView(value: $0.tokens) },
    .view("environment") { FieldView(choices: $0.environments) },
  ]
}

/// Changes that wait for the same reason.
struct TopicDelayView: View {
  let count: String
  let reason: String
  let cause: String
  let next: MomentView

  static let fields: [Field<Self>] = [
    .text("count") { $0.count },
    .text("reason") { $0.reason },
    .text("cause") { $0.cause },
    .view("next") { $0.next },
  ]
}

/// A token whose subscription was not changed.
struct TopicResultRow: View {
  let token: String
  let text: String

  /// - Returns: nil if it was changed.
  init?(_ token: DeviceToken, _ result: TopicResult, _ texts: Texts) {
    self.token = token.abbreviated
    switch result {
    case .done: return nil
    case .refused(let reason): text = Self.sentence(reason, texts)
    case .later(let reason, _): text = [texts("topics.later"), Self.sentence(reason, texts)].sentences
    }
  }

  static func sentence(_ reason: String, _ texts: Texts) -> String {
    let known = Reason.of(reason)
    return texts.labelled(reason, texts.known("messages." + known.causeCode) ?? known.cause)
  }

  static let fields: [Field<Self>] = [.text("token") { $0.token }, .text("text") { $0.text }]
}

struct SubscribedTopicRow: View {
  let topic: Topic
  let app: App
  let environment: String
  let mayChange: Bool

  static let fields: [Field<Self>] = [
    .text("name") { $0.topic.name },
    .text("environment") { $0.environment },
    .flag("production") { $0.topic.environment == .production },
    .text("subscribed") { $0.topic.subscribed.grouped },
    .text("pending") { $0.topic.pending.grouped },
    .text("refused") { $0.topic.refused.grouped },
    .flag("may_send") { $0.mayChange },
    .text("send") { row in
      let name = row.topic.name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      return "/pushes/new?app=\(row.app.bundleID)&environment=\(row.topic.environment.rawValue)&topic=\(name)"
    },
  ]
}
