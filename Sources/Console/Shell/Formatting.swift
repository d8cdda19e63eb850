import Calendar
import Foundation
import Model

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
  /// As `2026-11-20 23:58 UTC`. A script replaces it with the viewer's local time.
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
    return days < 0 ? self("time.expired_days", count: -days) : self("time.days_left", count: days)
  }

  func duration(milliseconds: Int) -> String {
    milliseconds < 1000 ? "\(milliseconds) ms" : String(format: "%.1f s", Double(milliseconds) / 1000)
  }
}
