import Delivery
import Foundation
import HTTPServer
import JSON
import Mustache
import Providers
import Model
import SQLite
import Store

/// The push history, a push's progress, and a delivery.
enum PushPages {
  private static let pageSize = 50
  static let views: [any PageView.Type] = [
    PushListView.self, PushResultView.self, DeliveryView.self, TokenMoveView.self, PushRemoveView.self,
  ]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/pushes", index)
    export.add(to: &routes)
    routes.page(.get, "/pushes/:uid", PushResultPage.show)
    routes.page(.get, "/pushes/:uid/events", events)
    routes.page(.get, "/pushes/:uid/receipts/events") { page in
      let (push, console, texts) = (try await find(page), page.console, page.texts)
      return try page.events { stream in
        try await ReceiptEvents(push, console).send(to: stream) { ReceiptFunnel($0, $1, texts).json }
      }
    }
    PushControlPages.add(to: &routes)
    PushRemovePages.add(to: &routes)
    routes.page(.get, "/pushes/:uid/deliveries.csv") { page in try await deliveries(page, "csv").csv() }
    routes.page(.get, "/pushes/:uid/deliveries.json") { page in try await deliveries(page, "json").json() }
    routes.page(.get, "/pushes/:uid/deliveries/:device", DeliveryPage.show)
  }

  /// The devices of a push as a file, which the activity log records.
  private static func deliveries(_ page: PageContext, _ format: String) async throws -> DeliveryExport {
    let push = try await find(page)
    let export = try DeliveryExport(page, push)
    try await page.note(page.audit("push.export", "push \(push.uid)", ["format": .string(format)]))
    return export
  }

  private static let export = ListExportRoutes<PushListExport>(
    path: "/pushes", action: "push.export_list", columns: PushListExport.columns
  ) { page in
    let filter = try await filter(page)
    return { try PushListExport.list($0, filter, cursor: $1, limit: $2) }
  }

  /// The push named in the URL.
  static func find(_ page: PageContext) async throws -> Push {
    let uid: String = try page.request.parameter("uid")
    return try await page.store.read { try find($0, uid: uid) }
  }

  /// The push named in a URL, for a page that reads more in the same transaction.
  static func find(_ database: Database, uid: String) throws -> Push {
    guard let push = try Push.find(database, uid: uid) else {
      throw PageError.notFound("push", list: "/pushes")
    }
    return push
  }

  // MARK: History

  /// What the heading counts: the last week, in seconds, and no more pushes than can be counted at once.
  private static let week: TimeInterval = 7 * 86_400
  private static let mostCounted = 10_000

  /// - Parameter matching: with a filter; nil: there is none, or counting took too long.
  private static func heading(_ recent: Int, matching: Int?, isEmpty: Bool, _ texts: Texts) -> String {
    if let matching {
      return matching > mostCounted
        ? texts("pushes.matching_many", ["number": mostCounted.grouped]) : texts("pushes.matching", count: matching)
    }
    if recent > mostCounted { return texts("pushes.week_many", ["number": mostCounted.grouped]) }
    if recent > 0 { return texts("pushes.week", count: recent) }
    return texts(isEmpty ? "pushes.title" : "pushes.week_none")
  }

  /// Devices of a search that are named above its pushes.
  private static let mostDevices = 3

  private static let filters = ["q", "app", "environment", "state", "outcome", "source", "push_type", "from", "to"]

  private static func index(_ page: PageContext) async throws -> Response {
    let texts = page.texts
    let pager = Pager(page.request)
    let chosen = try await filter(page)
    let isFiltered = filters.contains { page.filled($0) != nil }
    let found = try await page.kept { database, now in
      let list = try Push.list(database, chosen, cursor: pager.cursor, limit: pageSize)
      // A page that is not full stopped at the search limit, not at the end of the history.
      let reached = list.items.count < pageSize ? list.next.flatMap(Int64.init) : nil
      return (
        apps: try App.all(database), credentials: try Credential.all(database),
        recent: try Push.count(database, since: now - week, now: now, most: mostCounted),
        matching: try Push.count(database, chosen, most: mostCounted),
        list: try list.map { try ListedPush(database, $0) },
        devices: try chosen.search.map { try Device.found(database, $0, tags: false, limit: mostDevices) } ?? [],
        searchedTo: try reached.map { try Push.get(database, id: $0).createdAt }
      )
    }
    let (apps, list) = (found.apps, found.list)
    let blocked = try await BlockedCredential.all(found.credentials, page).pushes
    // Some words are states and outcomes.
    func labelled(_ name: String, _ word: String) -> String {
      texts.labelled(texts("pushes.\(name)"), texts("words.\(word)"))
    }
    func choices(_ name: String, _ choices: [(String, String)]) -> [ChoiceView] {
      let chosen = page.query[name] ?? ""
      return choices.map { ChoiceView(value: $0.0, label: $0.1, isSelected: $0.0 == chosen) }
    }
    return page.answer(
      PushListView(
        heading: heading(found.recent, matching: isFiltered ? found.matching : nil, isEmpty: list.items.isEmpty, texts),
        filter: PushFilterView(
          search: page.filled("q") ?? "", from: page.filled("from") ?? "", to: page.filled("to") ?? "",
          apps: choices("app", apps.map { (String($0.id), $0.name) }),
          environments: choices(
            "environment", Environment.allCases.map { ($0.rawValue, $0.word(texts).capitalizedFirst) }),
          states: choices("state", PushState.allCases.map { ($0.rawValue, labelled("state", $0.rawValue)) }),
          outcomes: choices("outcome", OutcomeKind.allCases.map { ($0.name, labelled("outcome", $0.name)) }),
          sources: choices(
            "source", PushSource.allCases.map { ($0.rawValue, texts("source.\($0.rawValue)").capitalizedFirst) }),
          pushTypes: choices("push_type", PushType.allCases.map { ($0.rawValue, texts("push_type.\($0.rawValue)")) }),
          isActive: isFiltered),
        devices: found.devices.map { LinkView(href: "/devices/\($0.id)", label: $0.heading) },
        pushes: PushRow.byDay(
          list.items, apps: apps, blocked: blocked, texts: texts, now: page.now, mayAct: page.may(.operator)),
        position: found.matching.flatMap {
          $0 > mostCounted ? nil : pager.position(list.items.count, size: pageSize, of: $0, texts)
        }, searchedTo: found.searchedTo.map { MomentView(date: $0) },
        exports: ExportLinks(page, "/pushes"), pager: PagerView(pager, next: list.next)))
  }

  private static func filter(_ page: PageContext) async throws -> PushFilter {
    var filter = PushFilter()
    filter.app = try await page.filterByApp()
    filter.environment = try page.filter("environment", Environment.init)
    filter.states = try page.filter("state", PushState.init).map { [$0] } ?? []
    filter.outcome = try page.filter("outcome") { name in OutcomeKind.allCases.first { $0.name == name } }
    filter.source = try page.filter("source", PushSource.init)
    filter.pushType = try page.filter("push_type", PushType.init(rawValue:))
    filter.search = page.filled("q")
    filter.from = try page.day("from")
    // Includes the whole last day.
    filter.before = try page.day("to")?.addingTimeInterval(86_400)
    return filter
  }

  // MARK: Live

  private static func events(_ page: PageContext) async throws -> Response {
    let push = try await find(page)
    let (broadcasts, texts) = (page.console.broadcasts, page.texts)
    return try page.events { stream in
      let events = broadcasts.events(of: push.id, as: texts.code) { ProgressJSON($0, texts).value }
      for try await event in events { try await stream.send(encoded: event) }
    }
  }
}

