import Foundation
import Reactor
import SQLite
import Store

/// Slows down password guessing: some attempts are free, then the wait doubles, up to 15 minutes.
///
/// An attempt counts as a failure before its password is checked, so that parallel requests get no extra attempts. A
/// browser in which the person has signed in before has its own counter, so that strangers cannot lock anybody out.
enum SignInThrottle {
  static let window: TimeInterval = 900

  /// A counted attempt.
  struct Attempt: Sendable {
    fileprivate let subjects: [(SignInFailures.Subject, lastAt: Date?)]
    fileprivate let at: Date
  }

  enum Answer: Sendable {
    case go(Attempt)
    /// Refused and not counted: seconds left to wait.
    case wait(Int)
  }

  /// The counters of an attempt from an unknown browser.
  static func subjects(account: String, address: SocketAddress?) -> [SignInFailures.Subject] {
    [.account(String(account.prefix(255)))] + subjects(address: address)
  }

  /// The counters of an attempt that names no account.
  static func subjects(address: SocketAddress?) -> [SignInFailures.Subject] {
    guard let address else { return [.address("")] }
    guard address.bytes.count == 16 else { return [.address(address.bytes.map(String.init).joined(separator: "."))] }
    return [.network(address.network(64)), .network(address.network(48))]
  }

  /// Counts an attempt. Run in the transaction that decides whether it is allowed.
  static func begin(
    _ database: Database, _ subjects: [SignInFailures.Subject], now: Date
  ) throws -> Answer {
    let found = try subjects.map { ($0, try SignInFailures.find(database, $0, window: window, now: now)) }
    let wait = found.map { Self.wait($0.1, $0.0, now: now) }.max() ?? 0
    if wait > 0 { return .wait(wait) }
    for subject in subjects { try SignInFailures.add(database, subject, window: window, now: now) }
    return .go(Attempt(subjects: found.map { ($0.0, lastAt: $0.1.lastAt) }, at: now))
  }

  /// Takes back an attempt whose password was not checked.
  static func takeBack(_ database: Database, _ attempt: Attempt) throws {
    for (subject, lastAt) in attempt.subjects {
      try SignInFailures.takeBack(database, subject, attemptedAt: attempt.at, lastAt: lastAt)
    }
  }

  /// Takes back a successful attempt, and clears the failures of this account or browser. Failures of the address stay:
  /// they may concern other accounts.
  ///
  /// - Parameter account: whose failures are cleared, if the attempt named nobody.
  static func succeeded(_ database: Database, _ attempt: Attempt, account: String? = nil) throws {
    try takeBack(database, attempt)
    if let (subject, _) = attempt.subjects.first {
      switch subject {
      case .account, .device, .session, .code: try SignInFailures.clear(database, subject)
      case .address, .network: break
      }
    }
    if let account { try SignInFailures.clear(database, .account(account)) }
  }

  /// Seconds until another attempt is allowed; 0: now.
  private static func wait(_ failures: SignInFailures, _ subject: SignInFailures.Subject, now: Date) -> Int {
    guard let last = failures.lastAt else { return 0 }
    let free = free(subject)
    guard failures.count >= free else { return 0 }
    let pause = min(window, Double(1 << min(10, failures.count - free)))
    return max(0, Int((pause - now.timeIntervalSince(last)).rounded(.up)))
  }

  /// An address gets more than an account, because offices share one; a provider's /48 gets more than a customer's /64.
  private static func free(_ subject: SignInFailures.Subject) -> Int {
    switch subject {
    case .account, .device, .session, .code: 5
    case .address: 20
    case .network(let network): network.hasSuffix("/48") ? 100 : 20
    }
  }
}
