package import Foundation
internal import OpenSSL
package import SQLite

/// The key that a database is sealed with, so that a wrong key is distinguished from damaged rows.
package enum Sealing {
  /// The relation of a key and a database.
  package enum State: Sendable, Hashable {
    /// The key matches, and may seal new values.
    case fits
    /// There is no key.
    case missing
    /// The database is sealed with another key, with this identifier.
    case other(database: String)
  }

  /// A value that cannot be opened.
  package struct Closed: Sendable, Hashable {
    package let table: String
    package let id: Int64
  }

  /// The identifier of the database's key, nil if nothing was ever sealed.
  package static func identifier(_ database: Database) throws -> String? {
    try database.fetchOne("SELECT identifier FROM sealing_key WHERE id = 1") { $0.text(0) }
  }

  package static func state(_ database: Database, _ sealer: any Sealer) throws -> State {
    if let ring = sealer as? KeyRing, ring.isMissing { return .missing }
    guard let own = sealer.keyIdentifier else { return .fits }
    // Sealing records the key in the same transaction: without a record, nothing is sealed yet.
    guard let known = try identifier(database) else { return .fits }
    return known == own ? .fits : .other(database: known)
  }

  /// Records the key if none is recorded.
  ///
  /// - Returns: whether it matches.
  @discardableResult
  package static func recordKey(_ database: Database, _ sealer: any Sealer, now: Date) throws -> State {
    let state = try state(database, sealer)
    if state == .fits { try note(database, sealer, now: now) }
    return state
  }

  /// Makes this the database's key; values sealed with another one stay unreadable.
  package static func beginAnew(_ database: Database, _ sealer: any Sealer, now: Date) throws {
    try database.run("DELETE FROM sealing_key")
    try note(database, sealer, now: now)
  }

  private static func note(_ database: Database, _ sealer: any Sealer, now: Date) throws {
    guard let own = sealer.keyIdentifier else { return }
    try database.run(
      "INSERT INTO sealing_key(id, identifier, since) VALUES (1, ?, ?) ON CONFLICT(id) DO NOTHING", own, now)
  }

  /// Seals a value for a row, in the transaction that stores it.
  ///
  /// - Throws: ``SealingMismatch`` if the database has another key, because with two keys half of the values would be
  /// lost.
  static func seal(
    _ database: Database, _ bytes: [UInt8], _ table: String, _ id: Int64, _ sealer: any Sealer, now: Date
  ) throws -> [UInt8] {
    switch try recordKey(database, sealer, now: now) {
    case .fits: break
    case .missing: throw SealingMismatch.missing
    case .other: throw SealingMismatch.other
    }
    return try sealer.seal(bytes, associatedData: place(table, id))
  }

  /// Seals a value into the column `sealed` of its row.
  static func keep(
    _ database: Database, _ bytes: [UInt8], _ table: String, _ id: Int64, _ sealer: any Sealer, now: Date
  ) throws {
    let sealed = try seal(database, bytes, table, id, sealer, now: now)
    try database.run("UPDATE \(table) SET sealed = ? WHERE id = ?", sealed, id)
  }

  /// The rows of a table that this key cannot open.
  package static func closed(_ database: Database, in table: String, _ sealer: any Sealer) throws -> Set<Int64> {
    Set(
      try SealedColumn.all.filter { $0.table == table }.flatMap { column in
        try closedRows(database, column, sealer)
      })
  }

  /// Whether this key cannot open a row of a table.
  package static func isClosed(
    _ database: Database, in table: String, id: Int64, _ sealer: any Sealer
  ) throws -> Bool {
    try SealedColumn.all.contains { try $0.table == table && !opens(database, $0, id, sealer) }
  }

  /// The rows of a column that this key cannot open.
  ///
  /// An opened value opens again as long as it is unchanged: each begins with its own random bytes (`SealingKey`). A
  /// ``KeyRing`` remembers these, so that only new values are opened.
  private static func closedRows(
    _ database: Database, _ column: SealedColumn, _ sealer: any Sealer
  ) throws -> [Int64] {
    let ring = sealer as? KeyRing
    let known = ring?.opened(column) ?? [:]
    var closed: [Int64] = []
    var opened: [Int64: [UInt8]] = [:]
    let name = column.column
    let heads = try database.fetchAll(
      "SELECT id, substr(\(name), 1, 13) FROM \(column.table) WHERE \(name) IS NOT NULL ORDER BY id"
    ) { ($0.int64(0), $0.blob(1)) }
    for (id, head) in heads {
      if try known[id] == head || opens(database, column, id, sealer) {
        opened[id] = head
      } else {
        closed.append(id)
      }
    }
    ring?.keepOpened(opened, column)
    return closed
  }

  /// Re-seals every value with another key in one transaction.
  ///
  /// - Returns: how many, and the values that the old key could not open, which stay unchanged.
  package static func reseal(
    _ database: Database, from old: any Sealer, to new: any Sealer, now: Date
  ) throws -> (count: Int, closed: [Closed]) {
    var count = 0
    var closed: [Closed] = []
    for column in SealedColumn.all {
      for id in try rows(database, column) {
        guard let bytes = try value(database, column, id) else { continue }
        let place = place(column.table, id)
        guard let opened = try? old.open(bytes, associatedData: place) else {  // listed in `closed`
          closed.append(Closed(table: column.table, id: id))
          continue
        }
        let sealed = try new.seal(opened, associatedData: place)
        try database.run("UPDATE \(column.table) SET \(column.column) = ? WHERE id = ?", sealed, id)
        count += 1
      }
    }
    try beginAnew(database, new, now: now)
    return (count, closed)
  }

  /// The result of a call that unseals something; nil if it cannot be unsealed. Other errors, such as a busy database,
  /// are thrown, because they would look like a missing secret.
  package static func opened<Value>(_ open: () throws -> Value?) throws -> Value? {
    do { return try open() } catch is SealingError { return nil } catch is SealingMismatch { return nil }
  }

  private static func rows(_ database: Database, _ column: SealedColumn) throws -> [Int64] {
    try database.fetchAll("SELECT id FROM \(column.table) WHERE \(column.column) IS NOT NULL ORDER BY id") {
      $0.int64(0)
    }
  }

  private static func value(_ database: Database, _ column: SealedColumn, _ id: Int64) throws -> [UInt8]? {
    try database.fetchOne("SELECT \(column.column) FROM \(column.table) WHERE id = ?", id) { $0.blob(0) }
  }

  private static func opens(
    _ database: Database, _ column: SealedColumn, _ id: Int64, _ sealer: any Sealer
  ) throws -> Bool {
    guard let bytes = try value(database, column, id) else { return true }
    // The reason does not matter.
    return (try? sealer.open(bytes, associatedData: place(column.table, id))) != nil
  }
}

