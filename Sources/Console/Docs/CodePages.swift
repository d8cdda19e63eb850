import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store

/// `/codes`: what each code of a provider and of Signalbox means, and `/codes/:code`: one of them, with its incidents and
/// pushes on this server.
enum CodePages {
  static let views: [any PageView.Type] = [CodeListView.self, CodePageView.self]

  /// The newest pushes that are looked through: their counters are read, not their devices.
  static let looked = 300
  /// Pushes and incidents that are shown.
  private static let shown = 8
  /// Open incidents that are looked through.
  private static let mostIncidents = 500

  private static let export = ListExportRoutes<CodeAnswer>(
    path: "/codes", action: "code.export", columns: ["code", "source", "status", "who", "retry", "cause", "remedy"]
  ) { page in
    let answers = found(page).map { CodeAnswer($0, page.texts) }
    return { _, _, _ in Page(items: answers, next: nil) }
  }

  /// The codes of a search; without one, all.
  private static func found(_ page: PageContext) -> [Reason] {
    let text = page.filled("q") ?? ""
    return Reason.listed.filter { text.isEmpty || $0.fits(text) }
  }

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/codes") { page in
      let rows = found(page).map { CodeRow($0, page.texts) }
      return page.answer(CodeListView(search: page.filled("q") ?? "", rows: rows, exports: ExportLinks(page, "/codes")))
    }
    export.add(to: &routes)
    routes.page(.get, "/codes/:code", show)
  }

  private static func show(_ page: PageContext) async throws -> Response {
    guard let reason = Reason.listed(page.request.parameters["code"] ?? "") else {
      throw PageError(.notFound, "missing_code", action: ("/codes", "codes.title"))
    }
    let (texts, now) = (page.texts, page.now)
    let found = try await page.store.read { database in
      let open = try Incident.list(database, IncidentFilter(state: .open, now: now), limit: mostIncidents).items
      return (
        incidents: Array(open.filter { $0.cause.reason == reason.code }.prefix(shown)),
        apps: try AppOverview.all(database), pushes: try pushes(database, reason.code)
      )
    }
    return page.answer(
      CodePageView(
        reason: reason, texts: texts,
        incidents: found.incidents.map { incident in
          let app = found.apps.first { $0.id == incident.place.app }
          return IncidentRow(words: IncidentWords(incident: incident, app: app, texts: texts, now: now))
        },
        pushes: found.pushes.map {
          CodePushRow(push: $0.push, count: $0.count, code: reason.code, texts: texts, now: now)
        }
      ))
  }

  /// The newest pushes with devices that have the reason.
  private static func pushes(_ database: Database, _ code: String) throws -> [(push: Push, count: Int)] {
    var found: [(push: Push, count: Int)] = []
    for push in try Push.list(database, PushFilter(), limit: looked).items
    where found.count < shown && push.counts.total > push.counts.accepted {
      let counts = try Delivery.reasonCounts(database, push: push.id)
      let count = counts.reduce(0) { $0 + ($1.reason.map(Reason.head) == code ? $1.count : 0) }
      if count > 0 { found.append((push, count)) }
    }
    return found
  }
}

extension Reason {
  /// Those that people can look up, in the order of the tables; a code that several tables have is there once.
  static let listed: [Reason] = {
    var seen: Set<String> = []
    return (table + elsewhere).filter { $0.isKnown && seen.insert($0.code).inserted }
  }()

  /// The reason with a code, whatever its remark; upper and lower case are told apart if need be.
  static func listed(_ code: String) -> Reason? {
    let head = head(code)
    return listed.first { $0.code == head } ?? listed.first { $0.code.lowercased() == head.lowercased() }
  }

  /// Whether a search for a status or for letters of a code means it.
  func fits(_ text: String) -> Bool {
    status.map(String.init) == text || code.range(of: text, options: .caseInsensitive) != nil
  }

  /// The address of its page; nil for an unknown one.
  var href: String? { Reason.listed(code).map { "/codes/\(ConsoleRouter.escaped($0.code))" } }

  /// As “APNs, HTTP 410”.
  func origin(_ texts: Texts) -> String {
    let name = ProviderKind(rawValue: source.rawValue)?.name ?? texts("layout.product")
    return texts.clauses([name] + (status.map { ["HTTP \($0)"] } ?? []))
  }
}

