import Calendar
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import Providers
import SQLite
import Store

/// `/apps/:id/jpush`: what JPush itself keeps of an app, read when somebody asks for it: schedules, tags and aliases.
enum JPushRemotePages {
  static let views: [any PageView.Type] = [JPushRemoteView.self, JPushRemovalView.self]

  private static let path = "/apps/:id/jpush"

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, path, show)
    routes.page(.get, path + "/remove", role: .operator) { page in
      let app = try await AppPages.find(page)
      let subject = try subject { page.filled($0) }
      return page.answer(
        JPushRemovalView(
          app: app, kind: subject.kind, name: subject.name, label: page.filled("label") ?? subject.name,
          environment: subject.environment))
    }
    routes.page(.post, path + "/remove", role: .operator) { page in
      let app = try await AppPages.find(page)
      let (kind, name, environment) = try subject { page.form.filled($0) }
      do {
        try await page.console.engine.jpush.remove(kind, name, app: app, environment, by: page.author)
      } catch {
        return page.answer(
          JPushRemoteView(app: app, environments: environments(page, environment), problem: try page.trouble(error)),
          status: .unprocessableContent)
      }
      return page.redirect(
        to: "/apps/\(app.id)/jpush?environment=\(environment.rawValue)", flash: "jpush_\(kind.rawValue)_removed")
    }
  }

  private typealias Subject = (kind: JPushKeeper.Removable, name: String, environment: Environment)

  /// Read from the address before the question, and from the form after it.
  private static func subject(_ field: (String) -> String?) throws -> Subject {
    guard let kind = field("kind").flatMap(JPushKeeper.Removable.init),
      let environment = field("environment").flatMap(Environment.init), let name = field("name")
    else { throw PageError(.notFound, "not_found") }
    return (kind, name, environment)
  }

  private static func environments(_ page: PageContext, _ chosen: Environment?) -> [ChoiceView] {
    SendForm(form: Form([("environment", chosen?.rawValue ?? "")])).environments(page.texts)
  }

  /// Without an environment nothing is asked of JPush.
  private static func show(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    let environment = page.filled("environment").flatMap(Environment.init)
    var view = JPushRemoteView(app: app, environments: environments(page, environment))
    view.alias = page.filled("alias") ?? ""
    guard let environment else { return page.answer(view) }
    let keeper = page.console.engine.jpush
    do {
      let (schedules, tags) = (
        try await keeper.schedules(app: app, environment), try await keeper.tags(app: app, environment)
      )
      view.content = JPushRemoteContent(
        app: app, environment: environment, environmentName: environment.word(page.texts),
        mayChange: page.may(.operator),
        schedules: schedules.map { row($0, app, environment, page) },
        tags: tags.map { JPushNameRow(kind: .tag, name: $0, app: app, environment: environment) })
      if !view.alias.isEmpty {
        let ids = try await keeper.devices(alias: view.alias, app: app, environment)
        view.content?.aliasName = view.alias
        view.content?.holders = try await holders(ids, app, page)
      }
    } catch {
      view.problem = try page.trouble(error)
    }
    return page.answer(view)
  }

  /// With the device's page for those that are known here.
  private static func holders(_ ids: [String], _ app: App, _ page: PageContext) async throws -> [JPushHolderRow] {
    try await page.store.read { database in
      try ids.map { id in
        let device = try Device.find(database, app: app.id, token: DeviceToken(text: id))
        return JPushHolderRow(registrationID: id, device: device?.id)
      }
    }
  }

  private static func row(
    _ schedule: JPushListedSchedule, _ app: App, _ environment: Environment, _ page: PageContext
  ) -> JPushScheduleRow {
    let texts = page.texts
    var (time, next) = (schedule.trigger.text(), Date?.none)
    // A trigger that cannot be read is shown as JPush wrote it.
    if let trigger = try? JPushTrigger(schedule.trigger, now: .distantPast) {
      time = trigger.rule.count == 1 ? texts.moment(trigger.startAt, trigger.rule.zone) : texts.rule(trigger.rule)
      next = Recurrence(trigger.rule, from: trigger.startAt).first(from: page.now)
    }
    return JPushScheduleRow(
      schedule: schedule, time: time, next: next.map { MomentView(date: $0, now: page.now) },
      removal: JPushNameRow(
        kind: .schedule, name: schedule.id, app: app, environment: environment, label: schedule.name))
  }
}

