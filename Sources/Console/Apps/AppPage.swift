import Calendar
import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/apps/:id`: one app and its credential in each environment.
enum AppPage {
  /// A rejected credential form, shown again with its errors.
  private struct Refused {
    let environment: Environment
    let provider: ProviderKind
    let form: Form
    let errors: FieldErrors
  }

  private struct Found: Sendable {
    let overview: AppOverview
    let certificates: [TrackedCertificate]
    /// Row IDs of files that send to the built-in simulator, and nowhere else.
    let simulated: Set<Int64>
    let jpushKey: JPushKey?
    let clientKeys: [ClientKey]
    let approvers: Int
  }

  private static func facts(_ page: PageContext) async throws -> Found {
    let id = try page.id()
    return try await page.store.read { database in
      guard let overview = try AppOverview.find(database, id: id) else {
        throw PageError.notFound("app", list: "/apps")
      }
      return Found(
        overview: overview, certificates: try TrackedCertificate.all(database), simulated: try simulated(database),
        jpushKey: try JPushKey.find(database, app: id), clientKeys: try ClientKey.all(database, app: id),
        approvers: try User.approvers(database).count)
    }
  }

  private static func simulated(_ database: Database) throws -> Set<Int64> {
    let used = try Credential.all(database)
    func files(_ isIncluded: (Credential) -> Bool) -> Set<Int64> {
      Set(used.filter(isIncluded).compactMap(\.certificateID))
    }
    return files { $0.place == .simulator }.subtracting(files { $0.place != .simulator })
  }

  /// - Parameter secret: a new master secret, shown only in this answer.
  static func show(_ page: PageContext, secret: String? = nil) async throws -> Response {
    show(page, try await facts(page), nil, secret: secret)
  }

  private static func show(
    _ page: PageContext, _ facts: Found, _ refused: Refused?, secret: String? = nil
  ) -> Response {
    let texts = page.texts
    let overview = facts.overview
    let counts = Environment.allCases.flatMap { environment in
      Platform.allCases.filter { overview.count(environment: environment, platform: $0) > 0 }.map {
        AppDeviceRow(
          overview: overview, environment: environment, platform: $0, environmentName: environment.word(texts),
          platformName: texts("platform.\($0.rawValue)"))
      }
    }
    let view = AppView(
      overview: overview, now: page.now,
      environments: providers.flatMap { provider in
        Environment.allCases.map { environment in
          let isRefused = refused?.environment == environment && refused?.provider == provider
          return credential(environment, provider, facts, isRefused ? refused : nil, page)
        }
      }, counts: counts, aliasRule: texts("apps.alias_rule_\(overview.app.aliasRule ?? "none")"),
      snippets: AppSnippets(app: overview.app, address: page.address),
      jpush: JPushKeyView(
        key: facts.jpushKey, secret: secret, mayChange: page.may(.admin), address: page.address, now: page.now),
      clientKeys: ClientKeysView(
        app: overview.app, keys: facts.clientKeys, mayChange: page.may(.admin), now: page.now),
      mayChange: page.may(.admin), lacksApprovers: facts.approvers < 2)
    return page.answer(view, status: refused == nil ? .ok : .unprocessableContent)
  }

  /// Fields that show an error beside themselves; other errors are shown above the form.
  private static let bindFields = ["certificate", "host", "trust", "proxy"]

  /// The services that credentials can be assigned for, in the order of the page.
  private static let providers = ProviderKind.allCases

  private static func credential(
    _ environment: Environment, _ provider: ProviderKind, _ facts: Found, _ refused: Refused?, _ page: PageContext
  ) -> AppCredentialView {
    let texts = page.texts
    let app = facts.overview.app
    let credential = facts.overview.credentials.first { $0.provider == provider && $0.environment == environment }
    let fitting = facts.certificates.filter { certificate in
      CredentialRule.problem(certificate.details, app, environment, provider) == nil
        && (!certificate.isReplaced || certificate.id == credential?.certificateID)
    }
    // The first assignment proposes the one file that can send, or the simulator if there is none.
    // A file of the demo would only be refused elsewhere.
    let usable = fitting.filter { certificate in
      guard !facts.simulated.contains(certificate.id) else { return false }
      let details = certificate.details
      let band = Expiry.band(notBefore: details.notBefore, notAfter: details.notAfter, now: page.now)
      return band != .expired && band != .notYetValid
    }
    let proposed = credential == nil && usable.count == 1 ? usable.first : nil
    let hasSimulator = page.console.simulator != nil
    let isForSimulator = credential == nil && usable.isEmpty && hasSimulator
    let endpoint =
      credential?.endpoint ?? (isForSimulator ? CredentialPlace.simulatorWord : provider.serviceWord)
    let known = [provider.serviceWord, CredentialPlace.simulatorWord].contains(endpoint)
    // What is sent to a simulator that does not run fails.
    let offersSimulator = hasSimulator || endpoint == CredentialPlace.simulatorWord
    let places = [provider.serviceWord] + (offersSimulator ? [CredentialPlace.simulatorWord] : [])
    let none = endpoint == CredentialPlace.simulatorWord ? "apps.certificate_none" : "apps.certificate_choose"
    let active = facts.overview.count(environment: environment, provider: provider, state: .active)
    // The texts of APNs have no suffix.
    let suffix = provider == .apns ? "" : "_\(provider.rawValue)"
    return AppCredentialView(
      environment: environment, provider: provider, name: environment.word(texts),
      reach: facts.overview.reachName(provider, environment),
      bound: credential.map { bound($0, page) }, active: active,
      // Without a file and a simulator there is nothing to assign.
      isAssignable: refused != nil || credential != nil || !fitting.isEmpty || hasSimulator,
      isOpen: refused != nil || (credential == nil && (proposed != nil || active > 0)),
      bindFirst: texts("apps.bind_first\(suffix)"), certificateLabel: texts("apps.certificate\(suffix)"),
      certificateHint: texts("apps.certificate_hint\(suffix)"),
      problem: refused.map { $0.errors.others(bindFields) ?? texts("apps.nothing_bound") },
      errors: refused?.errors ?? FieldErrors(),
      certificates: ChoiceView.list(
        [("", texts(none))]
          + fitting.map { (String($0.id), $0.label(among: fitting, texts, now: page.now)) },
        chosen: refused?.form["certificate"] ?? (credential?.certificateID ?? proposed?.id).map(String.init) ?? ""),
      endpoints: ChoiceView.list(
        (places + ["host"]).map { ($0, texts("apps.endpoint_\($0)")) },
        chosen: refused?.form["endpoint"] ?? (known ? endpoint : "host")),
      host: refused?.form["host"] ?? (known ? "" : endpoint),
      trust: refused?.form.raw("trust") ?? credential?.trustPEM ?? "",
      // A refused URL is not shown again: it may hold a password.
      proxy: refused == nil ? credential?.proxy?.text ?? "" : "")
  }

  private static func bound(_ credential: Credential, _ page: PageContext) -> BoundCredentialView {
    let texts = page.texts
    let state = CredentialState(credential, now: page.now)
    var suffix = ""
    if credential.health != .unused {
      let service = credential.provider == .apns ? "" : "_\(credential.provider.serviceWord)"
      suffix = credential.place == .simulator ? "_simulator" : service
    }
    let health = page.console.engine.health(credential: credential.id)
    var validity: String?
    if credential.certificateID != nil {
      validity = state.band == .notYetValid ? texts("band.\(state.band.rawValue)") : texts.daysLeft(state.days)
    }
    return BoundCredentialView(
      credential: credential, state: state, name: credential.certificateName ?? texts("apps.certificate_none"),
      validity: validity, health: texts("apps.\(credential.health.rawValue)\(suffix)"),
      circuit: health.map { HealthWords(health: $0, texts: texts).text } ?? "",
      address: texts.known("apps.endpoint_\(credential.endpoint)") ?? credential.endpoint,
      isBlocked: health?.blockedSince != nil, now: page.now)
  }

  // MARK: Assigning a credential

  private static func environment(_ page: PageContext) throws -> Environment {
    guard let environment = page.request.parameters["environment"].flatMap(Environment.init(rawValue:)) else {
      throw PageError(.notFound, "not_found")
    }
    return environment
  }

  private static func provider(_ page: PageContext) -> ProviderKind {
    providers.first { $0.rawValue == page.form["provider"] } ?? .apns
  }

  static func bind(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let (environment, provider) = (try environment(page), provider(page))
    let app = facts.overview.app
    var errors = FieldErrors()
    let certificate = Int64(page.form["certificate"])
    let endpoint = page.form["endpoint"] == "host" ? page.form["host"] : page.form["endpoint"]
    for problem in CredentialRule.problems(
      app, environment, provider, certificate: facts.certificates.first { $0.id == certificate }, endpoint: endpoint)
    {
      errors.add(problem.field == "endpoint" ? "host" : problem.field, page.texts.text(problem))
    }
    var trust: String?
    do {
      // Host and trust apply only if a host is given.
      trust = try CredentialRule.trust(
        page.form["endpoint"] == "host" ? page.form.raw("trust") : "", endpoint: endpoint, provider)
    } catch {
      for problem in error.all { errors.add(problem.field, page.texts.text(problem)) }
    }
    let authorities = trust
    let before = facts.overview.credentials.first { $0.provider == provider && $0.environment == environment }
    var proxy: CredentialProxy?
    do {
      proxy = try CredentialRule.proxy(page.form["proxy"], before: before?.proxy)
    } catch {
      for problem in error.all { errors.add(problem.field, page.texts.text(problem)) }
    }
    let ownProxy = proxy
    var attempt: CredentialAttempt?
    if errors.isEmpty {
      let wanted = Credential(
        app: app.id, provider: provider, environment: environment, certificate: certificate, endpoint: endpoint,
        trustPEM: authorities, proxy: ownProxy)
      attempt = try await CredentialAttempt.binding(
        wanted, app, store: page.store, attempt: page.console.engine.attempt)
      if let problem = attempt?.refusal { errors.add(problem.field, page.texts.text(problem)) }
    }
    guard errors.isEmpty else {
      return show(page, facts, Refused(environment: environment, provider: provider, form: page.form, errors: errors))
    }
    let sealer = page.store.sealer
    try await page.store.write { database in
      let before = try Credential.find(database, app: app.id, provider: provider, environment: environment)
      let bound = try Credential.bind(
        database, app: app.id, provider: provider, environment: environment, certificate: certificate,
        endpoint: endpoint, trustPEM: authorities, now: page.now)
      try CredentialProxy.set(database, credential: bound.id, ownProxy, sealer: sealer, now: page.now)
      let after = try Credential.find(database, id: bound.id)
      try page.record(database, page.audit("credential.bind", "app \(app.bundleID)").changing(before, to: after))
    }
    let isUntried = attempt?.isUndecided == true
    return page.redirect(to: "/apps/\(app.id)", flash: isUntried ? "credential_bound_untried" : "credential_bound")
  }

  static func unbind(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let (environment, provider) = (try environment(page), provider(page))
    let app = facts.overview.app
    try await page.store.write { database in
      guard
        let credential = try Credential.find(database, app: app.id, provider: provider, environment: environment)
      else { return }
      try Credential.unbind(database, id: credential.id)
      try page.record(database, page.audit("credential.unbind", "app \(app.bundleID)").changing(credential, to: nil))
    }
    return page.redirect(to: "/apps/\(app.id)", flash: "credential_unbound")
  }
}

extension TrackedCertificate {
  /// The label in the certificate menu.
  ///
  /// - Parameter others: the files of the menu.
  fileprivate func label(among others: [TrackedCertificate], _ texts: Texts, now: Date) -> String {
    let left = texts.daysLeft(Expiry.daysLeft(notAfter: details.notAfter, now: now))
    return texts.noted(details.name, texts.clauses([left, mark(among: others, texts)].compactMap { $0 }))
  }
}

extension Form {
  /// The field's text, or nil if it is empty.
  func filled(_ name: String) -> String? { self[name].isEmpty ? nil : self[name] }
}
