/// Whether a value is to be changed.
public enum Change<Value: Sendable>: Sendable {
  /// As it was.
  case keep
  /// To this.
  case set(Value)

  /// What the value becomes.
  func applied(to old: Value) -> Value {
    switch self {
    case .keep: old
    case .set(let new): new
    }
  }
}
