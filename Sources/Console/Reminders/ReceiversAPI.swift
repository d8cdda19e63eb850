import Foundation
import HTTPServer
import JSON
import Mail
import Model
import Reminders
import SQLite
import Store

enum ReceiversAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/receivers", role: .admin, scope: .admin) { call in
      return APIContext.answer(Page(items: try await call.store.read { try ReceiverAnswer.all($0) }, next: nil))
    }
    routes.call(.post, "/receivers", role: .admin, scope: .admin, create)
    routes.call(.get, "/receivers/:id", role: .admin, scope: .admin) { call in
      try await call.read { ReceiverAnswer(try Receiver.get($0, id: call.id()), try App.bundleIDs($0)) }
    }
    routes.call(.patch, "/receivers/:id", role: .admin, scope: .admin, update)
    routes.call(.delete, "/receivers/:id", role: .admin, scope: .admin, delete)
    routes.call(.post, "/receivers/:id/test", role: .admin, scope: .admin, takesBody: false, test)
  }

  private enum Language: String, CaseIterable {
    case english = "en"
    case chinese = "zh-Hans"
  }

  /// Reads the members that creating and changing have in common. `app` is a bundle ID.
  private static func read(_ fields: JSONFields, _ form: inout ReceiverForm, required: Bool) -> String? {
    form.name = fields.string("name", required: required, limit: .characters(ReceiverForm.nameLimit)) ?? form.name
    form.address = fields.string("address", required: required, limit: .characters(2048))
    form.secret = fields.string("secret", limit: .characters(200))
    form.language = fields.choice("language", as: Language.self)?.rawValue ?? form.language
    form.isActive = fields.bool("active") ?? form.isActive
    form.getsIncidents = fields.bool("incidents") ?? form.getsIncidents
    return fields.string("app", limit: .characters(AppName.bundleIDLimit))
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = JSONFields(body)
    var form = ReceiverForm()
    form.channel = fields.choice("channel", required: true, as: Receiver.Channel.self) ?? .email
    let bundleID = read(fields, &form, required: true)
    try fields.finish()
    let problems = form.problems(plain: call.plainHosts)
    guard problems.isEmpty else { throw Problems(problems) }
    let idempotency = try Idempotency(call, content: Array(body.data()))
    let wanted = form
    return try await idempotency.response(call.store) { database in
      var form = wanted
      form.appID = try call.filter(database, app: bundleID)?.id
      let receiver = try ReceiverPages.keep(database, form, nil, for: call)
      return Idempotency.Answer(
        status: .created, json: ReceiverAnswer(receiver, try App.bundleIDs(database)),
        location: "/api/v1/receivers/\(receiver.id)")
    }
  }

  private static func update(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    let body = try await call.body()
    let fields = JSONFields(body)
    var typed = ReceiverForm()
    let bundleID = read(fields, &typed, required: false)
    try fields.finish()
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    let form = typed
    @Sendable func has(_ name: String) -> Bool { body[name] != nil && body[name] != .null }
    return try await call.write { database in
      let before = try Receiver.get(database, id: id)
      var changed = form
      changed.channel = before.details.channel
      if !has("name") { changed.name = before.details.name }
      if !has("language") { changed.language = before.details.language }
      if !has("active") { changed.isActive = before.details.isActive }
      if !has("incidents") { changed.getsIncidents = before.details.getsIncidents }
      changed.appID = before.details.appID
      if body["app"] != nil { changed.appID = try call.filter(database, app: bundleID)?.id }
      if body["secret"] == .null { changed.secret = "" }
      let problems = changed.problems(plain: call.plainHosts)
      guard problems.isEmpty else { throw Problems(problems) }
      let receiver = try ReceiverPages.keep(database, changed, before, for: call)
      return ReceiverAnswer(receiver, try App.bundleIDs(database))
    }
  }

  private static func delete(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    try await call.store.write { database in
      let receiver = try Receiver.get(database, id: id)
      try Receiver.delete(database, id: id)
      try call.record(database, "receiver.delete", "receiver \(id)", receiver.audited)
    }
    return APIContext.nothing
  }

  /// Sends a test message at once. A refusal by the other server is a result with status 200, not an error.
  private static func test(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    let sealer = call.store.sealer
    let (receiver, secrets, mail) = try await call.store.read { database in
      (
        try Receiver.get(database, id: id), try Receiver.secrets(database, id: id, sealer: sealer),
        try MailSettings.load(database, sealer: sealer)
      )
    }
    let answer = try await attempt(
      call, receiver.details.channel, secrets, language: receiver.details.language, mail: mail)
    try await call.note(call.audit("receiver.test", "receiver \(id)", ["accepted": .bool(answer.isTaken)]))
    return APIContext.answer(answer)
  }

  static func attempt(
    _ call: APIContext, _ channel: Receiver.Channel, _ secrets: Receiver.Secrets, language: String,
    mail: MailSettings?
  ) async throws -> TestAnswer {
    let courier = call.console.courier
    do {
      let content = courier.test(language: language, now: call.now)
      let answer = try await courier.send(content, over: channel, to: secrets, mail: mail)
      return TestAnswer(isTaken: true, answer: answer)
    } catch let error as MailError {
      return TestAnswer(isTaken: false, answer: error.description)
    }
  }
}

struct ReceiverAnswer: JSONObject, Sendable {
  private let receiver: Receiver
  private let app: String?

  /// - Parameter apps: bundle IDs by app ID.
  init(_ receiver: Receiver, _ apps: [Int64: String]) {
    self.receiver = receiver
    app = receiver.details.appID.flatMap { apps[$0] }
  }

  static func all(_ database: Database) throws -> [ReceiverAnswer] {
    let apps = try App.bundleIDs(database)
    return try Receiver.all(database).map { ReceiverAnswer($0, apps) }
  }

  func writeMembers(to json: inout JSONWriter) {
    let details = receiver.details
    json.member("id", receiver.id)
    json.member("channel", details.channel.rawValue)
    json.member("name", details.name)
    json.member("target", details.target)
    json.member("language", details.language)
    json.member("app", app)
    json.member("active", details.isActive)
    json.member("incidents", details.getsIncidents)
    json.member("created_by", receiver.createdBy)
    json.member("created_at", receiver.createdAt)
  }
}

struct TestAnswer: JSONObject {
  let isTaken: Bool
  let answer: String

  func writeMembers(to json: inout JSONWriter) {
    json.member("taken", isTaken)
    json.member("answer", answer)
  }
}
