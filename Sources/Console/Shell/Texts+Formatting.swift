import Calendar
import Certificates
import Foundation
import JSON
import Model
import Mustache

extension Int {
  /// With a comma between groups of three digits.
  var grouped: String {
    let digits = Array(String(magnitude).utf8)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return self < 0 ? "−" + text : text
  }
}

extension Date {
  /// As `2026-11-20 23:58 UTC`, in every language.
  var utcText: String {
    let text = Timestamp.text(self)
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
  }

  var dayText: String { String(Timestamp.text(self).prefix(10)) }
}

extension Texts {
  /// As “2 h ago”, or “never” for nil.
  func ago(_ date: Date?, now: Date) -> String {
    guard let date else { return self("time.never") }
    let seconds = max(0, Int(now.timeIntervalSince(date)))
    switch seconds {
    case ..<60: return self("time.just_now")
    case ..<3600: return self("time.minutes_ago", count: seconds / 60)
    case ..<86_400: return self("time.hours_ago", count: seconds / 3600)
    default: return self("time.days_ago", count: seconds / 86_400)
    }
  }

  func daysLeft(_ days: Int?) -> String {
    guard let days else { return self("time.never_expires") }
    return switch Expiry.daysSince(daysLeft: days) {
    case nil: days == 0 ? self("time.last_day") : self("time.days_left", count: days)
    case 0?: self("time.expired_today")
    case let past?: self("time.expired_days", count: past)
    }
  }

  func duration(milliseconds: Int) -> String {
    milliseconds < 1000 ? "\(milliseconds) ms" : String(format: "%.1f s", Double(milliseconds) / 1000)
  }
}

/// Dates, lists and punctuation as the language writes them.
extension Texts {
  /// As `20 Nov 2026`.
  func day(_ date: Date) -> String { written { $0.write(day: date) } }

  /// As `20 Nov 2026, 23:58 UTC`.
  func minute(_ date: Date) -> String { written { $0.write(utc: date) } }

  private func written(_ write: (inout Output) -> Void) -> String {
    var output = Output(capacity: 64)
    output.language = code
    write(&output)
    return String(decoding: output.array, as: UTF8.self)
  }

  /// A date such as `2026-11-20` or `2026-11-20 23:58 UTC` in the language's form, with what follows it; a text that does
  /// not begin with a date is unchanged.
  func localized(_ text: String) -> String {
    guard text.utf8.count >= 10, let date = Timestamp.parse("\(text.prefix(10))T00:00:00Z") else { return text }
    if let moment = Timestamp.parse(text) { return minute(moment) }
    let rest = text.dropFirst(10)
    guard rest.prefixMatch(of: #/ \d\d:\d\d/#) != nil else { return day(date) + String(rest) }
    return self("time.day_clock", ["day": day(date), "clock": String(rest.dropFirst())])
  }

  /// Names, as “vip, beta”.
  func list(_ words: [String]) -> String { words.joined(separator: self("between.words")) }

  /// Parts of a sentence, as “every day at 09:00, until 1 Jan 2027”.
  func clauses(_ parts: [String]) -> String { parts.joined(separator: self("between.clauses")) }

  func phrases(_ parts: [String]) -> String { parts.joined(separator: self("between.phrases")) }

  func labelled(_ label: String, _ text: String) -> String { label + self("between.label") + text }

  /// As “Push certificate (2026-11-20)”.
  func noted(_ text: String, _ note: String) -> String { self("between.note", ["text": text, "note": note]) }

  /// As “612 accepted”.
  func counted(_ count: Int, _ word: String) -> String {
    self("between.counted", ["count": count.grouped, "word": word])
  }
}

extension [String] {
  /// Whole sentences one after the other: with a blank, except after a full-width full stop, which contains it.
  var sentences: String { reduce(into: "") { $0 += ($0.isEmpty || $0.hasSuffix("。") ? "" : " ") + $1 } }
}

extension String {
  /// As a label writes it that stands alone.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

