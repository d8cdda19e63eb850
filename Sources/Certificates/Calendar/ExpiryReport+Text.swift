import Foundation
import Model
import Store
package import Text

extension ExpiryReport {
  /// One line per item, for a terminal or a cron mail.
  ///
  /// - Parameters:
  ///   - includingFine: whether to include items that need no attention.
  ///   - translation: the language; nil: English.
  package func lines(includingFine: Bool = true, in translation: (any Translation)? = nil) -> [String] {
    let shown = findings.filter { includingFine || $0.band.needsSomebody || !$0.missed.isEmpty || !$0.pressing.isEmpty }
    return closed.map { $0.line("LOCKED", in: translation) } + unreadable.map { $0.line("UNKNOWN", in: translation) }
      + shown.map { $0.line(in: translation) }
  }
}

private let labelWidth = 9

extension ExpiryReport.Unreadable {
  fileprivate func line(_ label: Message, in translation: (any Translation)?) -> String {
    let reason = problem.map { "\($0)" } ?? "\(reason)" as Message
    let text = "\(name): \(reason)" as Message
    return label.text(in: translation).padded(to: labelWidth) + text.text(in: translation).singleLine
  }
}

extension String {
  /// In the output for Nagios, a bar begins the performance data.
  package var withoutBars: String { replacing("|", with: "/") }
}

extension Expiry.Band {
  package var needsSomebody: Bool {
    switch self {
    case .soon, .urgent, .expired, .notYetValid: true
    case .fine, .neverExpires: false
    }
  }

  fileprivate var label: Message {
    switch self {
    case .fine: "OK"
    case .soon: "SOON"
    case .urgent: "URGENT"
    case .expired: "EXPIRED"
    case .notYetValid: "NOT YET"
    case .neverExpires: "OK"
    }
  }
}

extension ExpiryReport.Finding {
  /// As `SOON     Shop: Apple Push Services: com.example.shop (production): 12 days left, until 2026-12-02 …`.
  fileprivate func line(in translation: (any Translation)?) -> String {
    var subject: Message = "\(item.name)"
    if let app = item.app, !item.name.contains(app) { subject = "\(app): \(subject)" }
    if !item.environments.isEmpty {
      subject = "\(subject) (\(item.environments.text(in: translation)))"
    }
    let text: Message = "\(subject.text(in: translation).singleLine): \(time)\(whose)\(forecast)"
    return band.label.text(in: translation).padded(to: labelWidth) + text.text(in: translation)
  }

  /// The expiring certificate: the item itself, by serial number, or one of its issuers.
  private var whose: Message {
    guard let issuer = item.endingIssuer else { return item.serial.map { ", serial \($0)" } ?? "" }
    guard let serial = item.serial else { return ", when “\(issuer)” in its chain expires, before its own certificate" }
    return ", when “\(issuer)” in its chain expires, before its own certificate (serial \(serial))"
  }

  private var forecast: Message {
    var text: Message = ""
    if let first = missed.first {
      let pushes = Message(
        count: missed.count, one: "1 push is scheduled", other: "\(missed.count) pushes are scheduled")
      text = "; \(pushes) after that, the first (\(first.uid)) on \(first.sendAt.utcText)"
    }
    if let first = pressing.first {
      let pushes = Message(
        count: pressing.count, one: "1 repeating push continues", other: "\(pressing.count) repeating pushes continue")
      text = "\(text); \(pushes) after that, the first (\(first.schedule.uid)) on \(first.first.utcText)"
    }
    return text
  }

  private var time: Message {
    guard let daysLeft, let notAfter = item.notAfter else { return "never expires" }
    if let notBefore = item.notBefore, Expiry.isNeverValid(notBefore, notAfter) {
      return "never valid: it ends on \(notAfter.utcText), before it begins on \(notBefore.utcText)"
    }
    if band == .expired { return "expired on \(notAfter.utcText), \(Expiry.message(daysLeft: daysLeft))" }
    if band == .notYetValid, let notBefore = item.notBefore { return "not valid before \(notBefore.utcText)" }
    guard daysLeft != 0 else { return "last day, until \(notAfter.utcText)" }
    return Message(
      count: daysLeft, one: "1 day left, until \(notAfter.utcText)",
      other: "\(daysLeft) days left, until \(notAfter.utcText)")
  }
}

