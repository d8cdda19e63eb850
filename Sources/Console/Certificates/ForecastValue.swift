import Calendar
import Certificates
import Foundation
import JSON
import Mustache
import Model
import Store

/// What will be sent with a certificate or key, for its page; what falls after its end is told, and stands first.
struct ForecastValue {
  private static let shown = 50

  let planned: Forecast.Needs
  let notAfter: Date?
  let apps: [App]
  let now: Date

  func value(_ texts: Texts) -> Value {
    let missed = Forecast.missed(planned.pushes, notAfter: notAfter)
    let isMissed = Set(missed)
    let overruns = Forecast.overruns(planned.schedules, notAfter: notAfter, now: now)
    let isOverrun = Set(overruns.map(\.schedule))
    let rows =
      missed.map { row($0, isMissed: true, texts) } + overruns.map { row($0.schedule, $0, texts) }
      + planned.schedules.filter { !isOverrun.contains($0) }.map { row($0, nil, texts) }
      + planned.pushes.filter { !isMissed.contains($0) }.map { row($0, isMissed: false, texts) }
    let repeats = self.repeats(overruns.filter(\.isPressing), texts)
    return [
      "any": .bool(!rows.isEmpty),
      "missed": .string(missed.isEmpty ? "" : texts("expiry.missed", count: missed.count)),
      "repeats": .string(repeats), "pressing": .bool(!missed.isEmpty || !repeats.isEmpty),
      "missed_next": .string(next(texts)),
      "more": .string(rows.count > Self.shown ? texts("expiry.more", count: rows.count - Self.shown) : ""),
      "pushes": .list(Array(rows.prefix(Self.shown))),
    ]
  }

  private var isOver: Bool { Expiry.band(notBefore: nil, notAfter: notAfter, now: now) == .expired }

  private func next(_ texts: Texts) -> String {
    isOver ? texts("forecast.over_next") : texts("expiry.missed_next", ["date": notAfter?.utcText ?? ""])
  }

  /// As “2 repeating pushes go on after its last day: 60 times in the 30 days after it.”
  private func repeats(_ pressing: [Forecast.Overrun], _ texts: Texts) -> String {
    guard let first = pressing.first else { return "" }
    let times = pressing.reduce(0) { $0 + $1.count }
    let sentence = texts(isOver ? "forecast.repeats_over" : "forecast.repeats", count: pressing.count)
    return sentence + " "
      + (times == 0
        ? texts("forecast.first", ["date": first.first.utcText])
        : texts(isOver ? "forecast.times_over" : "forecast.times", count: times))
  }

  private func row(_ push: PlannedPush, isMissed: Bool, _ texts: Texts) -> Value {
    row(push, href: "/pushes/\(push.uid)", title: push.title, bundleID: push.bundleID, texts)
      .merging([
        "rule": "", "at": .string(Timestamp.text(push.sendAt)), "at_text": .string(push.sendAt.utcText),
        "missed": .bool(isMissed), "after": [],
      ])
  }

  private func row(_ schedule: PlannedSchedule, _ overrun: Forecast.Overrun?, _ texts: Texts) -> Value {
    let after: Value =
      overrun.map { overrun in
        [
          [
            "pressing": .bool(overrun.isPressing), "at": .string(Timestamp.text(overrun.first)),
            "at_text": .string(overrun.first.utcText),
            "times": .string(
              overrun.count == 0
                ? "" : texts(isOver ? "forecast.times_over" : "forecast.times", count: overrun.count)),
          ]
        ]
      } ?? []
    return row(
      schedule, href: "/schedules/\(schedule.uid)", title: schedule.title, bundleID: schedule.bundleID, texts
    ).merging([
      "rule": .string(texts.rule(schedule.recurrence.rule)), "at": .string(Timestamp.text(schedule.nextAt)),
      "at_text": .string(schedule.nextAt.utcText), "missed": false, "after": after,
    ])
  }

  private func row(
    _ item: some Planned, href: String, title: String?, bundleID: String, _ texts: Texts
  ) -> [String: Value] {
    [
      "href": .string(href), "name": .string(title ?? item.uid),
      "app": .string(apps.first { $0.id == item.appID }?.name ?? bundleID),
      "environment": .string(item.environment.word(texts)), "production": .bool(item.environment == .production),
    ]
  }
}

extension [String: Value] {
  fileprivate func merging(_ other: [String: Value]) -> Value { .object(merging(other) { $1 }) }
}
