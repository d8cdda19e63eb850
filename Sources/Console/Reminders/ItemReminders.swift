import Calendar
import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import Reminders
import SQLite
import Store

/// The reminders of one certificate or watched host, for its page, with the form that acknowledges them.
struct ItemReminders: Sendable {
  private let item: Renewable
  private let log: ReminderLog
  private let taken: Acknowledgement?
  /// Upcoming reminders, the next one first.
  private let coming: [(step: ReminderLadder.Step, at: Date)]
  private let sent: Set<ReminderLadder.Step>
  /// When each step is due; none for what never ends.
  private let due: [(step: ReminderLadder.Step, at: Date)]
  private let hasReceivers: Bool
  /// The time zone of the reminders.
  private let zone: TimeZone
  /// Whether it was replaced and nothing sends with it: its reminders have stopped.
  private let isReplaced: Bool

  /// An item without an end is never reminded about.
  private var ends: Bool { item.notAfter != nil && !isReplaced }

  init(_ database: Database, _ item: Renewable, isReplaced: Bool = false, now: Date) throws {
    self.item = item
    self.isReplaced = isReplaced
    log = try ReminderLog(database, itemKey: item.subject.key, limit: 20)
    taken = isReplaced ? nil : try Acknowledgement.find(database, item.subject, now: now)
    hasReceivers = try Receiver.all(database).contains { $0.details.isActive }
    let settings = try ReminderSettings.load(database)
    zone = settings.zone
    sent = Set(try (Reminder.steps(database)[item.subject] ?? []).map(ReminderLadder.Step.init))
    var due: [(step: ReminderLadder.Step, at: Date)] = []
    if let end = item.notAfter, end < Expiry.never, !isReplaced {
      for step in settings.ladder.steps {
        let at = ReminderLadder.firstTime(step, notAfter: end, hour: settings.hour, zone: settings.zone)
        due.append((step, at))
      }
    }
    self.due = due
    coming = settings.ladder.coming(
      notAfter: isReplaced ? nil : item.notAfter, now: now, sent: sent, hour: settings.hour, zone: settings.zone)
  }

  /// While acknowledged: the date until which reminders are held back.
  private var quiet: Date? {
    item.notAfter.flatMap { end in taken?.quiet(notAfter: end) }
  }

  func view(_ page: PageContext, _ errors: FieldErrors) -> RemindersView {
    let texts = page.texts
    // The last of the held-back reminders goes out when the acknowledgement ends.
    let kept = quiet.map { quiet in coming.filter { $0.at < quiet } } ?? []
    let isOver = Expiry.band(notBefore: nil, notAfter: item.notAfter, now: page.now) == .expired
    var nextText = texts(
      isReplaced
        ? "reminders.replaced"
        : item.neverEnds ? "reminders.never" : ends ? "reminders.none" : "reminders.not_seen")
    if let next = kept.last ?? coming.first {
      let at = kept.isEmpty ? next.at : quiet ?? next.at
      nextText = texts(
        "reminders.\(isOver ? "over" : "next")\(at <= page.now ? "_now" : "")",
        ["step": ReminderLog.step(next.step.rawValue, texts), "date": texts.minute(at)])
    }
    let said = [nextText] + (taken.map { [Self.words($0, texts)] } ?? [])
    let suggestion = ends ? item.suggestion(now: page.now) : nil
    let mayChange = page.may(.operator)
    return RemindersView(
      key: item.subject.key, ladder: ladder(kept, said, page), next: nextText, hasNoReceiver: ends && !hasReceivers,
      taken: taken.map { Self.words($0, texts) },
      keptBack: kept.isEmpty ? "" : texts("reminders.kept_back", ["steps": words(kept, texts)]),
      mayResume: ends && mayChange, isLastDay: ends && !isOver && suggestion == nil && !coming.isEmpty,
      maySnooze: suggestion != nil && mayChange, silences: suggestion.map { silences($0, page) } ?? "",
      until: page.form.has("until") ? page.form["until"] : suggestion?.dayText ?? "", error: errors["until"],
      today: page.now, latest: item.limit(now: page.now) ?? page.now,
      messages: log.messages(
        texts, showsItems: false, showsReceivers: page.may(.admin), itemKey: item.subject.key))
  }