/// `/apps/:id/jpush`.
struct JPushRemoteView: PageView {
  static let template = "apps/jpush"
  static let section: Section? = .apps

  let app: App
  let environments: [ChoiceView]
  /// Why JPush could not be asked; nil: it could, or was not.
  var problem: String?
  var alias = ""
  /// Nil: JPush was not asked.
  var content: JPushRemoteContent?

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("app") { $0.app.name },
    .optional("problem") { $0.problem },
    .view("environment") { FieldView(choices: $0.environments) },
    .view("alias") { FieldView(value: $0.alias) },
    .view("content") { $0.content },
  ]
}

/// What JPush keeps of an app in one environment.
struct JPushRemoteContent: View {
  let app: App
  let environment: Environment
  let environmentName: String
  let mayChange: Bool
  let schedules: [JPushScheduleRow]
  let tags: [JPushNameRow]
  /// The alias that was looked up; empty: none.
  var aliasName = ""
  var holders: [JPushHolderRow] = []

  static let fields: [Field<Self>] = [
    .text("name") { $0.environmentName },
    .flag("production") { $0.environment == .production },
    .flag("may_change") { $0.mayChange },
    .list("schedules") { $0.schedules },
    .flag("has_schedules") { !$0.schedules.isEmpty },
    .list("tags") { $0.tags },
    .flag("has_tags") { !$0.tags.isEmpty },
    .view("found") { content in
      content.aliasName.isEmpty
        ? nil
        : JPushNameRow(kind: .alias, name: content.aliasName, app: content.app, environment: content.environment)
    },
    .list("holders") { $0.holders },
    .flag("has_holders") { !$0.holders.isEmpty },
  ]
}

struct JPushScheduleRow: View {
  let schedule: JPushListedSchedule
  let time: String
  /// Nil: it has ended, or its trigger cannot be read.
  let next: MomentView?
  let removal: JPushNameRow

  static let fields: [Field<Self>] = [
    .text("schedule") { $0.schedule.name },
    .text("schedule_id") { $0.schedule.id },
    .text("alert") { $0.schedule.alert ?? "–" },
    .text("when") { $0.time },
    .view("next") { $0.next },
    .flag("is_enabled") { $0.schedule.isEnabled },
    .view("removal") { $0.removal },
  ]
}

/// Something at JPush that can be removed by its name.
struct JPushNameRow: View {
  let kind: JPushKeeper.Removable
  let name: String
  let app: App
  let environment: Environment
  /// For people; nil: the name.
  var label: String?

  static let fields: [Field<Self>] = [.text("name") { $0.name }, .text("remove_href") { $0.href }]

  private var href: String {
    func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
    return "/apps/\(app.id)/jpush/remove?environment=\(environment.rawValue)&kind=\(kind.rawValue)"
      + "&name=\(escaped(name))" + (label.map { "&label=\(escaped($0))" } ?? "")
  }
}

/// A device that has an alias at JPush.
struct JPushHolderRow: View {
  let registrationID: String
  /// Nil: it is not known here.
  let device: Int64?

  static let fields: [Field<Self>] = [
    .text("registration_id") { $0.registrationID },
    .optional("device_id") { $0.device.map(String.init) },
  ]
}

/// Asks for confirmation before something is removed at JPush.
struct JPushRemovalView: PageView {
  static let template = "apps/jpush_remove"
  static let section: Section? = .apps

  let app: App
  let kind: JPushKeeper.Removable
  let name: String
  let label: String
  let environment: Environment

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("app") { $0.app.name },
    .text("kind") { $0.kind.rawValue },
    .text("name") { $0.name },
    .text("label") { $0.label },
    .text("environment") { $0.environment.rawValue },
    .flag("is_schedule") { $0.kind == .schedule },
    .flag("is_tag") { $0.kind == .tag },
    .flag("is_alias") { $0.kind == .alias },
  ]
}
