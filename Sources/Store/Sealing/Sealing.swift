public import Foundation
internal import OpenSSL
public import SQLite

/// Which key a database is sealed with, so that another one is told from a damaged row before harm is done.
public enum Sealing {
  /// How a key and a database stand to each other.
  public enum State: Sendable, Hashable {
    /// What is sealed opens, and new things may be sealed.
    case fits
    /// There is no key.
    case missing
    /// The database is sealed with another key; its identifier if it is known.
    case other(database: String?)
  }

  /// What does not open, and where it stands.
  public struct Closed: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The row.
    public let id: Int64
  }

  /// The identifier of the key that the database is sealed with, nil if nothing was ever sealed in it.
  public static func identifier(_ database: Database) throws -> String? {
    try database.fetchOne("SELECT identifier FROM sealing_key WHERE id = 1") { $0.text(0) }
  }

  /// Whether the database is sealed with this key.
  public static func state(_ database: Database, _ sealer: any Sealer) throws -> State {
    if let ring = sealer as? KeyRing, ring.isMissing { return .missing }
    guard let own = sealer.keyIdentifier else { return .fits }
    if let known = try identifier(database) { return known == own ? .fits : .other(database: known) }
    // Written by a version that did not note its key: one value that opens is proof enough.
    var isEmpty = true
    for column in SealedColumn.all {
      // A row that is being written is still empty.
      for id in try rows(database, column) where try value(database, column, id)?.isEmpty == false {
        isEmpty = false
        if try opens(database, column, id, sealer) { return .fits }
      }
    }
    return isEmpty ? .fits : .other(database: nil)
  }

  /// Notes the key in a database that has none noted, if it fits.
  ///
  /// - Returns: whether it fits.
  @discardableResult
  public static func settle(_ database: Database, _ sealer: any Sealer, now: Date) throws -> State {
    let state = try state(database, sealer)
    if state == .fits { try note(database, sealer, now: now) }
    return state
  }

  /// From now on the database is sealed with this key; what was sealed with another one stays closed.
  public static func beginAnew(_ database: Database, _ sealer: any Sealer, now: Date) throws {
    try database.run("DELETE FROM sealing_key")
    try note(database, sealer, now: now)
  }

  private static func note(_ database: Database, _ sealer: any Sealer, now: Date) throws {
    guard let own = sealer.keyIdentifier else { return }
    try database.run(
      "INSERT INTO sealing_key(id, identifier, since) VALUES (1, ?, ?) ON CONFLICT(id) DO NOTHING", own, now)
  }

  /// Seals a value for a row, in the transaction that keeps it.
  ///
  /// - Throws: ``SealingMismatch`` if the database is sealed with another key: two keys in one file lose one half.
  static func seal(
    _ database: Database, _ bytes: [UInt8], _ table: String, _ id: Int64, _ sealer: any Sealer, now: Date
  ) throws -> [UInt8] {
    switch try settle(database, sealer, now: now) {
    case .fits: break
    case .missing: throw SealingMismatch.missing
    case .other: throw SealingMismatch.other
    }
    return try sealer.seal(bytes, associatedData: place(table, id))
  }

  /// Everything that this key does not open.
  public static func closed(_ database: Database, _ sealer: any Sealer) throws -> [Closed] {
    try SealedColumn.all.flatMap { column in
      try rows(database, column).filter { try !opens(database, column, $0, sealer) }
        .map { Closed(table: column.table, id: $0) }
    }
  }

  /// The rows of a table that this key does not open.
  public static func closed(_ database: Database, in table: String, _ sealer: any Sealer) throws -> Set<Int64> {
    Set(
      try SealedColumn.all.filter { $0.table == table }.flatMap { column in
        try rows(database, column).filter { try !opens(database, column, $0, sealer) }
      })
  }

  /// Opens every value with one key and seals it with another, in one transaction.
  ///
  /// - Returns: how many, and what the old key did not open, which is left as it is.
  public static func reseal(
    _ database: Database, from old: any Sealer, to new: any Sealer, now: Date
  ) throws -> (count: Int, closed: [Closed]) {
    var count = 0
    var closed: [Closed] = []
    for column in SealedColumn.all {
      for id in try rows(database, column) {
        guard let bytes = try value(database, column, id) else { continue }
        let place = place(column.table, id)
        guard let opened = try? old.open(bytes, associatedData: place) else {  // told in `closed`
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

  /// What a call that opens something sealed gives; nil if that does not open, whatever the reason of its seal. Anything
  /// else that goes wrong, as a busy database, is thrown: it would look as if there were no secret.
  public static func opened<Value>(_ open: () throws -> Value?) throws -> Value? {
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
    // Why it does not open cannot be told apart; that it does not is the answer.
    return (try? sealer.open(bytes, associatedData: place(column.table, id))) != nil
  }
}

/// Why nothing may be sealed.
public enum SealingMismatch: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no key.
  case missing
  /// The database is sealed with another key than the one at hand.
  case other

  /// What is wrong, and what to do.
  public var description: String {
    switch self {
    case .missing:
      "The key file is missing, so nothing secret can be kept. Put it back, or begin anew with a new key: "
        + "signalbox rotate-key --lost"
    case .other:
      "The key file is not the one that this database is sealed with. Put back the right one, or begin anew with this "
        + "one: signalbox rotate-key --lost"
    }
  }
}
