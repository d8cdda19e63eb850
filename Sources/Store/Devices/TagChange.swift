/// What is to become of a device's tags.
public enum TagChange: Sendable {
  /// As they were.
  case keep
  /// Exactly these.
  case set([String])
  /// These more, and those no longer.
  case edit(add: [String], remove: [String])

  func applied(to old: Set<String>) -> Set<String> {
    switch self {
    case .keep: old
    case .set(let tags): Set(tags)
    case .edit(let add, let remove): old.subtracting(remove).union(add)
    }
  }
}
