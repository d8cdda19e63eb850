import Certificates
package import Foundation

/// On which days before its end a reminder of something is sent: pure arithmetic over dates.
///
/// A step of N days is due when ``Expiry/daysLeft(notAfter:now:)`` becomes N, so that at least N whole days are left
/// when somebody reads it, in every time zone. The hour is decided by ``isTime(_:notAfter:now:hour:zone:)``.
package struct ReminderLadder: Sendable, Hashable {
  /// One reminder. The raw value is the number of days before the end; -1: expired.
  package struct Step: RawRepresentable, Sendable, Hashable, Comparable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static func days(_ count: Int) -> Step { Step(rawValue: count) }
    package static let expired = Step(rawValue: -1)

    /// Later steps are less.
    package static func < (one: Step, other: Step) -> Bool { one.rawValue < other.rawValue }
  }

  /// Always reminded of, whatever people choose.
  package static let promised = Step.days(30)
  /// The default steps.
  package static let usual = ReminderLadder(days: [60, 30, 14, 7, 3, 1, 0])
  /// The greatest number of days before the end.
  package static let longest = 365

  /// The earliest first, ending with ``Step/expired``.
  package let steps: [Step]

  /// The promised step and the last one are always included; impossible days are left out.
  package init(days: [Int]) {
    let wanted = Set(days.filter { (0...Self.longest).contains($0) }.map(Step.days))
    steps = wanted.union([Self.promised, .expired]).sorted(by: >)
  }

  /// In descending order.
  package var days: [Int] { steps.map(\.rawValue).filter { $0 >= 0 } }

  /// The moment when a step becomes due.
  package static func due(_ step: Step, notAfter: Date) -> Date {
    let end = Date(timeIntervalSince1970: notAfter.timeIntervalSince1970.rounded(.down))
    // One second after the last moment with one day more left, or after the end of validity.
    return end.addingTimeInterval(-Double((step.rawValue + 1) * Expiry.secondsPerDay) + 1)
  }

  /// The step to send now, nil if there is none.
  ///
  /// When several have passed (the clock jumped, the server was down, the file came late), only the last one is sent;
  /// earlier ones are never sent afterwards, even if the clock goes back. Nor are they sent in its place before its hour:
  /// who may send at any hour tells the same step.
  ///
  /// - Parameters:
  ///   - sent: the steps already sent for this thing and fingerprint.
  ///   - isTime: whether a due step may be sent at this hour.
  package func step(
    notAfter: Date?, now: Date, sent: some Collection<Step>, isTime: (Step) -> Bool = { _ in true }
  ) -> Step? {
    guard let notAfter, notAfter < Expiry.never else { return nil }
    guard let step = steps.last(where: { Self.due($0, notAfter: notAfter) <= now }), isTime(step) else { return nil }
    return sent.min().map { step < $0 } ?? true ? step : nil
  }

  /// The next step and when it becomes due; nil if there is none.
  package func next(notAfter: Date?, now: Date, sent: some Collection<Step>) -> (step: Step, due: Date)? {
    guard let notAfter, notAfter < Expiry.never else { return nil }
    if let step = step(notAfter: notAfter, now: now, sent: sent) { return (step, Self.due(step, notAfter: notAfter)) }
    let last = sent.min()
    return steps.first { step in
      Self.due(step, notAfter: notAfter) > now && (last.map { step < $0 } ?? true)
    }.map { ($0, Self.due($0, notAfter: notAfter)) }
  }

  /// The remaining steps in order, with their moments.
  package func coming(
    notAfter: Date?, now: Date, sent: some Collection<Step>, hour: Int, zone: TimeZone
  ) -> [(step: Step, at: Date)] {
    guard let notAfter, let next = next(notAfter: notAfter, now: now, sent: sent)?.step else { return [] }
    return steps.filter { $0 <= next }.map { step in
      (step, max(now, Self.firstTime(step, notAfter: notAfter, hour: hour, zone: zone)))
    }
  }

  /// Whether a due step's hour has come: the first time that the local clock shows the chosen hour; but never a day
  /// late on a day with 25 hours.
  package static func isTime(_ step: Step, notAfter: Date, now: Date, hour: Int, zone: TimeZone) -> Bool {
    firstTime(step, notAfter: notAfter, hour: hour, zone: zone) <= now
  }

  /// The first moment at which ``isTime(_:notAfter:now:hour:zone:)`` holds.
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
