/// Part of a list.
public struct Page<Item: Sendable>: Sendable {
  /// The items, in the list's order.
  public let items: [Item]
  /// What to ask the next part with; nil at the end.
  public let next: String?

  /// Creates a page.
  public init(items: [Item], next: String?) {
    self.items = items
    self.next = next
  }

  /// Makes a page of `limit` items from up to one more, which shows that there is a next page.
  init(_ found: [Item], limit: Int, key: (Item) -> Int64) {
    items = Array(found.prefix(limit))
    next = found.count > limit ? items.last.map { String(key($0)) } : nil
  }

  /// The same page with other items.
  public func map<Other: Sendable>(_ transform: (Item) throws -> Other) rethrows -> Page<Other> {
    Page<Other>(items: try items.map(transform), next: next)
  }
}

/// Reads a cursor that a page gave.
func position(_ cursor: String?) throws -> Int64? {
  guard let cursor else { return nil }
  guard let value = Int64(cursor), value >= 0 else { throw StoreError.badCursor(cursor) }
  return value
}
