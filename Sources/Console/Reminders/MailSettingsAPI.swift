import Foundation
import HTTPServer
import JSON
import Mail
import Model
import Reminders
import SQLite
import Store

/// `/api/v1/settings/mail`. The password can be set and is never returned.
enum MailSettingsAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/settings/mail", role: .admin, scope: .admin) { call in answer(try await known(call)) }
    routes.call(.put, "/settings/mail", role: .admin, scope: .admin, change)
    routes.call(.delete, "/settings/mail", role: .admin, scope: .admin, remove)
    routes.call(.post, "/settings/mail/test", role: .admin, scope: .admin, test)
  }

  /// - Throws: 404 if no mail server is set up.
  private static func known(_ call: APIContext) async throws -> MailSettings {
    guard let settings = try await load(call) else { throw APIError(.notFound, MailForm.notSetUp.text) }
    return settings
  }

  private static func load(_ call: APIContext) async throws -> MailSettings? {
    let sealer = call.store.sealer
    return try await call.store.read { try MailSettings.load($0, sealer: sealer) }
  }

  private static func answer(_ settings: MailSettings) -> Response {
    let server = settings.server
    return APIContext.answer { json in
      json.member("host", server.host)
      json.member("port", server.port)
      json.member("security", server.security.rawValue)
      json.member("user", server.user)
      json.member("has_password", server.password != nil)
      json.member("from", settings.from.address)
      json.member("from_name", settings.from.name)
      json.member("trust", server.trustPEM)
    }
  }

  private static func change(_ call: APIContext) async throws -> Response {
    let fields = JSONFields(try await call.body())
    var form = MailForm()
    form.host = fields.string("host", required: true) ?? ""
    form.port = fields.integer("port", in: 1...65_535)
    form.security = fields.choice("security") ?? .startTLS
    form.user = fields.string("user")
    form.password = fields.string("password", limit: .characters(1000))
    form.from = fields.string("from", required: true) ?? ""
    form.fromName = fields.string("from_name") ?? ""
    form.trust = fields.string("trust", limit: .bytes(MailForm.trustLimit), lines: true)
    try fields.finish()
    let settings = try form.settings(try await load(call))
    try await call.store.write { try settings.keep($0, for: call) }
    return answer(settings)
  }

  private static func remove(_ call: APIContext) async throws -> Response {
    let sealer = call.store.sealer
    try await call.store.write { database in
      guard try MailSettings.isSet(database) else { throw APIError(.notFound, MailForm.notSetUp.text) }
      // Settings whose password does not open can be removed too.
      let before = try? MailSettings.load(database, sealer: sealer)
      try MailSettings.save(nil, database, sealer: sealer, now: call.now)
      try call.record(database, call.audit("settings.mail_remove", "settings mail").changing(before?.audited, to: nil))
    }
    return APIContext.nothing
  }

  /// Sends a test message at once. A refusal by the mail server is a result with status 200, not an error.
  private static func test(_ call: APIContext) async throws -> Response {
    let fields = JSONFields(try await call.body())
    let to = fields.string("to", required: true, limit: .bytes(MailAddress.limit)) { text in
      MailAddress(text) == nil ? MailForm.badAddress("") : nil
    }
    let language = fields.string("language") { text in
      ReceiverForm.languages.contains(text)
        ? nil
        : Problem(
          "", FieldMessage.expectedChoice,
          ["choices": ReceiverForm.languages.joined(separator: ", "), "value": String(text.prefix(40))])
    }
    try fields.finish()
    guard let to else { throw Problems([Problem("to", FieldMessage.required)]) }
    guard let settings = try await load(call) else { throw APIError(.conflict, MailForm.notSetUp.text) }
    let answer = try await ReceiversAPI.attempt(
      call, .email, .init(address: to), language: language ?? "en", mail: settings)
    try await call.note(call.audit("settings.mail_test", "settings mail", ["to": .string(to)]))
    return APIContext.answer(answer)
  }
}
