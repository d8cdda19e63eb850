import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The pages that list, search and register devices. `DevicePage` shows one device.
enum DevicePages {
  static let views: [any PageView.Type] =
    [
      DeviceListView.self, DeviceView.self, NewDeviceView.self, DeviceRemovalView.self, DeviceImportView.self,
      DeviceImportReportView.self,
    ] + DeviceBatchPages.views

  private static let pageSize = 50

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/devices", index)
    routes.page(.get, "/devices.csv") { page in try await export(page, "csv").csv() }
    routes.page(.get, "/devices.json") { page in try await export(page, "json").json() }
    routes.page(.get, "/devices/new", role: .operator) { page in
      try await newPage(page, Form([("app", page.filled("app") ?? "")]), FieldErrors())
    }
    routes.page(.post, "/devices", role: .operator, register)
    DeviceImportPages.add(to: &routes)
    DeviceBatchPages.add(to: &routes)
    routes.page(.get, "/devices/:id") { page in try await DevicePage.show(page) }
    routes.page(.post, "/devices/:id", role: .operator, DevicePage.update)
    routes.page(.post, "/devices/:id/own", role: .operator, DevicePage.setOwn)
    routes.page(.post, "/devices/:id/release", role: .operator, DevicePage.release)
    routes.page(.get, "/devices/:id/remove", role: .operator, DevicePage.removePage)
    routes.page(.post, "/devices/:id/remove", role: .operator, DevicePage.remove)
  }

  // MARK: The list

  private static func index(_ page: PageContext) async throws -> Response {
    let texts = page.texts
    let pager = Pager(page.request)
    let apps = try await page.store.read { try AppOverview.all($0) }
    let (base, text) = (try filter(page, apps.map(\.app)), page.filled("q"))
    var problem: String?
    var found = Page<Device>(items: [], next: nil)
    do {
      found = try await page.store.read { database in
        guard let text else { return try Device.list(database, base, cursor: pager.cursor, limit: pageSize) }
        return try Device.search(database, text, base, cursor: pager.cursor, limit: pageSize)
      }
    } catch let error as StoreError {
      problem = texts.text(Problem("", code: "cursor.bad", error.description))
    }
    let position =
      text == nil
      ? pager.position(found.items.count, size: pageSize, of: apps.reduce(0) { $0 + count(base, of: $1) }, texts) : nil
    let mayChoose = page.may(.operator)
    let chosen = Set((page.query[Pager.chosen] ?? "").split(separator: ".").compactMap { Int64($0) })
    let names = Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0.app.name) })
    func choices(_ name: String, _ choices: [(value: String, label: String)]) -> [ChoiceView] {
      ChoiceView.list(choices, chosen: page.query[name] ?? "")
    }
    return page.answer(
      DeviceListView(
        total: apps.reduce(0) { $0 + $1.count() },
        unreachable: apps.reduce(0) { $0 + $1.count() - $1.count(state: .active) },
        filter: DeviceFilterView(
          search: text ?? "", apps: choices("app", apps.map { ($0.app.bundleID, $0.app.name) }),
          environments: ChoiceView.environments(texts, chosen: page.query["environment"] ?? ""),
          platforms: ChoiceView.platforms(texts, chosen: page.query["platform"] ?? ""),
          providers: choices("provider", ProviderKind.allCases.map { ($0.rawValue, $0.name) }),
          states: choices("state", DeviceState.allCases.map { ($0.name, texts("state.\($0.name)")) }),
          isActive: ["q", "app", "environment", "platform", "provider", "state"].contains { page.filled($0) != nil }),
        problem: problem,
        devices: found.items.map {
          DeviceRow(
            device: $0, app: names[$0.appID] ?? "",
            platform: texts.list(
              [texts("platform.\($0.platform.rawValue)")]
                + ($0.provider == $0.platform.ownProvider ? [] : [$0.provider.name])),
            now: page.now, isChoosable: mayChoose, isChosen: chosen.contains($0.id))
        },
        exports: ExportLinks(page, "/devices"),
        actions: DeviceBatchAction.allCases.map {
          ChoiceView(value: $0.rawValue, label: texts("devices.batch.actions.\($0.rawValue)"))
        }, shown: position ?? texts("push.shown", count: found.items.count), query: place(page),
        pager: PagerView(pager, next: found.next)))
  }

  /// The query of the list's address, without what is ticked there.
  private static func place(_ page: PageContext) -> String {
    (page.request.query ?? "").split(separator: "&").filter { !$0.hasPrefix("\(Pager.chosen)=") }
      .joined(separator: "&")
  }

  /// The chosen filters, apart from the search.
  private static func filter(_ page: PageContext, _ apps: [App]) throws -> DeviceFilter {
    var filter = DeviceFilter(app: try page.filter("app") { name in apps.first { $0.bundleID == name }?.id })
    filter.environment = try page.filter("environment", Environment.init)
    filter.platform = try page.filter("platform", Platform.init)
    filter.provider = try page.filter("provider", ProviderKind.init)
    filter.state = try page.filter("state", DeviceState.init(name:))
    return filter
  }

  /// The devices of the list as a file, which the activity log records.
  private static func export(_ page: PageContext, _ format: String) async throws -> DeviceListExport {
    let filter = try filter(page, try await page.store.read { try App.all($0) })
    try await page.note(page.audit("device.export", "devices", ["format": .string(format)]))
    return DeviceListExport(page.store, filter, search: page.filled("q"))
  }

  /// The devices of an app that a filter finds, from counters.
  private static func count(_ filter: DeviceFilter, of app: AppOverview) -> Int {
    guard filter.app == nil || filter.app == app.id else { return 0 }
    return app.count(
      environment: filter.environment, platform: filter.platform, provider: filter.provider, state: filter.state)
  }

  // MARK: Registering

  private static func newPage(_ page: PageContext, _ form: Form, _ errors: FieldErrors) async throws -> Response {
    let texts = page.texts
    let (apps, tags) = try await page.store.read { database in
      let apps = try App.all(database)
      let app = apps.count == 1 ? apps[0] : apps.first { $0.bundleID == form["app"] }
      return (apps, try AudienceNames(database, of: app).tags)
    }
    let platform = form["platform"].isEmpty ? Platform.ios.rawValue : form["platform"]
    let view = NewDeviceView(
      form: form, errors: errors, hasApps: !apps.isEmpty,
      apps: ChoiceView.apps(apps, none: texts("send.choose_app"), chosen: form["app"]),
      environments: ChoiceView.environments(texts, chosen: form["environment"]),
      platforms: ChoiceView.platforms(texts, chosen: platform),
      providers: ChoiceView.list(
        [("", texts("devices.provider_own"))] + [ProviderKind.fcm, .jpush].map { ($0.rawValue, $0.name) },
        chosen: form["provider"]), tags: tags)
    return page.answer(view, status: errors.status)
  }

  private static func register(_ page: PageContext) async throws -> Response {
    do {
      let id = try await DeviceForm(page.form).register(page)
      return page.redirect(to: "/devices/\(id)", flash: "device_registered")
    } catch let problems as Problems {
      return try await newPage(page, page.form, FieldErrors(problems, page.texts))
    }
  }
}

extension Device {
  /// The title of the device's page: its name, else its alias, else the shortened token.
  var heading: String { [name, alias].compactMap { $0 }.first { !$0.isEmpty } ?? token.abbreviated }
}
