/// A key under which middleware leaves a value for what comes after it.
public protocol RequestContextKey {
  /// The type of the value.
  associatedtype Value: Sendable
}

/// Values that middleware leaves for handlers: the signed-in user, the language.
public struct RequestContext: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  init() {}

  /// The value under a key.
  public subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}
