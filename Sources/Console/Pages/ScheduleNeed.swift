import Foundation
import Mustache
import Push
import Store

/// Schedules among “What needs you”: what was missed, what is late, and what stopped by itself.
enum ScheduleNeed {
  /// More are counted, not listed.
  private static let shown = 5

  static func values(_ troubles: [ScheduleTrouble], _ needs: Needs, _ texts: Texts) -> [Value] {
    var values = troubles.prefix(shown).map { value($0, needs, texts) }
    if troubles.count > shown {
      values.append(
        needs.need(
          texts, label: texts("needs.more_label"), failed: false,
          text: texts("needs.more_schedules", count: troubles.count - shown), detail: "", href: "/schedules",
          action: "show"))
    }
    return values
  }

  private static func value(_ trouble: ScheduleTrouble, _ needs: Needs, _ texts: Texts) -> Value {
    let schedule = trouble.schedule
    let zone = schedule.recurrence?.rule.zone ?? .utc
    let heading = [schedule.title, schedule.body].compactMap { $0 }.first { !$0.isEmpty } ?? texts("pushes.no_text")
    let href = "/schedules/\(schedule.uid)"
    switch trouble.kind {
    case .missed(let count, let last):
      let buttons = ["copy": texts("schedules.copy"), "now": texts("when.now")]
      let next =
        schedule.nextAt.map {
          texts("needs.missed_next", buttons.merging(["next": texts.moment($0, zone)]) { $1 })
        } ?? texts("needs.missed_end", buttons)
      return needs.need(
        texts, label: texts("schedules.missed"), failed: false,
        text: texts("needs.missed", count: count, ["name": heading, "last": texts.moment(last, zone)]), detail: next,
        href: href, action: "show")
    case .overdue(let since):
      return needs.need(
        texts, label: texts("needs.overdue_label"), failed: true,
        text: texts("needs.overdue", ["name": heading, "since": texts.moment(since, zone)]),
        detail: texts("needs.overdue_next"), href: href, action: "show")
    case .stopped(let why):
      return needs.need(
        texts, label: texts("needs.stopped_label"), failed: true, text: texts("needs.stopped", ["name": heading]),
        detail: why, href: href, action: "show")
    }
  }
}
