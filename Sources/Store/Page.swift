/// A page of a list.
package struct Page<Item: Sendable>: Sendable {
  package let items: [Item]
  /// The cursor of the next page; nil at the end.
  package let next: String?
  package init(items: [Item], next: String?) { (self.items, self.next) = (items, next) }

  /// Makes a page of `limit` items; one more shows that there is a next page.
  init<Key: LosslessStringConvertible>(_ found: [Item], limit: Int, key: (Item) -> Key) {
    items = Array(found.prefix(limit))
    next = found.count > limit ? items.last.map { String(key($0)) } : nil
  }

  package func map<Other: Sendable>(_ transform: (Item) throws -> Other) rethrows -> Page<Other> {
    Page<Other>(items: try items.map(transform), next: next)
  }
}

/// Reads a page's cursor.
func position(_ cursor: String?) throws -> Int64? {
  guard let cursor else { return nil }
  guard let value = Int64(cursor), value >= 0 else { throw StoreError.badCursor(cursor) }
  return value
}

/// The time budget for one page of a list without a matching index.
///
/// Not a number of rows, because a row takes ten times as long on a cold disk or a busy machine.
package struct Patience {
  /// Tens of thousands of rows on an idle machine, and short for a page.
  package static let usual = Duration.milliseconds(10)
  /// How often the clock is read: at rows whose ID is divisible by this; a prime, because the IDs of one tag may all be
  /// odd.
  static let lot = 251
  /// The fewest clock readings, so that a busy machine makes progress too.
  static let least = 16

  private let end: ContinuousClock.Instant
  private let now: () -> ContinuousClock.Instant
  private var looks = 0

  /// - Parameter now: a monotonic clock.
  package init(_ time: Duration = usual, now: @escaping () -> ContinuousClock.Instant = { .now }) {
    self.now = now
    end = now() + time
  }

  /// Whether to stop; call it once per ``lot``.
  mutating func isOver() -> Bool {
    looks += 1
    return looks >= Self.least && now() >= end
  }
}
