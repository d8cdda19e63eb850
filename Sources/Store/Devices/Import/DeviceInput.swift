package import JSON
package import Model

/// A device in the body of `PUT /api/v1/devices`, or in a line of an import.
package struct DeviceInput: Sendable, Hashable {
  /// Bundle ID.
  package var app: String
  package var registration: Registration
  package init(app: String, registration: Registration) { (self.app, self.registration) = (app, registration) }

  /// Tags of one device (OpenAPI document).
  static let tagLimit = 1000
  /// Characters of a token as text.
  static let tokenLimit = 4096

  /// Reads the body of `PUT /api/v1/devices`. `null` removes alias, registration ID, name, and details; absent members stay
  /// unchanged.
  ///
  /// - Throws: all problems in the order of the fields; unknown fields too. The app's own name rule is checked by
  /// ``problems(rule:)``, because the app is not known yet.
  package init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    let input = Self.read(fields, json)
    try fields.finish()
    // Nil only with a reported problem, so that finish() has thrown.
    guard let input else { throw Problems([Problem("", FieldMessage.required)]) }
    self = input
  }

  static func read(_ fields: JSONFields, _ json: JSONValue) -> DeviceInput? {
    let app = fields.string(
      "app", required: true, limit: .characters(AppName.bundleIDLimit), check: AppName.problem(withBundleID:))
    let environment = fields.choice("environment", required: true, as: Environment.self)
    let platform = fields.choice("platform", required: true, as: Platform.self)
    var provider = Self.provider(fields, platform)
    let isJPush = provider == .jpush
    var token: DeviceToken?
    // The token of JPush is the registration ID: either field is enough.
    let isByID = isJPush && fields.value("token") == nil && fields.value("registration_id") != nil
    let field = isByID ? "registration_id" : "token"
    if let text = fields.string(field, required: true, limit: .characters(tokenLimit), lines: true), let platform {
      do throws(Problem) {
        let read = try DeviceToken.reading(text, platform: platform, provider: provider)
        token = read.token
        if read.provider != platform.ownProvider { provider = read.provider }
      } catch {
        fields.report(field, error)
      }
    }
    let alias = fields.change("alias", json, limit: .characters(AliasRule.none.limit)) {
      AliasRule.none.problem(with: $0)
    }
    let hasTags = fields.value("tags") != nil
    let tags = fields.strings("tags", atMost: tagLimit) { TagRule.problem(with: $0, rule: .none) }
    var registrationID: Change<String?> = .keep
    if !isByID {
      registrationID = fields.change("registration_id", json, limit: .characters(RegistrationID.limit)) {
        RegistrationID.problem(with: $0)
      }
    }
    let name = fields.change("name", json, limit: .characters(AppName.nameLimit)) {
      AppName.problem(withName: $0)
    }
    let details = DeviceDetails.Changes(fields, json)
    if isJPush, let token {
      if case .set(let id) = registrationID, id != token.text {
        fields.report("registration_id", Problem("", ImportMessage.otherRegistrationID))
      }
      registrationID = .set(token.text)
    }
    guard let app, let environment, let platform, let token else { return nil }
    var registration = Registration(token: token, environment: environment, platform: platform)
    registration.provider = provider
    registration.alias = alias
    if hasTags { registration.tags = .set(tags) }
    registration.registrationID = registrationID
    registration.name = name
    registration.details = details
    return DeviceInput(app: app, registration: registration)
  }

  /// Nil: the platform's own.
  private static func provider(_ fields: JSONFields, _ platform: Platform?) -> ProviderKind? {
    guard let provider = fields.choice("provider", as: ProviderKind.self), let platform else { return nil }
    if !platform.providers.contains(provider) {
      fields.report(
        "provider",
        Problem(
          "", ImportMessage.provider,
          ["platform": platform.name, "choices": platform.providers.map(\.rawValue).joined(separator: ", ")]))
    }
    return provider
  }

  /// Checks alias and tags by an app's name rule.
  package func problems(rule: AliasRule) -> [Problem] {
    var problems: [Problem] = []
    if case .set(let alias?) = registration.alias, let problem = rule.problem(with: alias) {
      problems.append(problem.under("alias"))
    }
    if case .set(let tags) = registration.tags {
      problems += TagRule.problems(with: tags, rule: rule).map { $0.under("tags") }
    }
    return problems
  }
}

extension JSONFields {
  /// A text in place of the stored one; `null` removes that.
  func change(
    _ name: String, _ json: JSONValue, limit: TextLimit, check: (String) -> Problem? = { _ in nil }
  ) -> Change<String?> {
    if let text = string(name, limit: limit, check: check) { return .set(text) }
    return json[name] == .null ? .set(nil) : .keep
  }
}
