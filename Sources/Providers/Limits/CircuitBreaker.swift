package import Foundation

/// Whether anything is sent with a credential: closed, open, or half-open.
///
/// A refused credential and an unreachable service are not retried continuously, because Apple treats repeated
/// connections as an attack. After a pause one push is tried; its result closes the circuit, or opens it for twice as
/// long. A value without a clock of its own.
package struct CircuitBreaker: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    /// Everything works, or nothing is known yet.
    case closed
    /// Nothing is sent until then, or, without a connection, until there is one.
    case open(reason: String, since: Date, until: Date)
    /// One push is tried.
    case halfOpen(reason: String, since: Date)
  }

  /// Seconds after the first refusal of the credential; doubles with each further one.
  package static let firstPause: TimeInterval = 5
  /// In seconds.
  package static let longestPause: TimeInterval = 300
  /// A shorter connection failure does not open the circuit, because the next attempt is under way.
  package static let patience: TimeInterval = 3
  /// Seconds after which one push is handed over although no connection could be opened: without requests there are no
  /// attempts.
  package static let connectionPause: TimeInterval = 30

  private enum Trouble: Sendable, Hashable {
    case refusal(reason: String, since: Date, until: Date)
    case connection(reason: String, since: Date, last: Date)
    /// Connected again, and nothing accepted yet.
    case proving(reason: String, since: Date)
  }

  private var trouble: Trouble?
  private var refusals = 0

  package init() {}

  package func state(at now: Date) -> State {
    switch trouble {
    case nil: .closed
    case .refusal(let reason, let since, let until):
      Self.isAhead(until, now)
        ? .open(reason: reason, since: since, until: until) : .halfOpen(reason: reason, since: since)
    case .connection(let reason, let since, let last):
      Self.connection(reason, since: since, until: last.addingTimeInterval(Self.connectionPause), now: now)
    case .proving(let reason, let since): .halfOpen(reason: reason, since: since)
    }
  }

  /// A push was accepted, or refused for its own sake: the credential is valid.
  package mutating func succeeded() {
    trouble = nil
    refusals = 0
  }

  /// The service refused the credential.
  package mutating func refused(_ reason: String, at now: Date) {
    // Requests in flight beside the first refusal belong to it.
    if case .refusal(_, _, let until) = trouble, now < until { return }
    var since = now
    if case .refusal(_, let first, _) = trouble { since = first }
    let pause = min(Self.longestPause, Self.firstPause * pow(2, Double(min(refusals, 10))))
    refusals += 1
    trouble = .refusal(reason: reason, since: since, until: now.addingTimeInterval(pause))
  }

  /// No connection could be opened.
  package mutating func disconnected(_ reason: String, at now: Date) {
    switch trouble {
    case nil: trouble = .connection(reason: reason, since: now, last: now)
    case .proving(_, let since), .connection(_, let since, _):
      trouble = .connection(reason: reason, since: since, last: now)
    // A refused credential stays refused; connection errors add nothing.
    case .refusal: break
    }
  }

  /// A connection was opened.
  package mutating func connected(at now: Date) {
    guard case .connection(let reason, let since, _) = trouble else { return }
    trouble = now < since.addingTimeInterval(Self.patience) ? nil : .proving(reason: reason, since: since)
  }

  private static func connection(_ reason: String, since: Date, until: Date, now: Date) -> State {
    if now < since.addingTimeInterval(patience) { return .closed }
    return isAhead(until, now)
      ? .open(reason: reason, since: since, until: until) : .halfOpen(reason: reason, since: since)
  }

  /// Whether a pause still lasts. An end later than any possible pause shows that the clock was set back.
  private static func isAhead(_ until: Date, _ now: Date) -> Bool {
    now < until && until.timeIntervalSince(now) <= longestPause
  }
}
