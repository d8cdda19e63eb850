import Foundation
import JSON
import Mail
import Model
import Reminders
import SQLite
import Store

/// Mail server settings from the form or the API, validated.
struct MailForm: Sendable {
  /// Bytes of the PEM text with trusted authorities.
  static let trustLimit = 100_000

  var host = ""
  /// Nil: the default port of the encryption.
  var port: Int?
  var security = SMTPServer.Security.startTLS
  var user: String?
  /// Nil: keep the stored password, if it belongs to this server.
  var password: String?
  var from = ""
  var fromName = ""
  var trust: String?

  static func badAddress(_ field: String) -> Problem {
    Problem(field, code: "mail.address", "Must be an email address, e.g. ops@example.com.")
  }

  static let notSetUp = Problem("host", code: "mail.not_set_up", "No mail server is set up yet.")

  /// The settings to store.
  ///
  /// A stored password is kept only for the same server. Otherwise somebody who may change the settings could have the
  /// password sent to a server that they control.
  ///
  /// - Throws: all problems, each at its field.
  func settings(_ known: MailSettings?) throws(Problems) -> MailSettings {
    var problems: [Problem] = []
    if !SMTPServer.isHost(host) {
      problems.append(
        SMTPServer.place(host).map { place in
          Problem(
            "host", code: "mail.host_port", "Enter {host} here, and {port} in the port’s own field.",
            ["host": place.host, "port": "\(place.port)"])
        }
          ?? Problem(
            "host", code: "mail.host",
            "Enter the host name or IP address of the mail server, without smtp:// and without a port."))
    }
    let port = port ?? security.port
    if !(1...65_535).contains(port) {
      problems.append(Problem("port", code: "mail.port", "The port must be a number from 1 to 65535."))
    }
    let sender = MailAddress(from, name: fromName)
    if sender == nil { problems.append(Self.badAddress("from")) }
    if let trust, trust.utf8.count > Self.trustLimit || !trust.contains("-----BEGIN CERTIFICATE-----") {
      problems.append(
        Problem("trust", code: "mail.trust", "Must be PEM certificates, starting with -----BEGIN CERTIFICATE-----.")
      )
    }
    let kept = known?.server.host.lowercased() == host.lowercased() ? known?.server.password : nil
    // Without a user, no password is stored.
    let password = user == nil ? nil : password ?? kept
    if user != nil, password == nil {
      problems.append(
        known?.server.password == nil
          ? Problem("password", code: "mail.password", "Enter the user’s password.")
          : Problem(
            "password", code: "mail.password_elsewhere",
            "Enter the password again. The saved one is for {host} and is not sent to another host.",
            ["host": known?.server.host ?? ""]))
    }
    let server = SMTPServer(host: host, port: port, security: security, user: user, password: password, trustPEM: trust)
    if server.isCareless {
      problems.append(
        Problem("security", code: "mail.careless", "The password would be sent unencrypted. Choose STARTTLS or TLS."))
    }
    guard problems.isEmpty, let sender else { throw Problems(problems) }
    return MailSettings(server: server, from: sender)
  }
}

extension MailSettings {
  /// For the audit log, without the password.
  var audited: JSONValue {
    [
      "host": .string(server.host), "port": .number(server.port), "security": .string(server.security.rawValue),
      "from": .string(from.address), "user": .optional(server.user), "trust": .optional(server.trustPEM),
    ]
  }

  /// Saves the settings with their audit entry.
  func keep(_ database: Database, for context: some ActorContext) throws {
    let sealer = context.store.sealer
    let before = try Self.load(database, sealer: sealer)
    try Self.save(self, database, sealer: sealer, now: context.now)
    let audit = context.audit("settings.mail", "settings mail")
    try context.record(database, audit.changing(before?.audited, to: audited))
  }
}
