public import Foundation
public import Push

/// What a list of pushes is narrowed down to; nil: not by this.
public struct PushFilter: Sendable, Hashable {
  /// Pushes of this app.
  public var app: Int64?
  /// Pushes to this environment.
  public var environment: Environment?
  /// Pushes in one of these states; empty: in any.
  public var states: [PushState] = []
  /// Pushes that came this way.
  public var source: String?
  /// Asked for at or after.
  public var from: Date?
  /// Asked for before.
  public var before: Date?
  /// With this text in title, body, a tag, an alias or a registration id; case is ignored for ASCII letters.
  public var search: String?
  /// Occurrences of this schedule.
  public var schedule: Int64?
  /// Repeats of this push.
  public var parent: Int64?

  /// All pushes.
  public init(app: Int64? = nil) { self.app = app }
}
