package import Foundation
package import Model
package import SQLite

/// What one device reported about a push.
package struct Receipt: Sendable, Hashable {
  package var displayedAt: Date?
  package var openedAt: Date?
  package var dismissedAt: Date?

  package subscript(kind: ReceiptKind) -> Date? {
    switch kind {
    case .displayed: displayedAt
    case .opened: openedAt
    case .dismissed: dismissedAt
    }
  }

  static let columns = "q.displayed_at, q.opened_at, q.dismissed_at"

  init(_ row: borrowing Row) {
    (displayedAt, openedAt, dismissedAt) = (row.optionalDate(0), row.optionalDate(1), row.optionalDate(2))
  }

  package static func find(_ database: Database, push: Int64, device: Int64) throws -> Receipt? {
    try database.fetchOne(
      "SELECT \(columns) FROM receipts q WHERE q.push_id = ? AND q.device_id = ?", push, device
    ) { Receipt($0) }
  }
}

/// How many devices of a push reported what.
package struct ReceiptCounts: Sendable, Hashable {
  /// That reported anything.
  package var devices = 0
  package var displayed = 0
  package var opened = 0
  package var dismissed = 0

  package init() {}

  package subscript(kind: ReceiptKind) -> Int {
    get {
      switch kind {
      case .displayed: displayed
      case .opened: opened
      case .dismissed: dismissed
      }
    }
    set {
      switch kind {
      case .displayed: displayed = newValue
      case .opened: opened = newValue
      case .dismissed: dismissed = newValue
      }
    }
  }

  package static func + (one: ReceiptCounts, other: ReceiptCounts) -> ReceiptCounts {
    var sum = one
    sum.devices += other.devices
    for kind in ReceiptKind.allCases { sum[kind] += other[kind] }
    return sum
  }

  private static let columns = "devices, displayed, opened, dismissed"

  private init(_ row: borrowing Row, from column: Int) {
    devices = row.int(column)
    (displayed, opened, dismissed) = (row.int(column + 1), row.int(column + 2), row.int(column + 3))
  }

  /// What the devices of one platform and service reported.
  package struct Line: Sendable, Hashable {
    package let platform: Platform
    /// Nil: reported to a version that did not tell a platform's services apart.
    package let provider: ProviderKind?
    package let counts: ReceiptCounts

    package init(_ platform: Platform, _ provider: ProviderKind?, _ counts: ReceiptCounts) {
      (self.platform, self.provider, self.counts) = (platform, provider, counts)
    }
  }

  /// Of one push, a line for each platform and service that reported; from counters.
  package static func lines(_ database: Database, push: Int64) throws -> [Line] {
    try database.fetchAll(
      "SELECT platform, provider, \(columns) FROM receipt_counters WHERE push_id = ?", push
    ) { row in
      Line(
        try Platform(code: row.int(0)), try row.int(1) == 0 ? nil : ProviderKind(code: row.int(1)),
        ReceiptCounts(row, from: 2))
    }
  }

  /// Of one push, by platform; from counters.
  package static func byPlatform(_ database: Database, push: Int64) throws -> [Platform: ReceiptCounts] {
    try Dictionary(lines(database, push: push).map { ($0.platform, $0.counts) }) { $0 + $1 }
  }

  /// Of one push; from counters.
  package static func find(_ database: Database, push: Int64) throws -> ReceiptCounts {
    try lines(database, push: push).reduce(ReceiptCounts()) { $0 + $1.counts }
  }

  /// Of the pushes that were created in a time, by whole days after its start.
  package static func days(_ database: Database, from: Date, before: Date) throws -> [Int: ReceiptCounts] {
    Dictionary(
      uniqueKeysWithValues: try database.fetchAll(
        """
        SELECT (p.created_at - ?1) / 86400000, sum(c.devices), sum(c.displayed), sum(c.opened), sum(c.dismissed)
        FROM pushes p INDEXED BY pushes_created JOIN receipt_counters c ON c.push_id = p.id
        WHERE p.created_at >= ?1 AND p.created_at < ?2 GROUP BY 1
        """, from, before
      ) { ($0.int(0), ReceiptCounts($0, from: 1)) })
  }
}
