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

/// `/apps/:id/channels`: an app's broadcast channels at APNs.
enum ChannelPages {
  static let views: [any PageView.Type] = [ChannelListView.self, ChannelRemovalView.self]

  private static let export = ListExportRoutes<Channel>(
    path: "/apps/:id/channels", action: "channel.export",
    columns: [
      "id", "channel", "environment", "name", "storage", "created_by", "created_at", "listed_at", "missing_since",
    ]
  ) { page in
    let app = try await AppPages.find(page)
    return { database, _, _ in Page(items: try Channel.all(database, app: app.id), next: nil) }
  }

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/apps/:id/channels") { page in try await show(page) }
    export.add(to: &routes)
    routes.page(.post, "/apps/:id/channels", role: .operator) { page in
      try await act(page, flash: "channel_created") { app, environment in
        let policy = (ChannelPolicy.Word(rawValue: page.form["storage"]) ?? .none).policy
        let name = String(page.form["name"].prefix(Channel.nameLimit))
        _ = try await page.console.engine.channels.create(policy, name: name, app: app, environment, by: page.author)
      }
    }
    routes.page(.post, "/apps/:id/channels/refresh", role: .operator) { page in
      try await act(page, flash: "channels_listed") { app, environment in
        _ = try await page.console.engine.channels.list(app: app, environment, now: page.now)
      }
    }
    routes.page(.get, "/apps/:id/channels/remove", role: .operator) { page in
      let app = try await AppPages.find(page)
      guard let environment = Environment(rawValue: page.filled("environment") ?? ""), let id = page.filled("channel")
      else { return page.redirect(to: "/apps/\(app.id)/channels") }
      let known = try await page.store.read {
        try Channel.find($0, app: app.id, environment: environment, channel: id)
      }
      return page.answer(ChannelRemovalView(app: app, environment: environment, channel: id, name: known?.name ?? ""))
    }
    routes.page(.post, "/apps/:id/channels/remove", role: .operator) { page in
      try await act(page, flash: "channel_removed") { app, environment in
        let id = page.form["channel"]
        guard try await isKnown(id, app, environment, page) else { return }
        try await page.console.engine.channels.delete(id, app: app, environment, by: page.author)
      }
    }
  }

  private static func isKnown(
    _ id: String, _ app: App, _ environment: Environment, _ page: PageContext
  ) async throws -> Bool {
    try await page.store.read {
      try Channel.find($0, app: app.id, environment: environment, channel: id) != nil
    }
  }

  /// Does something at Apple; a refusal is shown above the list, with its cause and remedy.
  private static func act(
    _ page: PageContext, flash: String, _ body: (App, Environment) async throws -> Void
  ) async throws -> Response {
    let app = try await AppPages.find(page)
    guard let environment = Environment(rawValue: page.form["environment"]) else {
      return try await show(page, noEnvironment: page.texts("topics.no_environment"))
    }
    do {
      try await body(app, environment)
    } catch {
      return try await show(page, problem: try page.trouble(error))
    }
    return page.redirect(to: "/apps/\(app.id)/channels", flash: flash)
  }

  private static func show(
    _ page: PageContext, problem: String? = nil, noEnvironment: String = ""
  ) async throws -> Response {
    let app = try await AppPages.find(page)
    let channels = try await page.store.read { try Channel.all($0, app: app.id) }
    let texts = page.texts
    let groups = Environment.allCases.map { environment in
      ChannelGroupView(
        app: app, environment: environment, name: environment.word(texts), mayChange: page.may(.operator),
        rows: channels.filter { $0.environment == environment }.map { channel in
          ChannelRow(
            channel: channel, app: app, mayChange: page.may(.operator),
            storage: channel.policy.map { texts("channels.storage_\($0.word.rawValue)") } ?? "–", now: page.now)
        })
    }
    let storage = page.form["storage"]
    let view = ChannelListView(
      app: app, exports: channels.isEmpty ? nil : ExportLinks(page, "/apps/\(app.id)/channels"), problem: problem,
      groups: groups, mayChange: page.may(.operator), name: page.form["name"],
      environments: SendForm(form: page.form).environments(texts), noEnvironment: noEnvironment,
      storages: ChoiceView.list(
        ChannelPolicy.Word.allCases.map { ($0.rawValue, texts("channels.storage_\($0.rawValue)")) },
        chosen: storage.isEmpty ? "none" : storage))
    return page.answer(view, status: problem == nil && noEnvironment.isEmpty ? .ok : .unprocessableContent)
  }
}

/// `/apps/:id/channels`.
struct ChannelListView: PageView {
  static let template = "audiences/channels"
  static let section: Section? = .apps

  let app: App
  /// Nil: there is no channel.
  let exports: ExportLinks?
  /// Why Apple refused; nil: it did not.
  let problem: String?
  let groups: [ChannelGroupView]
  let mayChange: Bool
  let name: String
  let environments: [ChoiceView]
  /// That none was chosen; empty if one was.
  let noEnvironment: String
  let storages: [ChoiceView]

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("app") { $0.app.name },
    .view("exports") { $0.exports },
    .optional("problem") { $0.problem },
    .list("groups") { $0.groups },
    .flag("may_change") { $0.mayChange },
    .view("name") { FieldView(value: $0.name) },
    .view("environment") { FieldView(error: $0.noEnvironment, choices: $0.environments) },
    .view("storage") { FieldView(choices: $0.storages) },
  ]
}

/// The channels of one environment.
struct ChannelGroupView: View {
  let app: App
  let environment: Environment
  let name: String
  let mayChange: Bool
  let rows: [ChannelRow]

  static let fields: [Field<Self>] = [
    .text("key") { $0.environment.rawValue },
    .text("environment") { $0.name },
    .flag("production") { $0.environment == .production },
    .flag("may_refresh") { $0.mayChange },
    .list("rows") { $0.rows },
    .flag("has_rows") { !$0.rows.isEmpty },
  ]
}

struct ChannelRow: View {
  let channel: Channel
  let app: App
  let mayChange: Bool
  let storage: String
  let now: Date

  static let fields: [Field<Self>] = [
    .text("channel") { $0.channel.channel },
    .text("label") { $0.channel.name },
    .text("storage_text") { $0.storage },
    .view("created") { MomentView(date: $0.channel.createdAt, now: $0.now) },
    .text("send") { "/pushes/new?app=\($0.app.bundleID)&\($0.query)" },
    .text("remove") { "/apps/\($0.app.id)/channels/remove?\($0.query)" },
    .flag("may_send") { $0.mayChange && $0.channel.missingSince == nil },
    .flag("may_remove") { $0.mayChange },
    .view("missing") { row in row.channel.missingSince.map { MomentView(date: $0, now: row.now) } },
  ]

  private var query: String {
    let id = channel.channel.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "environment=\(channel.environment.rawValue)&channel=\(id)"
  }
}

/// Asks before a channel is deleted at Apple.
struct ChannelRemovalView: PageView {
  static let template = "audiences/channel_remove"
  static let section: Section? = .apps

  let app: App
  let environment: Environment
  let channel: String
  /// Empty: it has none, or is not known here.
  let name: String

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("app") { $0.app.name },
    .text("environment") { $0.environment.rawValue },
    .flag("production") { $0.environment == .production },
    .text("channel") { $0.channel },
    .optional("name") { $0.name.isEmpty ? nil : $0.name },
  ]
}
