public import Push

/// What a list of deliveries is narrowed down to; nil: not by this.
public struct DeliveryFilter: Sendable, Hashable {
  /// What a device is looked up by.
  public enum Search: Sendable, Hashable {
    /// Exactly this user.
    case alias(String)
    /// Exactly this installation.
    case registrationID(String)
    /// A token, or its beginning.
    case token([UInt8])
  }

  /// With this outcome.
  public var outcome: OutcomeKind?
  /// For this reason.
  public var reason: String?
  /// Devices that are found by any of these; empty: all devices.
  public var search: [Search] = []

  /// All deliveries.
  public init() {}
}