/// `/codes`.
struct CodeListView: PageView {
  static let template = "docs/codes"
  static let section: Section? = .docs

  let search: String
  let rows: [CodeRow]
  let exports: ExportLinks

  static let fields: [Field<Self>] = [
    .text("q") { $0.search },
    .flag("active") { !$0.search.isEmpty },
    .list("rows") { $0.rows },
    .flag("has_rows") { !$0.rows.isEmpty },
    .view("exports") { $0.rows.isEmpty ? nil : $0.exports },
    .view("shown") { CountView(count: $0.rows.count) },
  ]
}

struct CodeRow: View {
  let href: String
  let code: String
  let origin: String
  let cause: String
  let actor: String

  init(_ reason: Reason, _ texts: Texts) {
    href = reason.href ?? "/codes"
    (code, origin, cause) = (reason.code, reason.origin(texts), texts.cause(reason))
    actor = texts("actor.\(reason.actor.rawValue)")
  }

  static let fields: [Field<Self>] = [
    .text("href") { $0.href },
    .text("code") { $0.code },
    .text("origin") { $0.origin },
    .text("cause") { $0.cause },
    .text("actor") { $0.actor },
  ]
}

/// A code for a file, its sentences in the reader's language.
private struct CodeAnswer: JSONObject, Sendable {
  let reason: Reason
  let cause: String
  let remedy: String

  init(_ reason: Reason, _ texts: Texts) {
    (self.reason, cause, remedy) = (reason, texts.cause(reason), texts.remedy(reason))
  }

  func writeMembers(to json: inout JSONWriter) {
    json.member("code", reason.code)
    json.member("source", reason.source.rawValue)
    json.member("status", reason.status)
    json.member("who", reason.actor.rawValue)
    json.member("retry", reason.retry.rawValue)
    json.member("cause", cause)
    json.member("remedy", remedy)
  }
}

/// `/codes/:code`.
struct CodePageView: PageView {
  static let template = "docs/code"
  static let section: Section? = .docs

  let reason: Reason
  let texts: Texts
  /// Open ones with this code.
  let incidents: [IncidentRow]
  let pushes: [CodePushRow]

  static let fields: [Field<Self>] = [
    .text("code") { $0.reason.code },
    .view("words") { ReasonWords($0.reason, $0.texts) },
    .list("facts") { $0.facts },
    .list("rows") { $0.incidents },
    .flag("has_incidents_here") { !$0.incidents.isEmpty },
    .list("pushes") { $0.pushes },
    .flag("has_pushes") { !$0.pushes.isEmpty },
    .text("none") { $0.texts("codes.none", ["number": CodePages.looked.grouped]) },
    .flag("of_pushes") { $0.isOfPushes },
  ]

  /// Whether a push can end with it. What an app's library or another API answers is only explained.
  private var isOfPushes: Bool { Reason.table.contains { $0.code == reason.code } }

  private var facts: [FactView] {
    let isUnanswered = [OwnReason.timedOut, .connectionLost, .interrupted].contains { $0.rawValue == reason.code }
    let retry = isUnanswered ? texts("codes.unanswered") : texts("codes.retry.\(reason.retry.rawValue)")
    let ofPushes = [
      FactView(texts("codes.retried"), retry),
      FactView(texts("codes.device"), texts("codes.becomes.\(becomes)")),
    ]
    let facts =
      [FactView(texts("codes.origin"), reason.origin(texts))] + (isOfPushes ? ofPushes : [])
      + [FactView(texts("push.who_acts"), texts("actor.\(reason.actor.rawValue)"))]
    return facts.compactMap { $0 }
  }

  /// What becomes of the device.
  private var becomes: String {
    reason.isDeadToken ? "retired" : Reason.parking.contains(reason.code) ? "parked" : "kept"
  }
}

struct CodePushRow: View {
  let push: Push
  let count: Int
  let code: String
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("href") { "/pushes/\($0.push.uid)?reason=\(ConsoleRouter.escaped($0.code))#devices" },
    .text("title") { $0.push.heading($0.texts) },
    .text("devices") { $0.texts("push.device_count", count: $0.count) },
    .view("at") { MomentView(date: $0.push.createdAt, now: $0.now) },
  ]
}
