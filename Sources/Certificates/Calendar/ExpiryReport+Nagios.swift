import Foundation

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
