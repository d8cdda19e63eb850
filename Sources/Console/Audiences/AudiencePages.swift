import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store

/// `/audiences`: the segments, tags and aliases of an app, and what a picker suggests of them.
enum AudiencePages {
  static let views: [any PageView.Type] = [
    AudienceListView.self, SegmentView.self, SegmentFormView.self, SegmentRemovalView.self, ExplanationView.self,
  ]

  /// What has names that an audience is made of.
  enum Kind: String, CaseIterable {
    case segments, tags, aliases, devices

    /// Nil: pushes to devices are on the devices' pages.
    fileprivate var use: AudienceUse.Kind? {
      switch self {
      case .segments: .segment
      case .tags: .tag
      case .aliases: .alias
      case .devices: nil
      }
    }
  }

  private static let pageSize = 50
  private static let suggestions = 8
  /// For the counts of a page's segments, all together.
  static let patience = Duration.milliseconds(800)

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/audiences", index)
    export.add(to: &routes)
    routes.page(.get, "/audiences/suggestions", suggest)
    SegmentPages.add(to: &routes)
    routes.page(.get, "/audiences/explanation") { page in
      guard page.query["audience"] != nil else { return page.redirect(to: "/pushes/new") }
      return try await ExplanationPage.show(page, Form(page.query.pairs.map { ($0.name, $0.value) }))
    }
    routes.page(.post, "/audiences/explanation") { page in
      try await LanguagePages.choosing(page) { page in
        try page.shown(at: "/audiences/explanation") { page in try await ExplanationPage.show(page, page.form) }
      }
    }
  }

  /// All apps, and the one that the address names; without a name the usual one.
  private static func appChoice(_ page: PageContext) async throws -> (all: [App], chosen: App?) {
    let (apps, usual) = try await page.store.read { database in
      let apps = try App.all(database)
      return (apps, try App.usual(database, of: apps))
    }
    return (apps, try page.filter("app") { bundleID in apps.first { $0.bundleID == bundleID } } ?? usual)
  }

  private static func index(_ page: PageContext) async throws -> Response {
    let kind = try page.filter("kind", Kind.init) ?? .segments
    let (apps, app) = try await appChoice(page)
    let pager = Pager(page.request)
    let prefix = page.filled("q") ?? ""
    var rows: [AudienceRow] = []
    var next: String?
    var totals: AudienceCounts?
    if let app {
      totals = try await page.store.read(keptAs: "audiences \(app.id)", bytes: { _ in 100 }) {
        try AudienceCounts($0, app: app.id)
      }
      let (found, cursor, total) = try await page.store.read { database in
        let found = try names(database, kind, app, prefix: prefix, cursor: pager.cursor, limit: pageSize)
        let total = try DeviceCount.all(database, app: app.id).reduce(0) { $0 + $1.count }
        return (found.items, found.next, total)
      }
      let counted = kind == .segments ? await counts(found.compactMap(\.segment), page) : [:]
      rows = found.map { name in
        AudienceRow(
          name, kind, app, devices: name.devices ?? name.segment.flatMap { counted[$0.id] }, of: total, page.texts,
          now: page.now)
      }
      next = cursor
    }
    return page.answer(
      AudienceListView(
        heading: heading(
          kind, app, rows.count, isWhole: next == nil && pager.cursor == nil && prefix.isEmpty, page.texts),
        kind: kind, totals: totals, app: app, search: prefix,
        apps: ChoiceView.list(apps.map { ($0.bundleID, $0.name) }, chosen: app?.bundleID ?? ""),
        rows: rows, position: position(rows.count, pager, totals, kind, prefix, page.texts),
        mayChange: page.may(.operator), exports: ExportLinks(page, "/audiences"),
        pager: PagerView(pager, next: next)))
  }

  /// As “1–50 of 120”; nil: some are left out by the search, or too many to be counted.
  private static func position(
    _ count: Int, _ pager: Pager, _ totals: AudienceCounts?, _ kind: Kind, _ prefix: String, _ texts: Texts
  ) -> String? {
    let all: AudienceCounts.Count? =
      switch kind {
      case .segments: totals?.segments
      case .tags: totals?.tags
      case .aliases: totals?.aliases
      case .devices: nil
      }
    guard let all, !all.isMore, prefix.isEmpty else { return nil }
    return pager.position(count, size: pageSize, of: all.number, texts)
  }

  /// Tags and aliases with their devices, segments with their rules.
  private static let export = ListExportRoutes<Name>(
    path: "/audiences", action: "audience.export", columns: ["kind", "app", "name", "devices", "last_sent_at", "rule"]
  ) { page in
    let kind = try page.filter("kind", Kind.init) ?? .segments
    let app = try await appChoice(page).chosen
    let prefix = page.filled("q") ?? ""
    return { database, cursor, limit in
      guard let app else { return Page(items: [], next: nil) }
      return try names(database, kind, app, prefix: prefix, cursor: cursor, limit: limit)
    }
  }

  /// How many there are, if the page knows.
  private static func heading(_ kind: Kind, _ app: App?, _ count: Int, isWhole: Bool, _ texts: Texts) -> String {
    guard let app, isWhole, count > 0, kind != .devices else { return texts("audiences.title") }
    return texts("audiences.count_\(kind.rawValue)", count: count, ["app": app.name])
  }

  /// A name with how many devices have it.
  fileprivate struct Name: JSONObject, Sendable {
    let kind: Kind
    /// Bundle ID.
    let app: String
    let name: String
    /// Nil: not counted yet.
    var devices: Int?
    /// When a push to it last began.
    var sentAt: Date?
    var segment: Segment?

    func writeMembers(to json: inout JSONWriter) {
      json.member("kind", kind.rawValue)
      json.member("app", app)
      json.member("name", name)
      json.member("devices", devices)
      json.member("last_sent_at", sentAt)
      json.member("rule", segment?.rule.json ?? .null)
    }
  }

  private static func names(
    _ database: Database, _ kind: Kind, _ app: App, prefix: String, cursor: String?, limit: Int
  ) throws -> Page<Name> {
    func named(_ name: String, devices: Int? = nil, segment: Segment? = nil) -> Name {
      Name(kind: kind, app: app.bundleID, name: name, devices: devices, segment: segment)
    }
    let found: Page<Name> =
      switch kind {
      case .segments:
        try Segment.list(database, app: app.id, prefix: prefix, cursor: cursor, limit: limit)
          .map { named($0.name, segment: $0) }
      case .tags:
        try Tag.list(database, app: app.id, prefix: prefix, cursor: cursor, limit: limit)
          .map { named($0.name, devices: $0.members) }
      case .aliases:
        try AliasCount.list(database, app: app.id, prefix: prefix, cursor: cursor, limit: limit)
          .map { named($0.alias, devices: $0.devices) }
      case .devices: Page(items: [], next: nil)
      }
    guard let use = kind.use else { return found }
    let sent = try AudienceUse.last(database, app: app.id, use, found.items.map(\.name))
    return found.map { name in
      var name = name
      name.sentAt = sent[name.name]
      return name
    }
  }

  /// Segments by ID that could be counted in time.
  static func counts(
    _ segments: [Segment], _ page: PageContext, within patience: Duration = patience
  ) async -> [Int64: Int] {
    let end = ContinuousClock.now + patience
    var counts: [Int64: Int] = [:]
    for segment in segments {
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { break }
      // Interrupted: shown without a number.
      counts[segment.id] = try? await page.store.read(limit: left) { database in
        try segment.counts(database, now: page.now).reduce(0) { $0 + $1.count.total }
      }
    }
    return counts
  }

  // MARK: Suggestions

  /// Names that begin with what was typed, as JSON: `value`, `label` and `detail` of each.
  private static func suggest(_ page: PageContext) async throws -> Response {
    let (texts, kind) = (page.texts, page.filled("kind").flatMap(Kind.init))
    let prefix = page.query["q"] ?? ""
    let apps = try await page.store.read { try App.all($0) }
    guard let kind, let app = apps.first(where: { $0.bundleID == page.filled("app") }) else {
      return APIContext.answer { $0.array("items", []) { (_, _: Int) in } }
    }
    if kind == .devices {
      let devices = try await page.store.read { try Device.named($0, app: app.id, prefix: prefix, limit: suggestions) }
      return APIContext.answer { json in
        json.array("items", devices) { json, device in
          let about = [device.alias, device.token.abbreviated].compactMap { $0 }.joined(separator: " · ")
          write(device.tokenText, device.heading, about, &json)
        }
      }
    }
    let found = try await page.store.read {
      try names($0, kind, app, prefix: prefix, cursor: nil, limit: suggestions).items
    }
    let counted = await counts(found.compactMap(\.segment), page)
    return APIContext.answer { json in
      json.array("items", found) { json, name in
        let devices = name.devices ?? name.segment.flatMap { counted[$0.id] }
        write(name.name, name.name, devices.map { texts("send.devices", count: $0) } ?? "", &json)
      }
    }
  }

  private static func write(_ value: String, _ label: String, _ detail: String, _ json: inout JSONWriter) {
    json.object { json in
      json.member("value", value)
      json.member("label", label)
      json.member("detail", detail)
    }
  }
}

