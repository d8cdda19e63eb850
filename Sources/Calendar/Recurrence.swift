package import Foundation

/// The moments at which something that repeats happens: a rule, and from when on it holds.
///
/// Calculated by hand because Foundation's RecurrenceRule has one policy for missing days and missing hours: it skips
/// the 31st or misplaces a time in a gap, and walks from the start to find a moment. Here the first occurrence is the
/// first match at or after the start, and the interval counts from it: every second day from a Tuesday continues on
/// Thursday. Local times are kept: 09:00 stays 09:00 when the clocks change. A time in a gap happens at the first
/// moment after it, an ambiguous time at the first of the two, and the 31st of a shorter month on its last day, or not at
/// all if the rule lists its days. If a zone skips a whole day (Apia, 2011-12-30), its occurrences happen at the first
/// moment of the next.
package struct Recurrence: Sendable, Hashable {
  package let rule: RepeatRule
  /// Nothing happens before it.
  package let start: Date
  /// The first occurrence's day, its week's Monday, or its month since year 0; and the index of its weekday.
  private let anchor: Int
  private let place: Int

  /// Finds the first occurrence.
  package init(_ rule: RepeatRule, from start: Date) {
    (self.rule, self.start) = (rule, start)
    func isEarly(_ day: CivilDate) -> Bool { rule.zone.moment(day, second: rule.second) < start }
    // One day too early: if two days fall on the same moment, the earlier one counts.
    var day = rule.zone.wall(start).day + -1
    switch rule.days {
    case .daily:
      while isEarly(day) { day = day + 1 }
      (anchor, place) = (day.number, 0)
    case .weekly(let weekdays):
      let places = weekdays.map(\.number)
      while isEarly(day) || !places.contains(day.weekday) && !places.isEmpty { day = day + 1 }
      (anchor, place) = (day.number - day.weekday, places.firstIndex(of: day.weekday) ?? 0)
    case .monthly(let wanted):
      let (year, month, _) = day.parts
      var number = year * 12 + month - 1
      while isEarly(Self.day(wanted, of: number)) { number += 1 }
      (anchor, place) = (number, 0)
    case .monthlyOn(let days):
      while isEarly(day) || !days.contains(day.parts.day) && !days.isEmpty { day = day + 1 }
      let (year, month, number) = day.parts
      (anchor, place) = (year * 12 + month - 1, days.firstIndex(of: number) ?? 0)
    }
  }

  private static func day(_ day: Int, of month: Int) -> CivilDate {
    let (year, month) = CivilDate.floor(month, 12)
    return CivilDate(year: year, month: month + 1, day: min(day, CivilDate.days(in: month + 1, of: year)))
  }

  /// The moment of an occurrence, counted from 0, regardless of the rule's end.
  private func moment(_ index: Int) -> Date {
    let day: CivilDate
    switch rule.days {
    case .daily: day = CivilDate(number: anchor + index * rule.interval)
    case .weekly(let weekdays):
      let (week, number) = CivilDate.floor(place + index, max(1, weekdays.count))
      day = CivilDate(number: anchor + week * 7 * rule.interval + (weekdays.isEmpty ? 0 : weekdays[number].number))
    case .monthly(let wanted): day = Self.day(wanted, of: anchor + index * rule.interval)
    case .monthlyOn(let days): day = self.day(days, index)
    }
    return rule.zone.moment(day, second: rule.second)
  }

  /// The day of an occurrence of a rule that lists days of the month.
  private func day(_ days: [Int], _ index: Int) -> CivilDate {
    guard Self.isSparse(days) else {
      let (month, number) = CivilDate.floor(place + index, max(1, days.count))
      return Self.day(days.isEmpty ? 1 : days[number], of: anchor + month * rule.interval)
    }
    var (month, left) = (anchor, place + index)
    // The first month has one of the days, so that every 400 years a month has.
    while left >= Self.count(days, in: month) {
      left -= Self.count(days, in: month)
      month += rule.interval
    }
    return Self.day(days[left], of: month)
  }

  /// Whether there are months without one of the days.
  private static func isSparse(_ days: [Int]) -> Bool { days.last ?? 0 > 28 }

  /// How many of the days a month has: the first of them.
  private static func count(_ days: [Int], in month: Int) -> Int {
    let (year, month) = CivilDate.floor(month, 12)
    let length = CivilDate.days(in: month + 1, of: year)
    return days.count { $0 <= length }
  }

  /// The index of the first occurrence at or after `date`, without walking through all before it.
  private func index(from date: Date) -> Int {
    let day = rule.zone.wall(date).day
    var index: Int
    switch rule.days {
    case .daily: index = (day.number - anchor) / rule.interval - 3
    case .weekly(let weekdays):
      index = ((day.number - anchor) / (7 * rule.interval) - 1) * weekdays.count - place
    case .monthly:
      let (year, month, _) = day.parts
      index = (year * 12 + month - 1 - anchor) / rule.interval - 2
    case .monthlyOn(let days) where Self.isSparse(days):
      let (year, number, _) = day.parts
      index = -place
      for month in stride(from: anchor, to: year * 12 + number - 2, by: rule.interval) {
        index += Self.count(days, in: month)
      }
    case .monthlyOn(let days):
      let (year, month, _) = day.parts
      index = ((year * 12 + month - 1 - anchor) / rule.interval - 2) * days.count - place
    }
    index = max(0, index)
    while moment(index) < date { index += 1 }
    return index
  }

  private func valid(_ index: Int) -> Date? {
    if let count = rule.count, index >= count { return nil }
    let moment = moment(index)
    if let until = rule.until, moment > until { return nil }
    return moment
  }

  /// The first at or after a time; nil if the rule has ended.
  package func first(from date: Date) -> Date? { valid(index(from: date)) }

  /// The first after a time; nil if the rule has ended.
  package func next(after date: Date) -> Date? {
    var index = index(from: date)
    // Two days share a moment if the zone skips one.
    while moment(index) <= date { index += 1 }
    return valid(index)
  }

  /// The last at or before a time; nil if there is none.
  package func last(through date: Date) -> Date? {
    var index = index(from: date)
    if moment(index) > date { index -= 1 }
    if let count = rule.count { index = min(index, count - 1) }
    while index >= 0 {
      if let moment = valid(index) { return moment }
      // The rule has ended before: go back to its end.
      guard let until = rule.until, until >= start else { return nil }
      index = min(index - 1, self.index(from: until))
    }
    return nil
  }

  /// The number of occurrences from `from` until before `to`, calculated without a walk. Two days that share a moment,
  /// because a zone skips one, count twice.
  package func count(from: Date, to: Date) -> Int {
    var end = index(from: to)
    if let count = rule.count { end = min(end, count) }
    if let until = rule.until {
      // Moments are whole seconds, and the last one counts.
      end = min(end, index(from: Date(timeIntervalSince1970: until.timeIntervalSince1970.rounded(.down) + 1)))
    }
    return max(0, end - index(from: from))
  }

  /// The occurrences from `from` until before `to`, in order.
  ///
  /// - Parameter limit: their greatest number.
  package func occurrences(from: Date, to: Date = .distantFuture, limit: Int) -> [Date] {
    var found: [Date] = []
    var index = index(from: from)
    while found.count < limit, let date = valid(index), date < to {
      // Two days share a moment if the zone skips one.
      if date != found.last { found.append(date) }
      index += 1
    }
    return found
  }
}