  /// The steps as a picture; nil for what never ends.
  ///
  /// - Parameters:
  ///   - kept: the steps that are held back; only the last one is sent afterwards.
  ///   - said: what the page says about the next reminder, and who handles the item.
  private func ladder(
    _ kept: [(step: ReminderLadder.Step, at: Date)], _ said: [String], _ page: PageContext
  ) -> LadderView? {
    guard let end = item.notAfter, !due.isEmpty else { return nil }
    let next = kept.last?.step ?? coming.first?.step
    let steps = due.map { step, at -> (step: ReminderLadder.Step, state: LadderRung.State, at: Date) in
      if sent.contains(step) { return (step, .sent, local(at)) }
      guard let time = coming.first(where: { $0.step == step })?.at else { return (step, .passed, local(at)) }
      if step == next { return (step, .next, local(kept.isEmpty ? time : quiet ?? time)) }
      return (step, kept.contains { $0.step == step } ? .held : .later, local(time))
    }
    return LadderView(steps, times: due.map(\.at), notAfter: end, now: page.now, said, page.texts)
  }

  /// The reminders that the suggested day would hold back, as text.
  private func silences(_ suggestion: Date, _ page: PageContext) -> String {
    let day = suggestion.dayText
    guard let until = Self.until(day, item, now: page.now) else { return "" }
    let kept = coming.filter { $0.at < until }
    let shown = page.texts.day(suggestion)
    return kept.isEmpty
      ? page.texts("reminders.silences_none", ["date": shown])
      : page.texts("reminders.silences", ["date": shown, "steps": words(kept, page.texts)])
  }

  /// As “7 days before (2026-11-25), 3 days before (2026-11-29)”.
  private func words(_ steps: [(step: ReminderLadder.Step, at: Date)], _ texts: Texts) -> String {
    texts.list(steps.map { texts.noted(ReminderLog.step($0.step.rawValue, texts), texts.day(local($0.at))) })
  }

  /// Moves a time so that its day in UTC, which pages write, is the day in the time zone of the reminders.
  private func local(_ date: Date) -> Date { date.addingTimeInterval(Double(zone.secondsFromGMT(for: date))) }

  /// As “lin is on it until 2026-12-01.”
  static func words(_ taken: Acknowledgement, _ texts: Texts) -> String {
    // `until` is the end of a day: show the day before it.
    texts("reminders.taken", ["name": taken.by, "date": texts.day(taken.until.addingTimeInterval(-1))])
  }

  /// The end (UTC) of a day typed as `2026-12-01`, or the latest allowed time if that is on this day. Nil if the text
  /// is not a day, or the day is past or too late.
  static func until(_ text: String, _ item: Renewable, now: Date) -> Date? {
    guard text.utf8.count == 10, let day = Timestamp.parse("\(text)T00:00:00Z"), let limit = item.limit(now: now),
      day < limit
    else { return nil }
    let end = min(day.addingTimeInterval(86_400), limit)
    return item.problem(end, now: now) == nil ? end : nil
  }
}

/// What ``ItemReminders`` shows, for `certificates/_reminders`.
struct RemindersView: View {
  /// The item's path, as `certificates/7`.
  let key: String
  /// Nil for what never ends.
  let ladder: LadderView?
  let next: String
  let hasNoReceiver: Bool
  /// Who handles it, if somebody does.
  let taken: String?
  let keptBack: String
  let mayResume: Bool
  /// Whether it ends too soon to snooze anything.
  let isLastDay: Bool
  let maySnooze: Bool
  /// What the day in the form holds back.
  let silences: String
  let until: String
  let error: String
  let today: Date
  /// The last day that can be chosen.
  let latest: Date
  let messages: [ReminderRow]

  static let fields: [Field<Self>] = [
    .text("key") { $0.key },
    .view("ladder") { $0.ladder },
    .text("next") { $0.next },
    .flag("no_receiver") { $0.hasNoReceiver },
    .optional("taken") { $0.taken },
    .text("kept_back") { $0.keptBack },
    .flag("may_resume") { $0.mayResume },
    .flag("is_last_day") { $0.isLastDay },
    .flag("may_snooze") { $0.maySnooze },
    .text("silences") { $0.silences },
    .view("until") { FieldView(value: $0.until, error: $0.error) },
    .written("today") { $1.write(machineDay: $0.today) },
    .written("latest") { $1.write(machineDay: $0.latest) },
    .list("messages") { $0.messages },
    .flag("has_messages") { !$0.messages.isEmpty },
  ]
}
