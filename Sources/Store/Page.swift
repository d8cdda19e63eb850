/// Part of a list.
package struct Page<Item: Sendable>: Sendable {
  /// The items, in the list's order.
  package let items: [Item]
  /// What to ask the next part with; nil at the end.
  package let next: String?
  package init(items: [Item], next: String?) {
    self.items = items
    self.next = next
  }

  /// Makes a page of `limit` items from up to one more, which shows that there is a next page.
  init(_ found: [Item], limit: Int, key: (Item) -> Int64) {
    items = Array(found.prefix(limit))
    next = found.count > limit ? items.last.map { String(key($0)) } : nil
  }

  /// The same page with other items.
  package func map<Other: Sendable>(_ transform: (Item) throws -> Other) rethrows -> Page<Other> {
    Page<Other>(items: try items.map(transform), next: next)
  }
}

/// Reads a cursor that a page gave.
func position(_ cursor: String?) throws -> Int64? {
  guard let cursor else { return nil }
  guard let value = Int64(cursor), value >= 0 else { throw StoreError.badCursor(cursor) }
  return value
}

/// How long one page of a list looks for what fits, where no index finds it.
///
/// A number of rows would not do: the same rows take ten times as long from a cold disk, or on a busy machine.
package struct Patience {
  /// Tens of thousands of rows on a quiet machine, and short for a page.
  package static let usual = Duration.milliseconds(10)
  /// The time is looked at with every row whose id divides by this: a prime, because the ids of one tag may all be odd.
  static let lot = 251
  /// So many times it is not over whatever the time, so that a busy machine gets on as well.
  static let least = 16

  private let end: ContinuousClock.Instant
  private let now: () -> ContinuousClock.Instant
  private var looks = 0

  /// Begins now.
  ///
  /// - Parameter now: a clock that does not go back.
  package init(_ time: Duration = usual, now: @escaping () -> ContinuousClock.Instant = { .now }) {
    self.now = now
    end = now() + time
  }

  /// Whether to stop here; asked once a lot.
  mutating func isOver() -> Bool {
    looks += 1
    return looks >= Self.least && now() >= end
  }
}
