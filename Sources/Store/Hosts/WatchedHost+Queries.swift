package import Foundation
package import SQLite

extension WatchedHost {
  /// Adds a host.
  ///
  /// - Throws: `StoreError.taken` if it is watched already.
  @discardableResult
  package static func add(
    _ database: Database, _ address: HostAddress, note: String = "", by user: String, now: Date
  ) throws -> WatchedHost {
    guard try find(database, address) == nil else {
      throw StoreError.taken(noun: "watched host", field: "address, port and name")
    }
    try database.run(
      """
      INSERT INTO watched_hosts(protocol, host, port, server_name, note, created_by, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, address.startProtocol.rawValue, address.host, Int(address.port), address.serverName, note, user, now)
    return try get(database, id: database.lastInsertedID)
  }

  package static func all(_ database: Database) throws -> [WatchedHost] {
    try database.fetchAll("SELECT \(columns) FROM watched_hosts h ORDER BY h.host, h.port, h.id") {
      try WatchedHost($0)
    }
  }

  package static func find(_ database: Database, id: Int64) throws -> WatchedHost? {
    try database.fetchOne("SELECT \(columns) FROM watched_hosts h WHERE h.id = ?", id) { try WatchedHost($0) }
  }

  /// Nil if the address is not watched.
  package static func find(_ database: Database, _ address: HostAddress) throws -> WatchedHost? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM watched_hosts h
      WHERE h.host = ? AND h.port = ? AND h.server_name = ? AND h.protocol = ?
      """, address.host, Int(address.port), address.serverName, address.startProtocol.rawValue
    ) { try WatchedHost($0) }
  }

  package static let noun = "watched host"

  /// Changes address and note. The certificate seen at another address is dropped; the history stays.
  ///
  /// - Throws: `StoreError.taken` if the address is watched already.
  @discardableResult
  package static func update(
    _ database: Database, id: Int64, _ address: HostAddress, note: String
  ) throws -> WatchedHost {
    let old = try get(database, id: id)
    if address != old.address {
      guard try find(database, address) == nil else {
        throw StoreError.taken(noun: "watched host", field: "address, port and name")
      }
      try database.run(
        """
        UPDATE watched_hosts SET protocol = ?, host = ?, port = ?, server_name = ?, probed_at = NULL,
          answered_at = NULL, failing_since = NULL, failure = NULL, failure_detail = NULL, address = NULL,
          tls_version = NULL, subject = NULL, issuer = NULL, serial = NULL, sha256 = NULL, names = '[]',
          not_before = NULL, not_after = NULL, chain = '[]', trust = NULL, name_matches = NULL
        WHERE id = ?
        """, address.startProtocol.rawValue, address.host, Int(address.port), address.serverName, id)
    }
    try database.run("UPDATE watched_hosts SET note = ? WHERE id = ?", note, id)
    return try get(database, id: id)
  }

  /// Deletes a host with its history.
  ///
  /// - Returns: whether it existed.
  @discardableResult
  package static func delete(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM watched_hosts WHERE id = ?", id) > 0
  }
}
