import Calendar
import Foundation
import Model
import Store

/// The schedules that need attention: missed runs, overdue runs, and schedules that the console stopped.
enum ScheduleAttention {
  /// More are counted, not listed.
  private static let shown = 5

  static func items(_ troubles: [ScheduleTrouble], _ list: AttentionList, _ texts: Texts) -> [AttentionItem] {
    var items = troubles.prefix(shown).map { item($0, list, texts) }
    if troubles.count > shown {
      items.append(
        list.item(
          texts, label: texts("attention.more_label"), failed: false,
          text: texts("attention.more_schedules", count: troubles.count - shown), detail: "", href: "/schedules",
          action: "show"))
    }
    return items
  }

  private static func item(_ trouble: ScheduleTrouble, _ list: AttentionList, _ texts: Texts) -> AttentionItem {
    let schedule = trouble.schedule
    let zone = schedule.recurrence?.rule.zone ?? .utc
    let heading = texts.heading(schedule.title, schedule.body)
    let href = "/schedules/\(schedule.uid)"
    switch trouble.kind {
    case .missed(let count, let last):
      let buttons = ["copy": texts("schedules.copy"), "now": texts("when.now")]
      let next =
        schedule.nextAt.map {
          texts("attention.missed_next", buttons.merging(["next": texts.moment($0, zone)]) { $1 })
        } ?? texts("attention.missed_end", buttons)
      return list.item(
        texts, label: texts("schedules.missed"), failed: false,
        text: texts("attention.missed", count: count, ["name": heading, "last": texts.moment(last, zone)]),
        detail: next,
        href: href, action: "show")
    case .overdue(let since):
      return list.item(
        texts, label: texts("attention.overdue_label"), failed: true,
        text: texts("attention.overdue", ["name": heading, "since": texts.moment(since, zone)]),
        detail: texts("attention.overdue_next"), href: href, action: "show")
    case .stopped(let why):
      return list.item(
        texts, label: texts("attention.stopped_label"), failed: true,
        text: texts("attention.stopped", ["name": heading]),
        detail: texts.recorded(why), href: href, action: "show")
    }
  }
}
