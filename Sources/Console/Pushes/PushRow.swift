import Foundation
import JSON
import Mustache
import Model
import SQLite
import Store
import Synchronization

/// One row of a list of pushes, for `pushes/_rows`.
///
/// A page has 50 rows, so each field reads straight from the push.
struct PushRow: View {
  let listed: ListedPush
  let words: PushWords
  let app: String
  let now: Date
  /// Whether the reader may cancel and send again.
  var mayAct = false
  /// Whether it waits for a credential that is blocked.
  var isBlocked = false
  /// Whether the row is the first of its day in a list grouped by day.
  var beginsDay = false
  /// Whether the row is the first of those that are scheduled for later.
  var beginsScheduled = false

  static let fields: [Field<Self>] = [
    .written("href") { row, output in
      output.write("/pushes/" as StaticString)
      output.write(row.listed.push.uid)
    },
    .text("id") { $0.listed.push.uid },
    .text("title") { $0.words.title },
    .text("summary") { $0.listed.summary },
    .flag("has_summary") { !$0.listed.summary.isEmpty },
    .optional("kind") { $0.words.kind },
    .view("state") { PushStateView($0.listed.push, now: $0.now, isBlocked: $0.isBlocked) },
    .text("app") { $0.app },
    .flag("production") { $0.listed.push.environment == .production },
    .text("audience") { $0.words.audience },
    .view("bar") { OutcomeBar($0.listed.push.counts, target: $0.listed.push.target ?? 0) },
    .text("source") { $0.words.source },
    .text("by") { $0.words.by },
    .flag("is_blocked") { $0.isBlocked },
    // An audience without devices has no outcome to count.
    .flag("is_counted") { $0.listed.push.target ?? 0 > 0 },
    .flag("reached_nobody") { row in
      // That the app is gone says more.
      row.listed.push.result == .nobody && row.listed.push.counts.deadToken < row.listed.push.target ?? 0
    },
    .flag("is_paused") { $0.listed.push.state == .paused },
    .flag("is_canceled") { $0.listed.push.state == .cancelled },
    .flag("is_sending") { $0.listed.push.state == .sending },
    .number("done") { $0.listed.push.counts.total - $0.listed.push.counts.skipped },
    .number("target") { $0.listed.push.target ?? 0 },
    .number("accepted") { $0.listed.push.counts.accepted },
    .number("failed") { $0.listed.push.counts.failed },
    .number("dead") { $0.listed.push.counts.deadToken },
    .flag("any_failed") { $0.listed.push.counts.failed > 0 },
    .flag("any_dead") { $0.listed.push.counts.deadToken > 0 },
    .view("created") { MomentView(date: $0.listed.push.createdAt, now: $0.now) },
    .view("later") { row in row.listed.later(row.now).map { MomentView(date: $0, now: row.now) } },
    .flag("cancellable") { $0.mayAct && $0.listed.later($0.now) != nil },
    .flag("undoable") { $0.listed.push.isUndoable(now: $0.now) },
    .flag("repeatable") { $0.mayAct && $0.listed.push.state.isOver && $0.listed.audience != nil },
    .flag("begins_scheduled") { $0.beginsScheduled },
    .view("day") { $0.beginsDay ? MomentView(date: $0.listed.push.createdAt) : nil },
  ]
}

/// A push with the parts of its draft that lists show, read once for all who look at the list. A class, because rows are
/// copied while they are written.
final class ListedPush: Sendable {
  let push: Push
  /// Nil if the draft cannot be read.
  let audience: Audience?
  /// The notification's first text.
  private let text: String?
  /// The custom payload of a push without text.
  private let payload: JSONValue?
  /// The text under the title.
  let summary: String
  /// Names of the devices that the audience lists by their tokens.
  let names: [DeviceToken: String]
  /// By the language's code.
  private let known = Mutex<[String: PushWords]>([:])