/// Progress for scripts; members are named like the page's `data-live` elements.
struct ProgressJSON {
  let progress: PushProgress
  let texts: Texts

  init(_ progress: PushProgress, _ texts: Texts) {
    self.progress = progress
    self.texts = texts
  }

  /// For example “120 of 1 204 done”.
  var sentence: String {
    guard let target = progress.target else {
      let isPaused = progress.state == .paused
      return texts(progress.isFinal ? "push.never_begun" : isPaused ? "when.nothing_yet" : "push.counting")
    }
    if progress.isSettling {
      return texts("push.settling", ["done": progress.counts.total.grouped, "target": target.grouped])
    }
    let skipped = progress.counts.skipped
    if progress.state == .cancelled, skipped > 0 {
      let sent = progress.counts.total - skipped
      return texts("push.stopped", count: skipped, ["sent": sent.grouped, "target": target.grouped])
    }
    if isWaiting { return waits }
    let (counts, numbers) = (progress.counts, ["done": progress.counts.total.grouped, "target": target.grouped])
    if counts.total > 0, counts.total > counts.skipped, counts.accepted + counts.unknown == 0 {
      return texts("push.done_none", numbers)
    }
    if counts.failed > 0 {
      return texts("push.done_failed", numbers.merging(["failed": counts.failed.grouped]) { $1 })
    }
    return texts("push.done_of", numbers)
  }

