package import Foundation
package import SQLite

extension WatchedHost {
  /// Watches a host from now on; nothing is known of it yet.
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

  /// All of them, by their names.
  package static func all(_ database: Database) throws -> [WatchedHost] {
    try database.fetchAll("SELECT \(columns) FROM watched_hosts h ORDER BY h.host, h.port, h.id") {
      try WatchedHost($0)
    }
  }

  /// One of them, nil if there is none.
  package static func find(_ database: Database, id: Int64) throws -> WatchedHost? {
    try database.fetchOne("SELECT \(columns) FROM watched_hosts h WHERE h.id = ?", id) { try WatchedHost($0) }
  }

  /// The one with this address, nil if it is not watched.
  package static func find(_ database: Database, _ address: HostAddress) throws -> WatchedHost? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM watched_hosts h
      WHERE h.host = ? AND h.port = ? AND h.server_name = ? AND h.protocol = ?
      """, address.host, Int(address.port), address.serverName, address.startProtocol.rawValue
    ) { try WatchedHost($0) }
  }

  /// One of them.
  ///
  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, id: Int64) throws -> WatchedHost {
    guard let found = try find(database, id: id) else { throw StoreError.notFound(noun: "watched host", id: "\(id)") }
    return found
  }

  /// Changes where is looked, and what people say of it. What was seen at another address is forgotten; the history
  /// stays.
  ///
  /// - Throws: `StoreError.taken` if another one has the address.
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

  /// Watches it no longer; its history goes with it.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  package static func delete(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM watched_hosts WHERE id = ?", id) > 0
  }
}
