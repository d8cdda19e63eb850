package import Foundation
package import SQLite

/// How a credential's connections reach the service, where that differs from the server's own setting.
package struct CredentialProxy: Sendable, Hashable {
  package enum Password: Sendable, Hashable {
    /// A secret, not stored yet.
    case plain(String)
    /// As it is stored, for this credential.
    case sealed([UInt8], credential: Int64)
  }

  /// ``direct``, or `host:port`.
  package let address: String
  package let user: String?
  package let password: Password?

  /// The address that stands for no proxy.
  package static let direct = "none"

  package init(address: String, user: String? = nil, password: Password? = nil) {
    (self.address, self.user, self.password) = (address, user, password)
  }

  /// ``direct``, or a URL without the password.
  package var text: String {
    guard address != Self.direct else { return address }
    let name = user?.addingPercentEncoding(withAllowedCharacters: .alphanumerics).map { "\($0)@" } ?? ""
    return "http://\(name)\(address)"
  }

  /// - Returns: the password, a secret.
  /// - Throws: `SealingError`, ``SealingMismatch``.
  package func opened(_ sealer: any Sealer) throws -> String? {
    switch password {
    case nil: nil
    case .plain(let text): text
    case .sealed(let bytes, let id):
      String(decoding: try sealer.open(bytes, associatedData: place(Self.table, id)), as: UTF8.self)
    }
  }

  private static let table = "credential_proxies"

  /// Stores the setting of a credential in place of the one it had; nil: the server's own applies again.
  package static func set(
    _ database: Database, credential id: Int64, _ proxy: CredentialProxy?, sealer: any Sealer, now: Date
  ) throws {
    guard let proxy else {
      try database.run("DELETE FROM credential_proxies WHERE id = ?", id)
      return
    }
    let sealed: [UInt8]? =
      switch proxy.password {
      case nil: nil
      case .plain(let text): try Sealing.seal(database, Array(text.utf8), table, id, sealer, now: now)
      case .sealed(let bytes, _): bytes
      }
    try database.run(
      """
      INSERT INTO credential_proxies(id, address, user, sealed) VALUES (?, ?, ?, ?)
      ON CONFLICT(id) DO UPDATE SET address = excluded.address, user = excluded.user, sealed = excluded.sealed
      """, id, proxy.address, proxy.user, sealed)
  }
}
