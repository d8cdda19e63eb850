import Foundation
import Model
import Store
import Text

extension ExpiryReport {
  /// One line per item, for a terminal or a cron mail.
  ///
  /// - Parameter includingFine: whether to include items that need no attention.
  package func lines(includingFine: Bool = true) -> [String] {
    closed.map { "CLOSED   \($0.name.singleLine): \($0.reason.singleLine)" }
      + unreadable.map { "UNKNOWN  \($0.name.singleLine): \($0.reason.singleLine)" }
      + findings.filter {
        includingFine || $0.band.needsSomebody || !$0.missed.isEmpty || !$0.pressing.isEmpty
      }.map(\.line)
  }
}

extension Expiry.Band {
  package var needsSomebody: Bool {
    switch self {
    case .soon, .urgent, .expired, .notYetValid: true
    case .fine, .neverExpires: false
    }
  }

  /// Upper case, padded to the same width.
  fileprivate var label: String {
    switch self {
    case .fine: "OK      "
    case .soon: "SOON    "
    case .urgent: "URGENT  "
    case .expired: "EXPIRED "
    case .notYetValid: "NOT YET "
    case .neverExpires: "OK      "
    }
  }
}

extension ExpiryReport.Finding {
  /// As `SOON     Shop: Apple Push Services: com.example.shop (production): 12 days left, until 2026-12-02 …`.
  fileprivate var line: String {
    var subject = item.name
    if let app = item.app, !item.name.contains(app) { subject = "\(app): \(subject)" }
    if !item.environments.isEmpty {
      subject += " (\(item.environments.map(\.rawValue).joined(separator: ", ")))"
    }
    return "\(band.label) \(subject.singleLine): \(time)\(whose)\(forecast)"
  }

  /// The expiring certificate: the item itself, by serial number, or one of its issuers.
  private var whose: String {
    guard let issuer = item.endingIssuer else { return item.serial.map { ", serial \($0)" } ?? "" }
    let serial = item.serial.map { " (serial \($0))" } ?? ""
    return ", when “\(issuer)” in its chain expires, before its own certificate\(serial)"
  }

  private var forecast: String {
    var text = ""
    if let first = missed.first {
      let pushes = missed.count == 1 ? "1 push is scheduled" : "\(missed.count) pushes are scheduled"
      text += "; \(pushes) after that, the first (\(first.uid)) on \(first.sendAt.utcText)"
    }
    if let first = pressing.first {
      let pushes = pressing.count == 1 ? "1 repeating push continues" : "\(pressing.count) repeating pushes continue"
      text += "; \(pushes) after that, the first (\(first.schedule.uid)) on \(first.first.utcText)"
    }
    return text
  }

  private var time: String {
    guard let daysLeft, let notAfter = item.notAfter else { return "never expires" }
    if band == .expired {
      let days = -daysLeft
      return "expired on \(notAfter.utcText), " + (days == 1 ? "less than a day ago" : "\(days - 1) days ago")
    }
    let left = daysLeft == 0 ? "less than a day left" : daysLeft == 1 ? "1 day left" : "\(daysLeft) days left"
    if band == .notYetValid, let notBefore = item.notBefore { return "not valid before \(notBefore.utcText)" }
    return "\(left), until \(notAfter.utcText)"
  }
}

extension ExpiryReport {
  /// Output for Nagios, Icinga and compatible systems (Monitoring Plugins Development Guidelines): one line with the
  /// state and performance data, then the items that need attention, the most urgent first.
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
    // The ranges name the good values: at least this many days.
    let least = findings.compactMap(\.daysLeft).min().map {
      "days_left=\($0);\(withinDays + 1):;\(Expiry.urgentDays + 1):"
    }
    let performance: [String?] = [
      least, "watched=\(findings.count);;;0", "soon=\(counts[.soon] ?? 0);0;;0", "urgent=\(counts[.urgent] ?? 0);;0;0",
      "expired=\(counts[.expired] ?? 0);;0;0", "unknown=\(unreadable.count);;;0",
    ]
    let trouble = lines(includingFine: false)
    let shown = trouble.prefix(Self.shownLines).map { $0.replacing("|", with: "/") }
    let rest = trouble.count > shown.count ? ["and \(trouble.count - shown.count) more"] : []
    let first =
      "CERTIFICATES \(words[Int(exitCode)]) - \(text), \(findings.count) watched | "
      + performance.compactMap { $0 }.joined(separator: " ")
    return ([first] + shown + rest).joined(separator: "\n")
  }

  /// Monitoring systems truncate long outputs.
  private static let shownLines = 40
}
