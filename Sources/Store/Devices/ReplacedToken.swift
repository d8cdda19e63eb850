internal import Foundation
package import Model
package import SQLite

/// Tokens that an app replaced by others. Whoever still has an old one means the device that had it.
package enum ReplacedToken {
  /// How many are kept of a device, the last ones.
  static let perDevice = 20

  /// The token that a device of the app has in place of this one; nil: it was never replaced, or is a device's own again.
  package static func successor(_ database: Database, of token: DeviceToken, app: Int64) throws -> DeviceToken? {
    try database.fetchOne(
      """
      SELECT d.token FROM replaced_tokens r JOIN devices d ON d.id = r.device_id
      WHERE r.token = ?1 AND r.app_id = ?2
        AND NOT EXISTS (SELECT 1 FROM devices o WHERE o.token = ?1 AND o.app_id = ?2)
      """, token.bytes, app
    ) { DeviceToken(bytes: $0.blob(0)) }
  }

  /// The same tokens, those that were replaced as they are now.
  static func current(_ database: Database, _ tokens: [DeviceToken], app: Int64) throws -> [DeviceToken] {
    try tokens.map { try successor(database, of: $0, app: app) ?? $0 }
  }
}

extension DeviceWriter {
  /// Records that a device had another token before; nil: none.
  ///
  /// - Parameter former: another device, which goes up in it with the tokens that it replaced.
  func noteReplaced(_ token: DeviceToken?, by device: Int64, app: Int64, former: Int64? = nil) throws {
    guard let token else { return }
    if let former {
      try database.run("UPDATE replaced_tokens SET device_id = ? WHERE device_id = ?", device, former)
    }
    try database.run(
      "INSERT OR REPLACE INTO replaced_tokens(token, app_id, device_id, replaced_at) VALUES (?, ?, ?, ?)",
      token.bytes, app, device, now)
    try database.run(
      """
      DELETE FROM replaced_tokens WHERE device_id = ?1 AND token IN (
        SELECT token FROM replaced_tokens WHERE device_id = ?1 ORDER BY replaced_at DESC, token LIMIT -1 OFFSET ?2)
      """, device, ReplacedToken.perDevice)
  }
}
