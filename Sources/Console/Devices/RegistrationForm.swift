import Foundation
import HTTPServer
import JSON
import Model
import Store

/// The body of an app's registration, as JSON or as a form.
struct RegistrationForm {
  static let bodyLimit = 64 << 10
  private static let lists = ["tags", "tags_add", "tags_remove"]
  /// The fields of a registration that do not say which device it is.
  private static let names =
    lists + [
      "alias", "app_version", "client_key", "language", "previous_token", "registration_id", "time_zone", "user",
    ]

  let json: JSONValue

  /// - Parameter usesQuery: whether the query may have fields, too: some clients and proxies drop the body of a DELETE.
  /// - Throws: ``RegistrationRefusal``; 413.
  init(_ request: Request, usesQuery: Bool = false) async throws {
    let bytes = try await request.body.collect(upTo: Self.bodyLimit)
    let body = usesQuery && bytes.isEmpty ? [:] : try Self.body(bytes, request.mediaType)
    guard var members = body.object else { throw RegistrationRefusal(.invalid, "The body must be an object.") }
    if usesQuery {
      try members.merge(Self.json(request.queryItems).object ?? [:]) { body, query in
        guard body == query else { throw RegistrationRefusal(.invalid, "Body and query differ.") }
        return body
      }
    }
    json = .object(members)
  }

  private static func body(_ bytes: [UInt8], _ mediaType: String?) throws -> JSONValue {
    switch mediaType {
    case "application/json":
      do {
        return try JSONValue(checking: bytes)
      } catch {
        throw RegistrationRefusal(.invalid, "The body is not JSON: \(error.text)")
      }
    case "application/x-www-form-urlencoded": return try json(URLEncodedForm(bytes))
    default:
      throw RegistrationRefusal(
        .invalid, "The Content-Type must be application/json or application/x-www-form-urlencoded.",
        status: .unsupportedMediaType)
    }
  }

  /// A form's fields as members. Tags are separated by commas; an empty field is absent, except for the user, who is
  /// logged out by it.
  private static func json(_ form: URLEncodedForm) throws -> JSONValue {
    var members: [String: JSONValue] = [:]
    for pair in form.pairs {
      guard members[pair.name] == nil else {
        throw RegistrationRefusal(.invalid, "\(pair.name.prefix(60)): Must appear once.")
      }
      if lists.contains(pair.name) {
        members[pair.name] = .array(Form([(pair.name, pair.value)]).parts(pair.name).map(JSONValue.string))
      } else if !pair.value.isEmpty || ["alias", "user"].contains(pair.name) {
        members[pair.name] = .string(pair.value)
      }
    }
    return .object(members)
  }

  var clientKey: String? { json["client_key"]?.string }

  /// - Throws: ``RegistrationRefusal``.
  func registration(_ app: App) throws -> AppRegistration {
    let rule = app.rule
    for name in Self.lists where json[name]?.array?.count ?? 0 > TagRule.perDevice {
      throw RegistrationRefusal(.tooManyTags, "\(name): At most \(TagRule.perDevice) tags in one call.")
    }
    let fields = JSONFields(json)
    _ = fields.value("client_key")
    let environment = fields.choice("environment", required: true, as: Environment.self)
    let (platform, provider, token) = Self.device(fields)
    var previous: DeviceToken?
    if let platform { previous = Self.token("previous_token", fields, platform, nil, required: false)?.token }
    let alias = try alias(fields, rule)
    let tags = fields.strings("tags", atMost: TagRule.perDevice)
    let added = fields.strings("tags_add", atMost: TagRule.perDevice)
    let removed = fields.strings("tags_remove", atMost: TagRule.perDevice)
    let registrationID = fields.string("registration_id", limit: .characters(RegistrationID.limit)) {
      RegistrationID.problem(with: $0)
    }
    func detail(_ name: String) -> String? { fields.string(name, limit: .characters(DeviceDetails.limit)) }
    let details = DeviceDetails(
      appVersion: detail("app_version"), timeZone: detail("time_zone"), language: detail("language"))
    try Self.finish(fields)
    for tag in tags + added {
      guard let code = RegistrationCode(tag: tag, rule: rule) else { continue }
      throw RegistrationRefusal(code, TagRule.problem(with: tag, rule: rule)?.text ?? "")
    }
    guard let environment, let platform, let token else { throw RegistrationRefusal(.invalid, "A field is missing.") }
    var registration = Registration(token: token, environment: environment, platform: platform)
    registration.provider = provider
    registration.alias = alias
    if json["tags"]?.array != nil { registration.tags = .set(tags) }
    if let registrationID { registration.registrationID = .set(registrationID) }
    var input = AppRegistration(app: app.id, registration)
    (input.addedTags, input.removedTags, input.previousToken, input.details) = (added, removed, previous, details)
    // JPush's limit is part of its rule (docs/protocols.md §4.4).
    if rule == .jpush { input.limits.devicesPerAlias = 10 }
    return input
  }

