import Certificates
package import Foundation

/// On which days before its end somebody is reminded of something: pure arithmetic over dates.
///
/// A step of N days is due from the moment when ``Expiry/daysLeft(notAfter:now:)`` is N: at least N whole days are left
/// when somebody hears of it, wherever they live. The hour is another matter: see ``isTime(_:notAfter:now:hour:zone:)``.
package struct ReminderLadder: Sendable, Hashable {
  /// One reminder on the way to the end. The raw value is the number of days; -1: it is over.
  package struct Step: RawRepresentable, Sendable, Hashable, Comparable {
    /// Days before the end.
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// So many days before the end.
    package static func days(_ count: Int) -> Step { Step(rawValue: count) }
    /// It is over.
    package static let expired = Step(rawValue: -1)

    /// The later one is the lesser.
    package static func < (one: Step, other: Step) -> Bool { one.rawValue < other.rawValue }
  }

  /// What is always reminded of, whatever people choose.
  package static let promised = Step.days(30)
  /// The steps unless somebody chooses others.
  package static let usual = ReminderLadder(days: [60, 30, 14, 7, 3, 1, 0])
  /// No reminder comes earlier than so many days before the end.
  package static let longest = 365

  /// The earliest first, ending with ``Step/expired``.
  package let steps: [Step]

  /// Creates a ladder; the promised step and the last one are in it in any case, days that cannot be are not.
  package init(days: [Int]) {
    let wanted = Set(days.filter { (0...Self.longest).contains($0) }.map(Step.days))
    steps = wanted.union([Self.promised, .expired]).sorted(by: >)
  }

  /// The days, the most first.
  package var days: [Int] { steps.map(\.rawValue).filter { $0 >= 0 } }

  /// From when on a step is due.
  package static func due(_ step: Step, notAfter: Date) -> Date {
    let end = Date(timeIntervalSince1970: notAfter.timeIntervalSince1970.rounded(.down))
    // One second after the last at which one day more was left; one second after the last of validity.
    return end.addingTimeInterval(-Double((step.rawValue + 1) * Expiry.secondsPerDay) + 1)
  }

  /// The step to send now, nil if there is none.
  ///
  /// When several have passed (the clock jumped, the server stood still, the file came late) only the last one counts,
  /// and those before it are never sent afterwards, even if the clock goes back.
  ///
  /// - Parameters:
  ///   - sent: the steps that were sent for this very thing, with this very fingerprint.
  ///   - isTime: whether a step that is due may be sent at this hour.
  package func step(
    notAfter: Date?, now: Date, sent: some Collection<Step>, isTime: (Step) -> Bool = { _ in true }
  ) -> Step? {
    guard let notAfter, notAfter < Expiry.never else { return nil }
    let last = sent.min()
    return steps.last { step in
      Self.due(step, notAfter: notAfter) <= now && isTime(step)
    }.flatMap { step in last.map { step < $0 } ?? true ? step : nil }
  }

  /// The next step and the first moment at which it is due; nil if there is none any more.
  package func next(notAfter: Date?, now: Date, sent: some Collection<Step>) -> (step: Step, due: Date)? {
    guard let notAfter, notAfter < Expiry.never else { return nil }
    if let step = step(notAfter: notAfter, now: now, sent: sent) { return (step, Self.due(step, notAfter: notAfter)) }
    let last = sent.min()
    return steps.first { step in
      Self.due(step, notAfter: notAfter) > now && (last.map { step < $0 } ?? true)
    }.map { ($0, Self.due($0, notAfter: notAfter)) }
  }

  /// The steps that are still to be sent, the first first, with the moments at which they are unless somebody keeps them
  /// back.
  package func coming(
    notAfter: Date?, now: Date, sent: some Collection<Step>, hour: Int, zone: TimeZone
  ) -> [(step: Step, at: Date)] {
    guard let notAfter, let next = next(notAfter: notAfter, now: now, sent: sent)?.step else { return [] }
    return steps.filter { $0 <= next }.map { step in
      (step, max(now, Self.firstTime(step, notAfter: notAfter, hour: hour, zone: zone)))
    }
  }

  /// Whether the hour has come at which people want to hear of a step: once it is due, from the first time that the
  /// clock on their wall shows that hour; but never a day late, on a day that has 25 hours.
  package static func isTime(_ step: Step, notAfter: Date, now: Date, hour: Int, zone: TimeZone) -> Bool {
    firstTime(step, notAfter: notAfter, hour: hour, zone: zone) <= now
  }

  /// The moment from which on ``isTime(_:notAfter:now:hour:zone:)`` holds.
  package static func firstTime(_ step: Step, notAfter: Date, hour: Int, zone: TimeZone) -> Date {
    let due = due(step, notAfter: notAfter)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let limit = due.addingTimeInterval(Double(Expiry.secondsPerDay - 1))
    let next = calendar.nextDate(
      after: due.addingTimeInterval(-1), matching: DateComponents(hour: hour, minute: 0, second: 0),
      matchingPolicy: .nextTime)
    return min(next ?? limit, limit)
  }
}
