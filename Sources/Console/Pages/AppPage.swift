import Certificates
import Delivery
import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// `/apps/:id`: one app, with what it sends by in each environment.
enum AppPage {
  /// A form to bind a credential that was refused.
  private struct Refused {
    let environment: Environment
    let form: Form
    let errors: FieldErrors
  }

  private struct Facts: Sendable {
    let overview: AppOverview
    let certificates: [TrackedCertificate]
  }

  private static func facts(_ page: PageContext) async throws -> Facts {
    let id = try page.id()
    return try await page.store.read { database in
      guard let overview = try AppOverview.find(database, id: id) else {
        throw PageError.notFound("app", list: "/apps")
      }
      return Facts(overview: overview, certificates: try TrackedCertificate.all(database))
    }
  }

  static func show(_ page: PageContext) async throws -> Response { try show(page, try await facts(page), nil) }

  private static func show(_ page: PageContext, _ facts: Facts, _ refused: Refused?) throws -> Response {
    let texts = page.texts
    let app = facts.overview.app
    let counts = Environment.allCases.flatMap { environment in Platform.allCases.map { (environment, $0) } }
      .filter { facts.overview.count(environment: $0, platform: $1) > 0 }
    let about = [
      ("bundle_id", app.bundleID), ("package_name", app.packageName ?? ""),
      ("alias_rule", texts("apps.alias_rule_\(app.aliasRule ?? "none")")),
    ]
    let added: Value = [
      "label": .string(texts("facts.added")), "value": .string(app.createdAt.utcText),
      "datetime": .string(Timestamp.text(app.createdAt)),
    ]
    return try page.page(
      "apps/show", .apps,
      [
        "id": .integer(app.id), "title": .string(app.name), "bundle_id": .string(app.bundleID),
        "environments": .list(
          Environment.allCases.map { environment($0, facts, refused?.environment == $0 ? refused : nil, page) }),
        "devices_href": .string("/devices?app=\(app.bundleID)"), "any_devices": .bool(!counts.isEmpty),
        "counts": .list(
          counts.map { environment, platform in
            func number(_ state: DeviceState) -> Value {
              .string(facts.overview.count(environment: environment, platform: platform, state: state).grouped)
            }
            return [
              "environment": .string(environment.word(texts)),
              "platform": .string(texts("platform.\(platform.rawValue)")), "active": number(.active),
              "quarantined": number(.quarantined), "dead": number(.dead),
              "href": .string(
                "/devices?app=\(app.bundleID)&environment=\(environment.rawValue)&platform=\(platform.rawValue)"),
            ]
          }),
        "facts": .list(
          about.filter { !$1.isEmpty }.map {
            [
              "label": .string(texts("facts.\($0)")), "value": .string($1), "datetime": "",
            ]
          } + [added]),
        "snippets": AppSnippets(app: app, address: page.address).value(texts),
      ], status: refused == nil ? .ok : .unprocessableContent)
  }

  /// Fields of the form that have an error of their own.
  private static let bindFields = ["certificate", "host", "trust"]

  private static func environment(
    _ environment: Environment, _ facts: Facts, _ refused: Refused?, _ page: PageContext
  ) -> Value {
    let texts = page.texts
    let app = facts.overview.app
    let credential = facts.overview.credentials.first { $0.provider == .apns && $0.environment == environment }
    let active = facts.overview.count(environment: environment, platform: .ios, state: .active)
    let fitting = facts.certificates.filter { CredentialRule.problem($0.details, app, environment) == nil }
    let endpoint = credential?.endpoint ?? "apple"
    let known = ["apple", "simulator"].contains(endpoint)
    let chosen = refused?.form["endpoint"] ?? (known ? endpoint : "host")
    return [
      "value": .string(environment.rawValue), "environment": .string(environment.word(texts)),
      "production": .bool(environment == .production),
      "problem": .string(
        refused.map { $0.errors.others(bindFields) ?? texts("apps.nothing_bound") } ?? ""),
      "open": .bool(refused != nil || credential == nil),
      "bind_label": .string(texts(credential == nil ? "apps.bind_first" : "apps.bind_other")),
      "certificates": .options(
        [("", texts("apps.certificate_none"))] + fitting.map { (String($0.id), $0.label(texts, now: page.now)) },
        selected: refused?.form["certificate"] ?? credential?.certificateID.map(String.init) ?? ""),
      "endpoints": .choices(
        ["apple", "simulator", "host"].map { ($0, texts("apps.endpoint_\($0)")) }, checked: [chosen]),
      "form": [
        "host": .string(refused?.form["host"] ?? (known ? "" : endpoint)),
        "trust": .string(refused?.form.raw("trust") ?? credential?.trustPEM ?? ""),
      ],
      "trust_open": .bool(credential?.trustPEM != nil || refused?.form.filled("trust") != nil),
      "errors": (refused?.errors ?? FieldErrors()).value(bindFields),
      "unbound_text": .string(texts("apps.unbound_text", count: active)),
      "bound": credential.map { bound($0, active: active, page) } ?? false,
    ]
  }

