/// Whether a device can be sent to. Stored as the number: append only.
public enum DeviceState: Int, Sendable, CaseIterable, Hashable {
  /// Can be sent to.
  case active = 1
  /// A provider doubts the token; waits for a new registration or a person.
  case quarantined = 2
  /// A provider said that the token is gone.
  case dead = 3

  /// As the API and the pages say it.
  public var name: String {
    switch self {
    case .active: "active"
    case .quarantined: "quarantined"
    case .dead: "dead"
    }
  }

  /// Reads ``name``.
  public init?(name: String) {
    guard let state = DeviceState.allCases.first(where: { $0.name == name }) else { return nil }
    self = state
  }
}
