/// One header field of a request or an answer.
package struct HeaderField: Sendable, Hashable {
  /// In lower case (RFC 9113 §8.2.1); pseudo-fields begin with a colon.
  package var name: String
  /// Without line breaks.
  package var value: String
  /// How the peer may keep it.
  package var indexing: Indexing

  /// How HPACK (RFC 7541 §6.2) treats a field.
  package enum Indexing: Sendable, Hashable {
    /// Kept in the peer's table, so that repeats cost one byte.
    case table
    /// Never kept: for what differs each time, and for secrets.
    case never
  }
  package init(_ name: String, _ value: String, indexing: Indexing = .table) {
    self.name = name
    self.value = value
    self.indexing = indexing
  }
}
