package import Foundation
internal import Model
package import SQLite
import Text

extension ExpiryList {
  /// The number of items that end in each range, of those already valid, the number of those not yet valid, and of those
  /// that have not begun and never will, because they end before; from indexes, without replaced certificates.
  ///
  /// - Parameter ranges: as in ``Filter/ends``.
  package static func counts(
    _ database: Database, _ ranges: [ClosedRange<Int64>], now: Date
  ) throws -> (begun: [Int], notBegun: Int, neverValid: Int) {
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
    let notBegun = try count("t.ends_key >= ? AND t.not_before > ? AND t.ends_key >= t.not_before", [now, now])
    let neverValid = try count("t.ends_key >= 0 AND t.not_before > ? AND t.ends_key < t.not_before", [now])
    return (begun, notBegun, neverValid)
  }

  /// The number of watched hosts without a certificate.
  package static func failing(_ database: Database) throws -> Int {
    try database.int("SELECT count(*) FROM watched_hosts WHERE failing_since IS NOT NULL")
      + database.int(
        "SELECT count(*) FROM watched_hosts INDEXED BY watched_hosts_ends WHERE ends_key = -1 AND failing_since IS NULL"
      )
  }

  /// The number of replaced certificates that no credential uses.
  package static func replaced(_ database: Database) throws -> Int {
    try database.int("SELECT count(*) FROM certificates t WHERE t.replaced_by IS NOT NULL AND NOT \(inPlace)")
  }

  /// The items that end within a period: their number, and one name.
  package struct Stretch: Sendable, Hashable {
    /// From 0.
    package let index: Int
    package let count: Int
    /// The name of one of them.
    package let name: String
    /// When the first of them ends.
    package let earliest: Date
  }

  /// The number of items that end in each of equal periods, without empty periods and replaced certificates.
  package static func stretches(
    _ database: Database, from: Date, before: Date, length: TimeInterval
  ) throws -> [Stretch] {
    var sums: [Int: (count: Int, name: String, earliest: Date)] = [:]
    for (table, name, own) in [("certificates", "t.name", "AND \(inPlace)"), ("watched_hosts", "t.host", "")] {
      try database.forEach(
        """
        SELECT s.stretch, s.count, (SELECT \(name) FROM \(table) t WHERE t.id = s.first), s.earliest FROM (
          SELECT (ends_key - ?1) / ?2 AS stretch, count(*) AS count, min(id) AS first, min(ends_key) AS earliest
          FROM \(table) t INDEXED BY \(table)_ends WHERE ends_key >= ?1 AND ends_key < ?3 \(own) GROUP BY stretch) s
        """, from, Int64(length * 1000), before
      ) { row in
        let index = row.int(0)
        sums[index] = (
          (sums[index]?.count ?? 0) + row.int(1), sums[index]?.name ?? row.text(2).singleLine,
          min(sums[index]?.earliest ?? .distantFuture, row.date(3))
        )
        return .continue
      }
    }
    return sums.sorted { $0.key < $1.key }.map { index, sum in
      Stretch(index: index, count: sum.count, name: sum.name, earliest: sum.earliest)
    }
  }
}