// MARK: Views

struct AudienceListView: PageView {
  static let template = "audiences/index"
  static let section: Section? = .audiences

  let heading: String
  let kind: AudiencePages.Kind
  /// For the tabs. Nil: there is no app yet.
  let totals: AudienceCounts?
  /// Nil: there is no app yet.
  let app: App?
  let search: String
  let apps: [ChoiceView]
  let rows: [AudienceRow]
  /// Nil: unknown.
  let position: String?
  let mayChange: Bool
  let exports: ExportLinks
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .text("heading") { $0.heading },
    .view("exports") { $0.rows.isEmpty ? nil : $0.exports },
    .text("kind") { $0.kind.rawValue },
    .optional("segment_total") { total($0.totals?.segments) },
    .optional("tag_total") { total($0.totals?.tags) },
    .optional("alias_total") { total($0.totals?.aliases) },
    .flag("is_segments") { $0.kind == .segments },
    .flag("is_tags") { $0.kind == .tags },
    .flag("is_aliases") { $0.kind == .aliases },
    .flag("has_app") { $0.app != nil },
    .text("bundle_id") { $0.app?.bundleID ?? "" },
    .text("q") { $0.search },
    .flag("active") { !$0.search.isEmpty },
    .flag("filterable") { !$0.rows.isEmpty || !$0.search.isEmpty || $0.apps.count > 1 },
    .list("apps") { $0.apps },
    .list("rows") { $0.rows },
    .flag("has_rows") { !$0.rows.isEmpty },
    .optional("position") { $0.position },
    .flag("may_change") { $0.mayChange },
    .view("pager") { $0.pager },
  ]

  /// Nil: there is none.
  private static func total(_ count: AudienceCounts.Count?) -> String? {
    count.flatMap { $0.number > 0 ? $0.number.grouped + ($0.isMore ? "+" : "") : nil }
  }
}

