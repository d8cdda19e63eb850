public import Push

/// What became of a registration.
public enum RegistrationResult: Sendable, Hashable {
  /// A device that was not known.
  case added(Int64)
  /// A device that was known by this token; now active, whatever it was.
  case updated(Int64)
  /// Nothing was changed.
  case rejected(Problem)

  /// The device, nil if rejected.
  public var deviceID: Int64? {
    switch self {
    case .added(let id), .updated(let id): id
    case .rejected: nil
    }
  }
}