  init(_ database: Database, _ push: Push) throws {
    let content = [push.title, push.body].compactMap { $0 }.filter { !$0.isEmpty }
    let draft = RawJSON(object: push.draftJSON)
    self.push = push
    audience = draft.flatMap(Self.audience)
    names =
      if case .rule(let rule)? = audience, !rule.deviceToken.isEmpty, rule.deviceToken.count <= Audience.mostNamed {
        try Device.names(database, app: push.appID, tokens: rule.deviceToken)
      } else {
        [:]
      }
    text = content.first
    payload = text == nil ? draft.flatMap(Self.payload) : nil
    summary = content.dropFirst().first ?? ""
  }

  func words(_ texts: Texts) -> PushWords {
    known.withLock { known in
      if let words = known[texts.code] { return words }
      let words = PushWords(self, texts)
      known[texts.code] = words
      return words
    }
  }

  /// The send time of a scheduled push; otherwise nil.
  func later(_ now: Date) -> Date? { push.state == .queued ? push.waits(now: now) : nil }

  static func audience(_ draft: RawJSON) -> Audience? {
    guard let audience = draft.member("audience") else { return nil }
    if audience == "\"all\"" { return .all }
    let platforms = draft.member("platforms").map { ",\"platforms\":\($0)" } ?? ""
    let value = try? JSONValue(parsing: Data("{\"audience\":\(audience)\(platforms)}".utf8))  // nil: another version's
    return value.flatMap(Audience.init(draft:))
  }

  private static func payload(_ draft: RawJSON) -> JSONValue? {
    let apns = draft.member("apns").flatMap { try? JSONValue(parsing: Data($0.utf8)) }  // nil: another version's
    return apns?["payload"]
  }

  /// The notification's first text; without one what a Live Activity shows, or that it has none.
  func title(_ texts: Texts) -> String {
    if let text { return text }
    let aps = payload?["aps"]
    let alert =
      PhoneNotificationRow.text(aps?["alert"], "title", "title-loc-key")
      ?? PhoneNotificationRow.text(aps?["alert"], "body", "loc-key") ?? aps?["alert"]?.string ?? ""
    let activity = PhoneNotificationRow.activity(aps, texts)?.content ?? ""
    return [alert, activity].first { !$0.isEmpty }
      ?? texts(push.pushType == .background ? "pushes.silent" : "pushes.no_text")
  }
}

/// What lists say of a push in one language, made once for all who look: for each request anew, it took an eighth of
/// `/pushes`.
final class PushWords: Sendable {
  let audience: String
  let title: String
  /// Nil: a plain notification.
  let kind: String?
  /// Where it came from, as “console”.
  let source: String
  /// Who created it, as the activity log names them.
  let by: String

  init(_ listed: ListedPush, _ texts: Texts) {
    audience = listed.audience?.text(texts, names: listed.names) ?? ""
    title = listed.title(texts)
    kind = listed.push.pushType == .alert ? nil : texts("push_type.\(listed.push.pushType.rawValue)")
    source = texts("source.\(listed.push.source.rawValue)")
    by = ActivityActor(listed.push.createdBy).name(texts)
  }
}

extension PushRow {
  init(
    _ listed: ListedPush, app: App?, texts: Texts, now: Date, mayAct: Bool = false, isBlocked: Bool = false
  ) {
    self.init(
      listed: listed, words: listed.words(texts), app: app?.name ?? "", now: now, mayAct: mayAct,
      isBlocked: isBlocked)
  }

  /// Groups the rows by day in UTC, because the server does not know the user's time zone. Pushes of the page that are
  /// scheduled for later come first, the next one at the top: the day of their creation says nothing of them.
  static func byDay(
    _ pushes: [ListedPush], apps: [App], blocked: Set<Int64> = [], texts: Texts, now: Date, mayAct: Bool
  ) -> [PushRow] {
    func shown(_ listed: ListedPush) -> PushRow {
      PushRow(
        listed, app: apps.first { $0.id == listed.push.appID }, texts: texts, now: now, mayAct: mayAct,
        isBlocked: blocked.contains(listed.push.id))
    }
    var (later, others): ([PushRow], [PushRow]) = ([], [])
    var last: Int?
    for listed in pushes {
      var row = shown(listed)
      if PushStateView(listed.push, now: now).isScheduled {
        later.append(row)
        continue
      }
      let day = Int((listed.push.createdAt.timeIntervalSince1970 / 86_400).rounded(.down))
      row.beginsDay = day != last
      last = day
      others.append(row)
    }
    later.sort { ($0.listed.later(now) ?? now, $0.listed.push.id) < ($1.listed.later(now) ?? now, $1.listed.push.id) }
    if !later.isEmpty { later[0].beginsScheduled = true }
    return later + others
  }
}

