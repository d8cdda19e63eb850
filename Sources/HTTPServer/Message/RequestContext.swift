/// A key under which middleware leaves a value for what comes after it.
package protocol RequestContextKey {
  /// The type of the value.
  associatedtype Value: Sendable
}

/// Values that middleware leaves for handlers: the signed-in user, the language.
package struct RequestContext: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  init() {}

  /// The value under a key.
  package subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}
