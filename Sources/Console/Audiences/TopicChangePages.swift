import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import Providers
import SQLite
import Store

/// `/apps/:id/topics/audience` and `/apps/:id/topics/changes/:change`: subscribes an audience to a topic of FCM, and
/// shows what became of each device.
enum TopicChangePages {
  static let views: [any PageView.Type] = [TopicAudienceView.self, TopicChangeView.self]

  private static let pageSize = 50

  static func add(to routes: inout ConsoleRouter) {
    let path = "/apps/:id/topics/audience"
    routes.page(.get, path, role: .operator) { page in
      try await form(
        page, Form([("environment", page.filled("environment") ?? ""), ("topic", page.filled("topic") ?? "")]))
    }
    for joins in [true, false] {
      routes.page(.post, path + (joins ? "/subscribe" : "/unsubscribe"), role: .operator) { page in
        try await create(page, joins: joins)
      }
    }
    routes.page(.get, "/apps/:id/topics/changes/:change", show)
    export.add(to: &routes)
  }

  private static let export = ListExportRoutes<TopicChange.Member>(
    path: "/apps/:id/topics/changes/:change/devices", action: "device.export",
    columns: ["device", "token", "alias", "state", "reason", "next_at"]
  ) { page in
    let app = try await AppPages.find(page)
    let state = try state(page)
    let change = try await page.store.read { try find($0, page, app) }
    return { database, cursor, limit in
      try TopicChange.members(database, of: change, state: state, cursor: cursor, limit: limit)
    }
  }

  /// The filter of the devices.
  private static func state(_ page: PageContext) throws -> TopicChange.State? {
    try page.filter("state") { name in TopicChange.State.allCases.first { $0.name == name } }
  }

  private static func find(_ database: Database, _ page: PageContext, _ app: App) throws -> TopicChange {
    guard let change = try TopicChange.find(database, app: app.id, id: try page.id("change")) else {
      throw PageError(.notFound, "not_found")
    }
    return change
  }

  private static func form(
    _ page: PageContext, _ form: Form, errors: FieldErrors = FieldErrors()
  ) async throws -> Response {
    let app = try await AppPages.find(page)
    let tags = try await page.store.read { try AudienceNames($0, of: app).tags }
    return page.answer(
      TopicAudienceView(app: app, form: form, errors: errors, tags: tags, texts: page.texts),
      status: errors.status)
  }

  private static func create(_ page: PageContext, joins: Bool) async throws -> Response {
    let app = try await AppPages.find(page)
    var errors = FieldErrors()
    let topic = page.form["topic"]
    if let problem = TopicCondition.problem(withTopic: topic) { errors.add("topic", page.texts.text(problem)) }
    let environment = Environment(rawValue: page.form["environment"])
    if environment == nil { errors.add("environment", page.texts("topics.no_environment")) }
    do {
      let audience = try SendForm(form: page.form).deviceAudience(platforms: Set(ProviderKind.fcm.platforms))
      guard errors.isEmpty, let environment else { return try await form(page, page.form, errors: errors) }
      try page.check(sendingIn: environment)
      let author = page.author
      let change = try await page.store.write {
        try TopicKeeper.queue($0, topic: topic, joins: joins, audience, app: app, environment, by: author)
      }
      return page.redirect(to: "/apps/\(app.id)/topics/changes/\(change.id)", flash: "topic_queued")
    } catch let problems as Problems {
      for problem in problems.all { errors.add(problem.field, page.texts.text(problem)) }
      return try await form(page, page.form, errors: errors)
    }
  }

  private static func show(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    let state = try state(page)
    let pager = Pager(page.request)
    let (change, members) = try await page.store.read { database in
      let change = try find(database, page, app)
      let members = try TopicChange.members(database, of: change, state: state, cursor: pager.cursor, limit: pageSize)
      return (change, members)
    }
    let texts = page.texts
    return page.answer(
      TopicChangeView(
        app: app, change: change, audience: change.audience.text(texts),
        environment: change.environment.word(texts),
        states: [StateLink(state: nil, label: texts("topics.state_all"), count: change.devices, isHere: state == nil)]
          + TopicChange.State.allCases.map {
            StateLink(
              state: $0, label: texts("topics.state_\($0.name)"), count: change.count(of: $0), isHere: state == $0)
          },
        members: members.items.map { TopicMemberRow($0, texts, now: page.now) },
        exports: ExportLinks(page, "/apps/\(app.id)/topics/changes/\(change.id)/devices"),
        position: pager.position(
          members.items.count, size: pageSize, of: state.map { change.count(of: $0) } ?? change.devices, texts),
        pager: PagerView(pager, next: members.next), now: page.now))
  }
}

/// `/apps/:id/topics/audience`.
struct TopicAudienceView: PageView {
  static let template = "audiences/topic_audience"
  static let section: Section? = .apps

