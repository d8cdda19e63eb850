package import Foundation
import JSON
package import Mail
import Model
package import SQLite
package import Store

/// The mail server for reminders. The password is sealed.
package struct MailSettings: Sendable, Hashable {
  package var server: SMTPServer
  /// The sender.
  package var from: MailAddress

  package init(server: SMTPServer, from: MailAddress) {
    self.server = server
    self.from = from
  }

  private static let key = Setting.mail

  /// Nil: no mail server is set up.
  ///
  /// - Throws: the sealer's error if the password was sealed with another key.
  package static func load(_ database: Database, sealer: any Sealer) throws -> MailSettings? {
    guard let text = try Setting.find(database, key) else { return nil }
    let json = try JSONValue(parsing: Data(text.utf8))
    guard let host = json["host"]?.string, let address = json["from"]?.string,
      let from = MailAddress(address, name: json["from_name"]?.string ?? "")
    else { throw StoreError.unreadable(column: "settings.mail", value: "") }
    let security = json["security"]?.string.flatMap(SMTPServer.Security.init) ?? .startTLS
    let password = try MailPassword.find(database, sealer: sealer)
    let server = SMTPServer(
      host: host, port: json["port"]?.integer.map(Int.init), security: security, user: json["user"]?.string,
      password: password, trustPEM: json["trust"]?.string)
    return MailSettings(server: server, from: from)
  }

  /// Whether a mail server is set up; needs no key.
  package static func isSet(_ database: Database) throws -> Bool { try Setting.find(database, key) != nil }

  /// Nil removes them.
  package static func save(_ settings: MailSettings?, _ database: Database, sealer: any Sealer, now: Date) throws {
    try MailPassword.set(database, settings?.server.password, sealer: sealer, now: now)
    guard let settings else { return try Setting.set(database, key, nil) }
    let server = settings.server
    let json: JSONValue = [
      "host": .string(server.host), "port": .number(server.port), "security": .string(server.security.rawValue),
      "user": .optional(server.user), "trust": .optional(server.trustPEM), "from": .string(settings.from.address),
      "from_name": .string(settings.from.name),
    ]
    try Setting.set(database, key, json.text())
  }
}