  /// The first sentence, without its full stop, and the sentences after it; of prose in any of the languages.
  var firstSentence: (first: String, rest: String) {
    // “e.g. a word” ends no sentence.
    let end = firstRange(of: #/。|\.(?:\s+(?=[\p{Lu}“])|$)/#)
    guard let end else { return (self, "") }
    return (String(self[..<end.lowerBound]), String(self[end.upperBound...]))
  }
}

/// Texts for future times, repeat rules, and speeds.
extension Texts {
  /// As “in 3 days” or “in 5 s”; past times are “now”.
  func ahead(_ date: Date, now: Date) -> String {
    let seconds = Int(date.timeIntervalSince(now).rounded(.up))
    switch seconds {
    case ...0: return self("send.now")
    case ..<90: return self("when.in_seconds", count: seconds)
    case ..<5400: return self("when.in_minutes", count: seconds / 60)
    case ..<172_800: return self("when.in_hours", count: seconds / 3600)
    default: return self("when.in_days", count: seconds / 86_400)
    }
  }

  /// As “1 Dec 2026, 09:00 Europe/Berlin (08:00 UTC)”.
  func moment(_ date: Date, _ zone: NamedZone) -> String {
    guard zone != .utc else { return minute(date) }
    let (local, utc) = (zone.text(date), date.utcText)
    // Includes the day if UTC has another one.
    let short = local.prefix(10) == utc.prefix(10) ? String(utc.dropFirst(11)) : localized(utc)
    return noted("\(localized(local)) \(zone.name)", short)
  }

  /// As “every 2 weeks on Mon, Thu at 09:00, Europe/Berlin, until 1 Jan 2027, 00:00, 10 times”.
  func rule(_ rule: RepeatRule) -> String {
    let days: String =
      switch rule.days {
      case .daily: self("when.daily", count: rule.interval)
      case .weekly(let weekdays):
        self("when.weekly", count: rule.interval, ["days": list(weekdays.map { self("when.\($0.rawValue)") })])
      case .monthly(31): self("when.monthly_last", count: rule.interval)
      case .monthly(let day): self("when.monthly", count: rule.interval, ["day": String(day)])
      case .monthlyOn(let days):
        self(
          days.last ?? 0 > 28 ? "when.monthly_existing" : days.count == 1 ? "when.monthly" : "when.monthly_days",
          count: rule.interval,
          ["day": days.first.map(String.init) ?? "", "days": list(days.map(String.init))])
      }
    var parts = [self("when.rule", ["days": days, "time": rule.time, "zone": rule.zone.name])]
    if let until = rule.until { parts.append(self("when.rule_until", ["date": localized(rule.zone.text(until))])) }
    if let count = rule.count { parts.append(self("when.rule_count", count: count)) }
    return clauses(parts)
  }

  /// The same; of a rule with one run, as JPush’s single triggers have, “once on 1 Dec 2026, 10:00 Asia/Shanghai”.
  func rule(_ rule: RepeatRule, from start: Date) -> String {
    guard rule.count == 1, let only = Recurrence(rule, from: start).first(from: start) else { return self.rule(rule) }
    return self("when.once", ["time": moment(only, rule.zone)])
  }

  /// As “at 500 a second” or “spread over 30 min, about 0.7 a second”; nil: as fast as possible.
  func speed(_ draft: PushDraft, devices: Int?) -> String? {
    if let rate = draft.options.rate { return self("when.at_rate", count: rate) }
    guard let minutes = draft.options.spreadMinutes else { return nil }
    let spread = self("when.spread_over", count: minutes)
    guard let devices, devices > 0, let rate = draft.rate(target: devices) else { return spread }
    if rate < 0.5 { return self("when.about_pause", count: Int((1 / rate).rounded()), ["spread": spread]) }
    return self("when.about_rate", ["spread": spread, "rate": self.rate(rate)])
  }

  /// As “1,204” or “0.7”.
  func rate(_ rate: Double) -> String {
    rate >= 10 || rate.rounded() == rate ? Int(rate.rounded()).grouped : String(format: "%.1f", rate)
  }
}
