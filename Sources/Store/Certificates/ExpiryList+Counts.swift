package import Foundation
internal import Model
package import SQLite
import Text

extension ExpiryList {
  /// How many things end in each of some ranges, of those that have begun, and how many have not begun; by the
  /// ranges of the indexes. Without certificates that are replaced.
  ///
  /// - Parameter ranges: as in ``Filter/ends``.
  package static func counts(
    _ database: Database, _ ranges: [ClosedRange<Int64>], now: Date
  ) throws -> (begun: [Int], notBegun: Int) {
    func count(_ condition: String, _ arguments: [any SQLiteBindable]) throws -> Int {
      try ["certificates", "watched_hosts"].reduce(0) { sum, table in
        let own = table == "certificates" ? " AND \(inPlace)" : ""
        return try sum
          + (database.fetchOne(
            "SELECT count(*) FROM \(table) t INDEXED BY \(table)_ends WHERE \(condition)\(own)", arguments: arguments
          ) { $0.int(0) } ?? 0)
      }
    }
    let begun = try ranges.map { range in
      try count(
        "t.ends_key >= ? AND t.ends_key <= ? AND (t.not_before IS NULL OR t.not_before <= ?)",
        [range.lowerBound, range.upperBound, now])
    }
    // What has ended is over, whenever it began.
    let notBegun = try count("t.ends_key >= ? AND t.not_before > ?", [now, now])
    return (begun, notBegun)
  }

  /// How many watched hosts show nothing, or nothing yet.
  package static func failing(_ database: Database) throws -> Int {
    try database.int("SELECT count(*) FROM watched_hosts WHERE failing_since IS NOT NULL")
      + database.int(
        "SELECT count(*) FROM watched_hosts INDEXED BY watched_hosts_ends WHERE ends_key = -1 AND failing_since IS NULL"
      )
  }

  /// How many things end in a stretch of time, and one of them.
  package struct Stretch: Sendable, Hashable {
    /// The number of the stretch, the first is 0.
    package let index: Int
    /// How many things.
    package let count: Int
    /// What one of them is called.
    package let name: String
  }

  /// What ends when, in stretches of one length; those in which nothing ends are left out, and so are replaced
  /// certificates.
  package static func stretches(
    _ database: Database, from: Date, before: Date, length: TimeInterval
  ) throws -> [Stretch] {
    var sums: [Int: (count: Int, name: String)] = [:]
    for (table, name, own) in [("certificates", "t.name", "AND \(inPlace)"), ("watched_hosts", "t.host", "")] {
      try database.forEach(
        """
        SELECT s.stretch, s.count, (SELECT \(name) FROM \(table) t WHERE t.id = s.first) FROM (
          SELECT (ends_key - ?1) / ?2 AS stretch, count(*) AS count, min(id) AS first
          FROM \(table) t INDEXED BY \(table)_ends WHERE ends_key >= ?1 AND ends_key < ?3 \(own) GROUP BY stretch) s
        """, from, Int64(length * 1000), before
      ) { row in
        let index = row.int(0)
        sums[index] = (
          (sums[index]?.count ?? 0) + row.int(1), sums[index]?.name ?? row.text(2).singleLine
        )
        return .continue
      }
    }
    return sums.sorted { $0.key < $1.key }.map { Stretch(index: $0.key, count: $0.value.count, name: $0.value.name) }
  }
}