  private static func bound(_ credential: Credential, active: Int, _ page: PageContext) -> Value {
    let texts = page.texts
    let state = CredentialState(credential, now: page.now)
    let suffix = credential.endpoint == "simulator" && credential.health != .unused ? "_simulator" : ""
    return [
      "href": .string(credential.certificateID.map { "/certificates/\($0)" } ?? "/certificates"),
      "name": .string(credential.certificateName ?? texts("apps.certificate_none")),
      "band": .string(state.band.rawValue), "band_text": .string(texts("band.\(state.band.rawValue)")),
      "expiry": .string(credential.certificateNotAfter == nil ? "" : texts.daysLeft(state.days)),
      "health": .string(credential.health.rawValue),
      "health_text": .string(texts("apps.\(credential.health.rawValue)\(suffix)")),
      "refusal": .string(credential.health == .refused ? credential.lastRefusal ?? "" : ""),
      "circuit": .string(
        page.console.engine.health(credential: credential.id).map { HealthWords(health: $0, texts: texts).text } ?? ""),
      "last_accepted": .string(texts.ago(credential.lastAcceptedAt, now: page.now)),
      "endpoint": .string(credential.endpoint),
      "own_trust": .string(credential.trustPEM == nil ? "" : texts("apps.own_trust")),
      "unbind_means": .string(texts("apps.unbind_means", count: active)),
    ]
  }

  // MARK: Binding

  private static func environment(_ page: PageContext) throws -> Environment {
    guard let environment = page.request.parameters["environment"].flatMap(Environment.init(rawValue:)) else {
      throw PageError(.notFound, "not_found")
    }
    return environment
  }

  static func bind(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let environment = try environment(page)
    let app = facts.overview.app
    var errors = FieldErrors()
    let certificate = Int64(page.form["certificate"])
    let endpoint = page.form["endpoint"] == "host" ? page.form["host"] : page.form["endpoint"]
    for problem in CredentialRule.problems(
      app, environment, certificate: facts.certificates.first { $0.id == certificate }, endpoint: endpoint)
    {
      errors.add(problem.field == "endpoint" ? "host" : problem.field, page.texts.text(problem))
    }
    var trust: String?
    do {
      // Of a host that is not chosen nothing counts.
      trust = try CredentialRule.trust(
        page.form["endpoint"] == "host" ? page.form.raw("trust") : "", endpoint: endpoint)
    } catch {
      for problem in error.all { errors.add(problem.field, page.texts.text(problem)) }
    }
    guard errors.isEmpty else {
      return try show(page, facts, Refused(environment: environment, form: page.form, errors: errors))
    }
    let authorities = trust
    let now = page.now
    let audit = page.audit(
      "credential.bind", "app \(app.bundleID)",
      [
        "environment": .string(environment.rawValue), "endpoint": .string(endpoint), "trust": .optional(authorities),
      ])
    try await page.store.write { database in
      try Credential.bind(
        database, app: app.id, provider: .apns, environment: environment, certificate: certificate,
        endpoint: endpoint, trustPEM: authorities, now: now)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/apps/\(app.id)", flash: "credential_bound")
  }

  static func unbind(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let environment = try environment(page)
    let app = facts.overview.app
    let now = page.now
    let audit = page.audit(
      "credential.unbind", "app \(app.bundleID)", ["environment": .string(environment.rawValue)])
    try await page.store.write { database in
      guard
        let credential = try Credential.find(database, app: app.id, provider: .apns, environment: environment)
      else { return }
      try Credential.unbind(database, id: credential.id)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/apps/\(app.id)", flash: "credential_unbound")
  }
}

/// Commands that run as they stand.
struct AppSnippets {
  let app: App
  let address: String

  func value(_ texts: Texts) -> Value {
    let header = "--header \"Authorization: Bearer $SIGNALBOX_TOKEN\" \\\n  --header 'Content-Type: application/json'"
    func command(_ method: String, _ path: String, _ json: JSONValue) -> String {
      "curl --request \(method) \(header) \\\n  --data-raw '\(json.text())' \\\n  '\(address)\(path)'"
    }
    let device: JSONValue = [
      "app": .string(app.bundleID), "environment": "development", "platform": "ios",
      "token": .string("<device token>"), "alias": "usr_1", "tags": ["beta"],
    ]
    let audience: JSONValue = ["tag": ["beta"]]
    let push: JSONValue = [
      "app": .string(app.bundleID), "environment": "development", "audience": audience,
      "notification": ["title": "Hello", "body": "From the API"],
    ]
    let count: JSONValue = ["app": .string(app.bundleID), "environment": "development", "audience": audience]
    return [
      [
        "anchor": "snippet-register", "label": .string(texts("apps.snippet_register")),
        "text": .string(command("PUT", "/api/v1/devices", device)),
      ],
      [
        "anchor": "snippet-send", "label": .string(texts("apps.snippet_send")),
        "text": .string(command("POST", "/api/v1/pushes", push)),
      ],
      [
        "anchor": "snippet-count", "label": .string(texts("apps.snippet_count")),
        "text": .string(command("POST", "/api/v1/audience/count", count)),
      ],
    ]
  }
}

extension TrackedCertificate {
  /// As it stands in a list to choose from.
  func label(_ texts: Texts, now: Date) -> String {
    "\(details.name) (\(texts.daysLeft(Expiry.daysLeft(notAfter: details.notAfter, now: now))))"
  }
}

extension Form {
  /// A field, nil if it is empty.
  func filled(_ name: String) -> String? { self[name].isEmpty ? nil : self[name] }
}