/// The state of a push, for `pushes/_state`.
struct PushStateView: View {
  let state: PushState
  let refusal: Approval.Decision?
  let isScheduled: Bool
  let isUndoable: Bool
  /// What the bar shows in colour: failed, and unregistered.
  let missed: Int
  let failed: Int
  let accepted: Int
  /// Whether it waits for a credential that is blocked.
  let isBlocked: Bool

  init(_ push: Push, now: Date, isBlocked: Bool = false) {
    self.isBlocked = isBlocked && push.state == .sending
    (state, refusal) = (push.state, push.refusal)
    isUndoable = push.isUndoable(now: now)
    isScheduled = push.state == .queued && push.waits(now: now) != nil && !isUndoable
    failed = push.counts.failed
    missed = push.counts.failed + push.counts.deadToken
    accepted = push.counts.accepted
  }

  static let fields: [Field<Self>] = [
    .flag("needs_approval") { $0.state == .needsApproval },
    .flag("scheduled") { $0.isScheduled },
    .flag("undoable") { $0.isUndoable },
    .flag("queued") { $0.state == .queued && !$0.isScheduled && !$0.isUndoable },
    .flag("blocked") { $0.isBlocked },
    .flag("sending") { $0.state == .sending && !$0.isBlocked },
    .flag("paused") { $0.state == .paused },
    .flag("finished") { $0.state == .finished },
    .flag("cancelled") { $0.state == .cancelled && $0.refusal == nil },
    .flag("rejected") { $0.refusal == .rejected },
    .flag("approval_expired") { $0.refusal == .expired },
    .flag("is_failed") { $0.state == .failed },
    .text("tone") { $0.tone },
  ]

  /// The CSS class of the dot: red if most answers are failures.
  var tone: String {
    if state == .needsApproval || isBlocked { return "amber" }
    if state == .failed || failed > accepted { return "red" }
    if missed > 0 { return "amber" }
    return state == .finished ? "" : "none"
  }
}

/// The parts of an outcome bar, in hundredths of a percent of the targeted devices; for `components/bar`.
struct OutcomeBar: View {
  struct Part: View {
    let x: Int
    let width: Int

    static let fields: [Field<Self>] = [
      .written("x") { $1.write(hundredths: $0.x) }, .written("width") { $1.write(hundredths: $0.width) },
    ]
  }

  let counts: OutcomeCounts
  let whole: Int

  init(_ counts: OutcomeCounts, target: Int) {
    self.counts = counts
    whole = max(target, counts.total, 1)
  }

  static let fields: [Field<Self>] = [
    .view("accepted") { $0.part(after: 0, $0.counts.accepted) },
    .view("failed") { $0.part(after: $0.counts.accepted, $0.counts.failed) },
    .view("dead_token") { $0.part(after: $0.counts.accepted + $0.counts.failed, $0.counts.deadToken) },
    .view("skipped") {
      $0.part(after: $0.counts.accepted + $0.counts.failed + $0.counts.deadToken, $0.counts.skipped)
    },
    .view("unknown") { $0.part(after: $0.counts.total - $0.counts.unknown, $0.counts.unknown) },
  ]

  private func part(after before: Int, _ count: Int) -> Part? {
    guard count > 0 else { return nil }
    return Part(x: hundredths(before), width: hundredths(count))
  }

  private func hundredths(_ count: Int) -> Int { Int((Double(count) * 10_000 / Double(whole)).rounded()) }
}
