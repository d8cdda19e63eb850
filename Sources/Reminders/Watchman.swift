package import Foundation
package import Store

/// Whether anybody still looks how long everything lasts. A pure rule.
package enum Watchman {
  /// A check of cron that is older is late: it runs once a day.
  package static let cronLimit: TimeInterval = 36 * 3600
  /// A look of the server that is older is late: it looks every minute, and writes it down every ten.
  package static let serveLimit: TimeInterval = 3600

  /// The runs that are late. Who never ran is not waited for.
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