/// Names that a field offers without script.
struct AudienceNames: Sendable {
  private static let most = 20

  let tags: [String]
  let segments: [String]

  /// - Parameter app: nil: none is chosen yet.
  init(_ database: Database, of app: App?) throws {
    tags = try app.map { try Tag.list(database, app: $0.id, limit: Self.most).items.map(\.name) } ?? []
    segments = try app.map { try Segment.list(database, app: $0.id, limit: Self.most).items.map(\.name) } ?? []
  }

  /// Of the app's devices that have one.
  static func devices(_ database: Database, of app: App) throws -> [String] {
    try Device.named(database, app: app.id, prefix: "", limit: most).compactMap(\.name)
  }
}

/// A segment, a tag, or an alias.
struct AudienceRow: View {
  let name: String
  let href: String
  let words: String?
  let devices: String
  /// Percent of the app's devices; nil: not counted.
  let share: Double?
  let shareText: String
  /// When a push to it last began; nil: not that we know.
  let sent: MomentView?
  let send: String

  fileprivate init(
    _ name: AudiencePages.Name, _ kind: AudiencePages.Kind, _ app: App, devices: Int?, of total: Int, _ texts: Texts,
    now: Date
  ) {
    let (escaped, bundleID) = (ConsoleRouter.escaped(name.name), ConsoleRouter.escaped(app.bundleID))
    self.name = name.name
    href = name.segment.map { "/audiences/segments/\($0.id)" } ?? "/devices?app=\(bundleID)&q=\(escaped)"
    words = name.segment?.rule.words(texts)
    let isMost = kind == .aliases && devices == AliasCount.most
    self.devices = devices.map { $0.grouped + (isMost ? "+" : "") } ?? "–"
    share = devices.flatMap { total > 0 ? (Double($0) * 1000 / Double(total)).rounded() / 10 : nil }
    shareText = texts("audiences.share_of", ["share": share.map { "\($0)%" } ?? "–", "app": app.name])
    sent = name.sentAt.map { MomentView(date: $0, now: now) }
    let field = kind == .segments ? "segment" : kind == .tags ? "tag" : "alias"
    send = "/pushes/new?app=\(bundleID)&\(field)=\(escaped)"
  }

  static let fields: [Field<Self>] = [
    .text("name") { $0.name },
    .text("href") { $0.href },
    .optional("words") { $0.words },
    .text("devices") { $0.devices },
    .optional("share") { $0.share.map { "\($0)%" } },
    .text("share_text") { $0.shareText },
    .view("sent") { $0.sent },
    .text("send") { $0.send },
  ]
}
