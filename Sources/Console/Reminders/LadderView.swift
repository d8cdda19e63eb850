import Certificates
import Foundation
import Mustache
import Reminders

/// The ladder of reminders as a picture with a table, for `components/ladder`. Positions are in hundredths of a percent.
struct LadderView: View {
  /// More steps leave no room for a date below each.
  private static let dated = 9

  let rungs: [LadderRung]
  /// What the picture says.
  let summary: String
  /// From today to the end; nil after the end, and for the ladder of no item.
  let left: LadderStretch?

  static let fields: [Field<Self>] = [
    .text("summary") { $0.summary },
    .list("rungs") { $0.rungs },
    .view("left") { $0.left },
    .flag("has_dates") { $0.rungs.contains { $0.at != nil } },
  ]

  /// The steps that the settings choose.
  init(_ ladder: ReminderLadder, _ texts: Texts) {
    let steps = ladder.steps
    rungs = steps.indices.map { index in
      LadderRung(steps[index], .chosen, at: nil, x: Self.x(index, of: steps.count), hasDate: false, texts)
    }
    summary = texts("reminders.ladder.chosen", ["steps": texts.list(rungs.map(\.words))])
    left = nil
  }

  /// The ladder of something that ends.
  ///
  /// - Parameter times: when each step is due.
  init(
    _ steps: [(step: ReminderLadder.Step, state: LadderRung.State, at: Date)], times: [Date], notAfter: Date,
    now: Date, _ sentences: [String], _ texts: Texts
  ) {
    let isRoomy = steps.count <= Self.dated
    rungs = steps.indices.map { index in
      let (step, state, at) = steps[index]
      let hasDate = isRoomy || state == .next || index == steps.count - 1
      return LadderRung(step, state, at: at, x: Self.x(index, of: steps.count), hasDate: hasDate, texts)
    }
    let sent = rungs.filter { $0.state == .sent }.map(\.words)
    let band = Expiry.band(notBefore: nil, notAfter: notAfter, now: now)
    summary =
      ((sent.isEmpty ? [] : [texts("reminders.ladder.sent_so_far", ["steps": texts.list(sent)])]) + sentences
      + [
        texts(
          band == .expired ? "reminders.ladder.ended" : "reminders.ladder.ends", ["date": texts.minute(notAfter)])
      ])
      .joined(separator: texts("between.space"))
    left =
      band == .expired
      ? nil
      : LadderStretch(x: Self.place(now, among: times), tone: band == .urgent ? "red" : band == .soon ? "amber" : "acc")
  }

  private static func x(_ index: Int, of count: Int) -> Int { 500 + 8_700 * index / max(1, count - 1) }

  /// Steps stand at equal distances, whatever time is between them.
  private static func place(_ now: Date, among times: [Date]) -> Int {
    guard let after = times.firstIndex(where: { $0 > now }) else { return x(times.count - 1, of: times.count) }
    guard after > 0 else { return 100 }
    let share = now.timeIntervalSince(times[after - 1]) / times[after].timeIntervalSince(times[after - 1])
    let (before, next) = (x(after - 1, of: times.count), x(after, of: times.count))
    return before + Int((Double(next - before) * share).rounded())
  }
}

/// The time that is left, in the color of its band.
struct LadderStretch: View {
  let x: Int
  let tone: String

  static let fields: [Field<Self>] = [
    .written("x") { $1.write(hundredths: $0.x) }, .text("tone") { $0.tone },
  ]
}

/// A step of the ladder.
struct LadderRung: View {
  enum State: String, Sendable {
    case chosen, sent
    /// Not sent: it was due before the item was known, or a later one went out in its place.
    case passed
    /// Held back by an acknowledgement.
    case held
    case next, later
  }

  let state: State
  let at: Date?
  let x: Int
  /// Whether the date has room in the picture.
  let hasDate: Bool
  /// The number of days.
  let label: String
  let words: String
  let stateText: String

  init(_ step: ReminderLadder.Step, _ state: State, at: Date?, x: Int, hasDate: Bool, _ texts: Texts) {
    (self.state, self.at, self.x, self.hasDate) = (state, at, x, hasDate)
    label = step == .expired ? texts("reminders.expired") : String(step.rawValue)
    words = ReminderLog.step(step.rawValue, texts)
    stateText =
      switch state {
      case .chosen: ""
      case .sent: texts("reminders.ladder.sent")
      case .passed: texts("reminders.ladder.passed")
      case .held: texts("reminders.ladder.held")
      case .next: texts("reminders.ladder.next")
      case .later: texts("reminders.ladder.later")
      }
  }

  static let fields: [Field<Self>] = [
    .text("shape") { $0.state.rawValue },
    .written("x") { $1.write(hundredths: $0.x) },
    .text("label") { $0.label },
    .text("words") { $0.words },
    .text("state") { $0.stateText },
    .view("at") { rung in rung.at.map { LadderDay(date: $0, isDrawn: rung.hasDate) } },
    .flag("may_hide") { $0.state != .next },
  ]
}

/// When a step is sent.
struct LadderDay: View {
  let date: Date
  let isDrawn: Bool

  static let fields: [Field<Self>] = [
    .written("day") { $1.write(day: $0.date) },
    .written("short_day") { $1.write(shortDay: $0.date) },
    .flag("drawn") { $0.isDrawn },
  ]
}
