package import Foundation
package import Store

/// Whether the expiry checks still run. A pure rule.
package enum Watchman {
  /// Cron runs once a day; an older check is late.
  package static let cronLimit: TimeInterval = 36 * 3600
  /// The server checks every minute and records it every ten; an older record is late.
  package static let serveLimit: TimeInterval = 3600

  /// The late runs. A kind that never ran is not expected.
  package static func late(_ runs: [CheckRun], now: Date) -> [CheckRun] {
    runs.filter { now.timeIntervalSince($0.at) > limit($0.source) }
  }

  private static func limit(_ source: CheckRun.Source) -> TimeInterval {
    switch source {
    case .cron: cronLimit
    case .serve: serveLimit
    }
  }
}
