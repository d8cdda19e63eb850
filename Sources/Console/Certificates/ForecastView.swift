import Calendar
import Certificates
import Foundation
import Mustache
import Model
import Store

/// What will be sent with a certificate or key, for its page. Pushes after its expiry come first.
struct ForecastView: View {
  private static let shown = 50

  /// For example “2 pushes are scheduled after it expires.”
  let missed: String
  /// For example “2 repeating pushes continue after it expires: 60 times in the 30 days after it.”
  let repeats: String
  /// What to do about both.
  let next: String
  let rows: [PlannedRow]
  let more: Int

  static let fields: [Field<Self>] = [
    .text("missed") { $0.missed },
    .text("repeats") { $0.repeats },
    .flag("pressing") { !$0.missed.isEmpty || !$0.repeats.isEmpty },
    .text("next") { $0.next },
    .list("pushes") { $0.rows },
    .flag("has_pushes") { !$0.rows.isEmpty },
    .view("more") { $0.more > 0 ? CountView(count: $0.more) : nil },
  ]

  init(_ planned: Forecast.Plan, notAfter: Date?, apps: [App], now: Date, _ texts: Texts) {
    let isOver = Expiry.band(notBefore: nil, notAfter: notAfter, now: now) == .expired
    let missed = Forecast.missed(planned.pushes, notAfter: notAfter)
    let isMissed = Set(missed)
    let overruns = Forecast.overruns(planned.schedules, notAfter: notAfter, now: now)
    let isOverrun = Set(overruns.map(\.schedule))
    func app(_ item: some Planned, _ bundleID: String) -> String {
      apps.first { $0.id == item.appID }?.name ?? bundleID
    }
    func row(_ push: PlannedPush, isMissed: Bool) -> PlannedRow {
      PlannedRow(
        href: "/pushes/\(push.uid)", name: push.title ?? push.uid, app: app(push, push.bundleID),
        isProduction: push.environment == .production, at: push.sendAt, isMissed: isMissed)
    }
    func row(_ schedule: PlannedSchedule, _ overrun: Forecast.Overrun?) -> PlannedRow {
      PlannedRow(
        href: "/schedules/\(schedule.uid)", name: schedule.title ?? schedule.uid,
        app: app(schedule, schedule.bundleID), isProduction: schedule.environment == .production,
        at: schedule.nextAt, rule: texts.rule(schedule.recurrence.rule, from: schedule.nextAt),
        overrun: overrun.map { OverrunView(overrun: $0, isOver: isOver) })
    }
    let rows =
      missed.map { row($0, isMissed: true) } + overruns.map { row($0.schedule, $0) }
      + planned.schedules.filter { !isOverrun.contains($0) }.map { row($0, nil) }
      + planned.pushes.filter { !isMissed.contains($0) }.map { row($0, isMissed: false) }
    self.rows = Array(rows.prefix(Self.shown))
    more = rows.count - self.rows.count
    self.missed = missed.isEmpty ? "" : texts("expiry.missed", count: missed.count)
    repeats = Self.repeats(overruns.filter(\.isPressing), isOver: isOver, texts)
    next =
      isOver ? texts("forecast.over_next") : texts("expiry.missed_next", ["date": notAfter.map(texts.minute) ?? ""])
  }

  private static func repeats(_ pressing: [Forecast.Overrun], isOver: Bool, _ texts: Texts) -> String {
    guard let first = pressing.first else { return "" }
    let times = pressing.reduce(0) { $0 + $1.count }
    let sentence = texts(isOver ? "forecast.repeats_over" : "forecast.repeats", count: pressing.count)
    let when =
      times == 0
      ? texts("forecast.first", ["date": texts.minute(first.first)])
      : texts(isOver ? "forecast.times_over" : "forecast.times", count: times)
    return [sentence, when].sentences
  }
}

/// A push or schedule that needs the certificate.
struct PlannedRow: View {
  let href: String
  let name: String
  let app: String
  let isProduction: Bool
  let at: Date
  var isMissed = false
  /// Only for a repeating push.
  var rule: String?
  var overrun: OverrunView?

  static let fields: [Field<Self>] = [
    .text("href") { $0.href },
    .text("name") { $0.name },
    .text("app") { $0.app },
    .flag("production") { $0.isProduction },
    .view("at") { MomentView(date: $0.at) },
    .flag("missed") { $0.isMissed },
    .optional("rule") { $0.rule },
    .view("overrun") { $0.overrun },
  ]
}

/// How often a schedule runs after the expiry, and when first.
struct OverrunView: View {
  let overrun: Forecast.Overrun
  /// Whether the expiry date has passed.
  let isOver: Bool

  static let fields: [Field<Self>] = [
    .flag("pressing") { $0.overrun.isPressing },
    .view("first") { MomentView(date: $0.overrun.first) },
    .view("times_over") { $0.isOver && $0.overrun.count > 0 ? CountView(count: $0.overrun.count) : nil },
    .view("times_after") { !$0.isOver && $0.overrun.count > 0 ? CountView(count: $0.overrun.count) : nil },
  ]
}
