import Calendar
package import Foundation
import OpenSSL
package import Model
import Text

/// Expiry dates as an iCalendar feed (RFC 5545) that Apple's and Google's calendars can subscribe to.
package struct ExpiryCalendar: Sendable {
  /// The calendar's title.
  package let name: String
  /// The console's public address; nil: events have no link.
  package let address: String?
  /// The time zone of the days.
  private let zone: TimeZone

  /// Days before the expiry on which the calendar reminds.
  static let alarms = [30, 7]
  /// Seconds. Items that expired longer ago are omitted.
  static let memory: TimeInterval = 30 * 86_400
  private let kindName: @Sendable (CertificateKind) -> String
  private let environmentName: @Sendable (Environment) -> String
  private let worded: @Sendable (Problem) -> String

  /// - Parameters:
  ///   - zone: of the days.
  ///   - kindName: names a kind in the language of the calendar's owner, as `environmentName` names an environment.
  ///   - worded: puts a sentence into that language.
  package init(
    name: String, address: String?, zone: TimeZone = .gmt,
    kindName: @escaping @Sendable (CertificateKind) -> String = { $0.rawValue.replacing("_", with: " ") },
    environmentName: @escaping @Sendable (Environment) -> String = { $0.rawValue },
    worded: @escaping @Sendable (Problem) -> String = { $0.text }
  ) {
    (self.name, self.address, self.zone) = (name, address, zone)
    (self.kindName, self.environmentName, self.worded) = (kindName, environmentName, worded)
  }

  /// The feed, identical for a whole day in UTC.
  package func text(_ items: [TrackedExpiry], now: Date) -> String {
    let day = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
    var lines = [
      "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Signalbox//Certificates//EN", "CALSCALE:GREGORIAN",
      "METHOD:PUBLISH", "X-WR-CALNAME:\(Self.escaped(name))", "NAME:\(Self.escaped(name))",
      "REFRESH-INTERVAL;VALUE=DURATION:PT12H", "X-PUBLISHED-TTL:PT12H",
    ]
    for item in items {
      guard let notAfter = item.notAfter, notAfter < Expiry.never, notAfter > day - Self.memory else { continue }
      lines += event(item, notAfter, stamp: day)
    }
    lines.append("END:VCALENDAR")
    return lines.map { Self.folded($0) + "\r\n" }.joined()
  }

  private func event(_ item: TrackedExpiry, _ notAfter: Date, stamp: Date) -> [String] {
    var title = item.name
    if let app = item.app, !title.contains(app) { title = "\(app): \(title)" }
    title = title.singleLine
    func fact(code: String, _ sentence: String, _ name: String, _ value: String?) -> String? {
      guard let value, !value.isEmpty else { return nil }
      return worded(Problem("", code: code, sentence, [name: value.singleLine]))
    }
    let environments = item.environments.map(environmentName).joined(separator: ", ")
    let facts = [
      fact(code: "calendar.kind", "Kind: {kind}", "kind", kindName(item.kind)),
      fact(code: "calendar.app", "App: {app}", "app", item.app),
      fact(code: "calendar.topics", "Topics: {topics}", "topics", item.topics.joined(separator: ", ")),
      fact(code: "calendar.environments", "Environments: {environments}", "environments", environments),
      fact(code: "calendar.serial", "Serial number: {serial}", "serial", item.serial),
      fact(code: "calendar.sha256", "SHA-256: {sha256}", "sha256", item.sha256),
      fact(code: "calendar.expires", "Expires: {date}", "date", notAfter.utcText),
      fact(code: "calendar.chain", "First to expire in its chain: {issuer}", "issuer", item.endingIssuer),
    ]
    let description = facts.compactMap { $0 }.joined(separator: "\n")
    let local = notAfter.addingTimeInterval(Double(zone.secondsFromGMT(for: notAfter)))
    let summary = worded(Problem("", code: "calendar.summary", "{title} expires", ["title": title]))
    var lines = [
      "BEGIN:VEVENT", "UID:\(Self.uid(item))", "DTSTAMP:\(Self.day(stamp))T000000Z",
      // A date without time is the same day in every time zone. The end is exclusive (RFC 5545 §3.6.1).
      "DTSTART;VALUE=DATE:\(Self.day(local))", "DTEND;VALUE=DATE:\(Self.day(local + 86_400))",
      "SUMMARY:\(Self.escaped(summary))", "DESCRIPTION:\(Self.escaped(description))",
      "TRANSP:TRANSPARENT", "CATEGORIES:Certificates",
    ]
    if let address, let key = item.key { lines.append("URL:\(address)/\(key)") }
    for days in Self.alarms {
      let alarm = Problem(
        "", code: "calendar.alarm", "{title} expires in {days} days", ["title": title, "days": "\(days)"])
      lines += [
        "BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-P\(days)D",
        "DESCRIPTION:\(Self.escaped(worded(alarm)))", "END:VALARM",
      ]
    }
    return lines + ["END:VEVENT"]
  }

  /// Stable for the same certificate in the same place; its successor gets another one.
  private static func uid(_ item: TrackedExpiry) -> String {
    let text = "\(item.key ?? item.name)\n\(item.sha256 ?? item.serial ?? "")"
    return Hexadecimal.encode(Digest.sha256(Array(text.utf8)).prefix(16)) + "@signalbox"
  }

  private static func day(_ date: Date) -> String { String(Timestamp.text(date).prefix(10).replacing("-", with: "")) }

  /// Escapes text (RFC 5545 §3.3.11).
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.replacing("\r\n", with: "\n").unicodeScalars {
      switch scalar {
      case "\\", ";", ",": escaped += "\\\(scalar)"
      case "\n": escaped += "\\n"
      case _ where scalar.properties.generalCategory == .control: escaped += " "
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Folds lines at 75 octets (RFC 5545 §3.1), never within a character.
  static func folded(_ line: String) -> String {
    var folded = ""
    var used = 0
    for scalar in line.unicodeScalars {
      let size = UTF8.width(scalar)
      if used + size > 75 {
        folded += "\r\n "
        used = 1
      }
      folded.unicodeScalars.append(scalar)
      used += size
    }
    return folded
  }
}