  /// The token of a device to remove. The body may be that of the registration: only the token counts.
  ///
  /// - Throws: ``RegistrationRefusal``.
  func token() throws -> DeviceToken {
    let fields = JSONFields(json)
    for name in Self.names { _ = fields.value(name) }
    _ = fields.choice("environment", as: Environment.self)
    let (_, _, token) = Self.device(fields)
    try Self.finish(fields)
    guard let token else { throw RegistrationRefusal(.invalid, "A field is missing.") }
    return token
  }

  private static func finish(_ fields: JSONFields) throws {
    do { try fields.finish() } catch { throw RegistrationRefusal(.invalid, error.description) }
  }

  /// The services whose tokens apps upload. Which one it is shows in the token, if it is not named.
  private enum Service: String, CaseIterable {
    case apns, fcm
  }

  private static func device(_ fields: JSONFields) -> (Platform?, ProviderKind?, DeviceToken?) {
    let service = fields.choice("provider", as: Service.self).flatMap { ProviderKind(rawValue: $0.rawValue) }
    guard let platform = fields.choice("platform", required: true, as: Platform.self) else {
      _ = fields.value("token")
      return (nil, nil, nil)
    }
    if let service, !platform.providers.contains(service) {
      fields.report(
        "provider", Problem("", FieldMessage.expectedChoice, ["choices": "fcm", "value": service.rawValue]))
    }
    let read = token("token", fields, platform, service, required: true)
    return (platform, read?.provider, read?.token)
  }

  private static func token(
    _ name: String, _ fields: JSONFields, _ platform: Platform, _ provider: ProviderKind?, required: Bool
  ) -> (token: DeviceToken, provider: ProviderKind)? {
    let limit = TextLimit.characters(DeviceToken.firebaseCharacters.upperBound)
    guard let text = fields.string(name, required: required, limit: limit, lines: true) else { return nil }
    do throws(Problem) {
      return try DeviceToken.reading(text, platform: platform, provider: provider)
    } catch {
      fields.report(name, error)
      return nil
    }
  }

  /// Absent: the user stays. Empty or null: nobody.
  private func alias(_ fields: JSONFields, _ rule: AliasRule) throws -> Change<String?> {
    let given = ["alias", "user"].filter { json[$0] != nil }
    for name in ["alias", "user"] { _ = fields.value(name) }
    guard let name = given.first else { return .keep }
    guard given.count == 1 else { throw RegistrationRefusal(.invalid, "Send either alias or user.") }
    if json[name] == .null || json[name] == "" { return .set(nil) }
    guard let alias = json[name]?.string else { throw RegistrationRefusal(.invalid, "\(name): Must be a string.") }
    if let code = RegistrationCode(alias: alias, rule: rule) {
      throw RegistrationRefusal(code, rule.problem(with: alias)?.text ?? "")
    }
    return .set(alias)
  }
}

/// Why a registration is refused; the app gets the code that JPush's client library would hand to its callback.
struct RegistrationRefusal: Error {
  let code: RegistrationCode
  /// For the app's developers.
  let message: String
  let status: Status
  /// Seconds.
  var retryAfter: Int?

  init(_ code: RegistrationCode, _ message: String, status: Status? = nil, retryAfter: Int? = nil) {
    (self.code, self.message, self.retryAfter) = (code, message, retryAfter)
    self.status = status ?? code.status
  }
}

extension RegistrationCode {
  var status: Status {
    switch self {
    case .success: .ok
    case .invalidKey: .unauthorized
    case .tooOften: .tooManyRequests
    case .server, .unknown: .serviceUnavailable
    case .aliasFull: .conflict
    case .aliasCharacters, .aliasTooLong, .tagCharacters, .tagTooLong, .tooManyTags, .invalid, .deviceTags: .badRequest
    }
  }
}