  let app: App
  let form: Form
  let errors: FieldErrors
  /// Some of the app's, for browsers without script.
  let tags: [String]
  let texts: Texts

  private static let typed = ["topic", "tag", "tag_and", "tag_not", "alias", "registration_id", "device_token"]

  static let fields: [Field<Self>] =
    [
      .written("id") { $1.write(Int($0.app.id)) },
      .text("app") { $0.app.name },
      .text("bundle_id") { $0.app.bundleID },
      .list("tag_names") { $0.tags },
      .optional("problem") { $0.errors.others(typed + ["environment", "audience"]) },
      .view("environment") { view in
        FieldView(error: view.errors["environment"], choices: SendForm(form: view.form).environments(view.texts))
      },
      .view("audience") { view in
        FieldView(error: view.errors["audience"], choices: SendForm(form: view.form).deviceAudiences(view.texts))
      },
    ] + typed.map { name in .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) } }
}

/// `/apps/:id/topics/changes/:change`.
struct TopicChangeView: PageView {
  static let template = "audiences/topic_change"
  static let section: Section? = .apps

  let app: App
  let change: TopicChange
  let audience: String
  let environment: String
  let states: [StateLink]
  let members: [TopicMemberRow]
  let exports: ExportLinks
  /// Nil: unknown.
  let position: String?
  let pager: PagerView
  let now: Date

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .written("change") { $1.write(Int($0.change.id)) },
    .text("app") { $0.app.name },
    .text("topic") { $0.change.topic },
    .flag("joins") { $0.change.joins },
    .text("audience") { $0.audience },
    .text("environment") { $0.environment },
    .flag("production") { $0.change.environment == .production },
    .text("by") { $0.change.createdBy },
    .view("created") { MomentView(date: $0.change.createdAt, now: $0.now) },
    .view("ended") { view in view.change.endedAt.map { MomentView(date: $0, now: view.now) } },
    .flag("is_queued") { $0.change.isQueued },
    .list("states") { $0.states },
    .list("rows") { $0.members },
    .flag("has_rows") { !$0.members.isEmpty },
    .view("exports") { $0.members.isEmpty ? nil : $0.exports },
    .optional("position") { $0.position },
    .view("pager") { $0.pager },
  ]
}

/// One number of a change, which is a filter of its devices too.
struct StateLink: View {
  let state: TopicChange.State?
  let label: String
  let count: Int
  let isHere: Bool

  static let fields: [Field<Self>] = [
    .text("query") { $0.state.map { "?state=\($0.name)" } ?? "" },
    .text("label") { $0.label },
    .number("count") { $0.count },
    .flag("here") { $0.isHere },
  ]
}

extension TopicChange {
  fileprivate func count(of state: State) -> Int {
    switch state {
    case .pending: pending
    case .done: done
    case .refused: refused
    case .replaced: replaced
    }
  }
}

struct TopicMemberRow: View {
  let member: TopicChange.Member
  let state: String
  /// Reason and cause; nil: none.
  let reason: String?
  let now: Date

  init(_ member: TopicChange.Member, _ texts: Texts, now: Date) {
    (self.member, self.now) = (member, now)
    state = texts("topics.state_\(member.state.name)")
    reason = member.reason.map { TopicResultRow.sentence($0, texts) }
  }

  static let fields: [Field<Self>] = [
    .written("device_id") { $1.write(Int($0.member.deviceID)) },
    .text("title") { row in row.member.alias ?? row.member.token?.abbreviated ?? "\(row.member.deviceID)" },
    .text("token") { $0.member.token?.abbreviated ?? "–" },
    .text("state_text") { $0.state },
    .text("tone") { row in
      switch row.member.state {
      case .pending: "none"
      case .done: ""
      case .refused: "red"
      case .replaced: "dead"
      }
    },
    .optional("reason") { $0.reason },
    .view("next") { row in row.member.nextAt.map { MomentView(date: $0, now: row.now) } },
  ]
}

/// A change in the list of the app's topics.
struct TopicChangeRow: View {
  let change: TopicChange
  let audience: String
  let environment: String
  let now: Date

  static let fields: [Field<Self>] = [
    .written("change") { $1.write(Int($0.change.id)) },
    .text("name") { $0.change.topic },
    .flag("joins") { $0.change.joins },
    .text("audience") { $0.audience },
    .text("environment") { $0.environment },
    .flag("production") { $0.change.environment == .production },
    .number("done") { $0.change.done },
    .number("devices") { $0.change.devices },
    .number("refused") { $0.change.refused },
    .flag("is_over") { $0.change.endedAt != nil },
    .view("created") { MomentView(date: $0.change.createdAt, now: $0.now) },
  ]
}