/// Why sealing is refused.
package enum SealingMismatch: Error, Sendable, Hashable, CustomStringConvertible {
  case missing
  /// The database is sealed with another key.
  case other

  package var description: String {
    switch self {
    case .missing:
      "The key file is missing, so secrets cannot be saved. Restore it, or start over with a new key: "
        + "signalbox rotate-key --lost"
    case .other:
      "The key file does not match this database. Restore the right one, or start over with this "
        + "one: signalbox rotate-key --lost"
    }
  }
}

/// A column with sealed values. ``all`` must contain every one, because others would be lost when the key is changed; a
/// test compares it with the schema.
package struct SealedColumn: Sendable, Hashable {
  /// Has an integer `id`; values are sealed for the place `<table>/<id>`.
  package let table: String
  /// `sealed` or `sealed_…`.
  package let column: String

  init(_ table: String, _ column: String = "sealed") { (self.table, self.column) = (table, column) }

  /// Every sealed column of the schema.
  package static let all: [SealedColumn] = [
    SealedColumn("certificates"),
    SealedColumn("credential_proxies"),
    SealedColumn("certificate_candidates"),
    SealedColumn("certificate_requests"),
    SealedColumn("locked_files"),
    SealedColumn("receivers"),
    SealedColumn("webhooks"),
    SealedColumn("mail_passwords"),
    SealedColumn("authenticators"),
    SealedColumn("oidc_secrets"),
  ]
}
