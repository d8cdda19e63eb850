package import Foundation

/// Whether anything is sent with a credential at present: closed, open, or half-open.
///
/// A credential that the service refuses, and a service that cannot be reached, are not asked again and again: Apple
/// takes connections that are opened repeatedly for an attack. After a pause one push is tried; what comes of it closes
/// the circuit, or opens it for twice as long. A value, fed by what happened and asked with the present time.
package struct CircuitBreaker: Sendable, Hashable {
  /// How it stands.
  package enum State: Sendable, Hashable {
    /// All is well, or nothing is known.
    case closed
    /// Nothing is sent until then, or, if no connection stands, until one does.
    case open(reason: String, since: Date, until: Date)
    /// One push is tried.
    case halfOpen(reason: String, since: Date)
  }

  /// Seconds after a first refusal of the credential; doubles with each further one.
  package static let firstPause: TimeInterval = 5
  /// The longest pause, in seconds.
  package static let longestPause: TimeInterval = 300
  /// A connection that fails for less long opens nothing: the next try is under way.
  package static let patience: TimeInterval = 3
  /// Seconds after which one push is handed over although no connection stood when it was last tried: with nothing to
  /// send nobody tries.
  package static let connectionPause: TimeInterval = 30

  private enum Trouble: Sendable, Hashable {
    case refusal(reason: String, since: Date, until: Date)
    case connection(reason: String, since: Date, last: Date)
    /// A connection stands again, and nothing was accepted over it yet.
    case proving(reason: String, since: Date)
  }

  private var trouble: Trouble?
  private var refusals = 0

  /// Closed.
  package init() {}

  /// How it stands at a time.
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

  /// A push was taken, or refused for its own sake: the credential is good.
  package mutating func succeeded() {
    trouble = nil
    refusals = 0
  }

  /// The service refused the credential.
  package mutating func refused(_ reason: String, at now: Date) {
    // What was in flight beside the first refusal is the same refusal.
    if case .refusal(_, _, let until) = trouble, now < until { return }
    var since = now
    if case .refusal(_, let first, _) = trouble { since = first }
    let pause = min(Self.longestPause, Self.firstPause * pow(2, Double(min(refusals, 10))))
    refusals += 1
    trouble = .refusal(reason: reason, since: since, until: now.addingTimeInterval(pause))
  }

  /// No connection stands.
  package mutating func disconnected(_ reason: String, at now: Date) {
    switch trouble {
    case nil: trouble = .connection(reason: reason, since: now, last: now)
    case .proving(_, let since), .connection(_, let since, _):
      trouble = .connection(reason: reason, since: since, last: now)
    // Who is refused need not be told that nobody listens.
    case .refusal: break
    }
  }

  /// A connection stands.
  package mutating func connected(at now: Date) {
    guard case .connection(let reason, let since, _) = trouble else { return }
    trouble = now < since.addingTimeInterval(Self.patience) ? nil : .proving(reason: reason, since: since)
  }

  private static func connection(_ reason: String, since: Date, until: Date, now: Date) -> State {
    if now < since.addingTimeInterval(patience) { return .closed }
    return isAhead(until, now)
      ? .open(reason: reason, since: since, until: until) : .halfOpen(reason: reason, since: since)
  }

  /// Whether a pause lasts still. One that ends later than any pause can is of a clock that was set back since.
  private static func isAhead(_ until: Date, _ now: Date) -> Bool {
    now < until && until.timeIntervalSince(now) <= longestPause
  }
}