  /// Whether nothing is left to do but to try some devices again.
  private var isWaiting: Bool {
    guard progress.state == .sending, progress.waiting > 0 else { return false }
    guard progress.nextDue != nil || !progress.outlook.inactive.isEmpty else { return false }
    return progress.counts.total + progress.waiting >= progress.target ?? .max
  }

  /// For example “1 device will be retried at 03:25; 2 inactive devices will not be retried”.
  private var waits: String {
    let (inactive, isPartial) = (progress.outlook.inactiveCount, progress.outlook.isPartial)
    let retried = progress.waiting - inactive
    let time = progress.nextDue.map(texts.minute) ?? "–"
    var parts: [String] = []
    if retried > 0 {
      let isMost = isPartial && inactive > 0
      parts.append(texts(isMost ? "push.waiting_most" : "push.waiting", count: retried, ["time": time]))
    }
    if inactive > 0 {
      parts.append(texts(isPartial ? "push.waiting_inactive_least" : "push.waiting_inactive", count: inactive))
    }
    return texts.phrases(parts)
  }

  var rateText: String {
    guard !progress.isFinal, !isWaiting, progress.rate > 0 else { return "" }
    let seconds = (progress.secondsLeft ?? 0).grouped
    guard progress.rate >= 0.5 else {
      return texts("push.slow_rate", ["pause": Int((1 / progress.rate).rounded()).grouped, "seconds": seconds])
    }
    return texts("push.rate", ["rate": texts.rate(progress.rate), "seconds": seconds])
  }

  /// Why nothing is being sent, and the number of devices to retry with the time of the first retry.
  var waitingText: String {
    var parts: [String] = []
    let held = HealthWords(health: progress.health, texts: texts).text
    if let trouble = progress.trouble, progress.health.circuit == .closed {
      parts.append(texts("push.trouble", ["reason": texts.recorded(trouble)]))
    }
    if !held.isEmpty { parts.append(held) }
    // Otherwise the heading says it.
    if progress.waiting > 0, !isWaiting { parts.append(waits) }
    return parts.sentences
  }

  /// Whether nothing is sent until the credential or the service is in order again.
  var isBlocked: Bool { !progress.isFinal && progress.health.circuit != .closed }

  /// How many devices may have received the push twice, and why; empty if none.
  var repeatsText: String {
    let repeats = progress.repeats
    guard repeats.total > 0 else { return "" }
    var why: [String] = []
    if repeats.unanswered > 0 { why.append(texts("push.repeats_unanswered", count: repeats.unanswered)) }
    if repeats.interrupted > 0 { why.append(texts("push.repeats_interrupted", count: repeats.interrupted)) }
    return texts("push.repeats", count: repeats.total, ["why": texts.phrases(why)])
  }

  var value: JSONValue {
    let counts = progress.counts
    var members: [String: JSONValue] = [
      "state": .string(progress.state.rawValue), "state_text": .string(texts("words.\(progress.state.rawValue)")),
      "finished": .bool(progress.isFinal), "target": .integer(Int64(progress.target ?? 0)),
      "done": .integer(Int64(counts.total)), "rate": .integer(Int64(progress.rate)), "rate_text": .string(rateText),
      "seconds_left": progress.secondsLeft.map { .integer(Int64($0)) } ?? .null, "sentence": .string(sentence),
      "pending": .integer(Int64(max(0, (progress.target ?? 0) - counts.total))),
      "waiting": .integer(Int64(progress.waiting)), "waiting_text": .string(waitingText),
      "waiting_inactive": .integer(Int64(progress.outlook.inactiveCount)),
      "repeats_text": .string(repeatsText), "blocked": .bool(isBlocked),
    ]
    for kind in OutcomeKind.allCases { members[kind.name] = .integer(Int64(counts[kind])) }
    return .object(members)
  }
}
