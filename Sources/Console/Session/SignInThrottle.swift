import Foundation
import SQLite
import Store

/// Slows guessing down: five attempts are free, then the wait doubles up to a quarter of an hour. An address gets more
/// than an account, because offices share one.
enum SignInThrottle {
  static let window: TimeInterval = 900
  private static let freeForAccount = 5
  private static let freeForAddress = 20

  static func failures(
    _ database: Database, _ subject: SignInFailures.Subject, now: Date
  ) throws -> SignInFailures { try SignInFailures.find(database, subject, window: window, now: now) }

  static func add(_ database: Database, _ subject: SignInFailures.Subject, now: Date) throws {
    try SignInFailures.add(database, subject, window: window, now: now)
  }

  /// Seconds until the next attempt counts; 0: at once.
  static func wait(_ failures: SignInFailures, _ subject: SignInFailures.Subject, now: Date) -> Int {
    guard let last = failures.lastAt else { return 0 }
    let free = if case .account = subject { freeForAccount } else { freeForAddress }
    guard failures.count >= free else { return 0 }
    let pause = min(window, Double(1 << min(10, failures.count - free)))
    return max(0, Int((pause - now.timeIntervalSince(last)).rounded(.up)))
  }
}