extension Expiry {
  /// The days left as a terminal shows them: a number, or how long ago the expiry was.
  package static func message(daysLeft: Int) -> Message {
    switch daysSince(daysLeft: daysLeft) {
    case nil: "\(daysLeft)"
    case 0?: "less than a day ago"
    case let days?: Message(count: days, one: "1 day ago", other: "\(days) days ago")
    }
  }

  /// When it expires, for a column with that head: in how many days, or how long ago.
  package static func distance(daysLeft: Int) -> Message {
    guard daysLeft > 0 else { return daysLeft == 0 ? "in less than a day" : message(daysLeft: daysLeft) }
    return Message(count: daysLeft, one: "in 1 day", other: "in \(daysLeft) days")
  }
}

extension [Environment] {
  /// As `development, production`.
  func text(in translation: (any Translation)?) -> String {
    map { translation?.text(of: $0) ?? $0.rawValue }.joined(separator: (", " as Message).text(in: translation))
  }
}

extension ExpiryReport {
  /// Output for Nagios, Icinga and compatible systems (Monitoring Plugins Development Guidelines): one line with the
  /// state, the most urgent item and performance data, then the items that need attention. Overviews and text messages
  /// show the first line alone.
  package var nagios: String {
    let words = ["OK", "WARNING", "CRITICAL", "UNKNOWN"]
    var counts: [Expiry.Band: Int] = [:]
    for finding in findings { counts[finding.band, default: 0] += 1 }
    let sorts: [(count: Int, word: String)] = [
      (closed.count, "with a locked key"), (unreadable.count, "unknown"),
      (counts[.expired] ?? 0, "expired"), (counts[.urgent] ?? 0, "expiring very soon"),
      (counts[.soon] ?? 0, "expiring soon"), (counts[.notYetValid] ?? 0, "not yet valid"),
    ]
    let parts = sorts.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }
    let text = parts.isEmpty ? "none expiring soon" : parts.joined(separator: ", ")
    // The ranges name the good values: at least this many whole days, and days are rounded down.
    let days = findings.compactMap { Expiry.number(daysLeft: $0.daysLeft) }
    let least = days.min().map { "days_left=\($0);\(withinDays):;\(Expiry.urgentDays):" }
    let performance: [String?] = [
      least, "watched=\(findings.count);;;0", "soon=\(counts[.soon] ?? 0);0;;0", "urgent=\(counts[.urgent] ?? 0);;0;0",
      "expired=\(counts[.expired] ?? 0);;0;0", "unknown=\(unreadable.count);;;0",
    ]
    let trouble = lines(includingFine: false)
    let shown = trouble.prefix(Self.shownLines).map(\.withoutBars)
    let rest = trouble.count > shown.count ? ["and \(trouble.count - shown.count) more"] : []
    let named = mostUrgent.map { "\($0.withoutBars); " } ?? ""
    let first =
      "CERTIFICATES \(words[Int(exitCode)]) - \(named)\(text), \(findings.count) watched | "
      + performance.compactMap { $0 }.joined(separator: " ")
    return ([first] + shown + rest).joined(separator: "\n")
  }

  /// The item that decides the exit code, as its line says; nil if all is fine.
  private var mostUrgent: String? {
    func first(_ bands: Expiry.Band...) -> String? { findings.first { bands.contains($0.band) }?.line(in: nil) }
    func first(_ items: [Unreadable], _ label: Message) -> String? { items.first.map { $0.line(label, in: nil) } }
    let line =
      switch exitCode {
      case 2: first(.expired) ?? first(closed, "LOCKED") ?? first(.urgent)
      case 3: first(unreadable, "UNKNOWN")
      case 1: first(.soon) ?? first(.notYetValid)
      default: nil as String?
      }
    // Without the blanks of a column.
    return line?.split(separator: " ").joined(separator: " ")
  }

  /// Monitoring systems truncate long outputs.
  private static let shownLines = 40
}
