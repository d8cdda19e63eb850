import HTTPServer
import Model
import Mustache
import SQLite
import Store

/// `/settings/people`: who may sign in, and with which role.
enum PeoplePages {
  static let views: [any PageView.Type] = [PeopleView.self, PersonView.self, PersonRemoveView.self]

  private static let list = "/settings/people"
  /// The path below a person's page, what it does, and the message that follows.
  private static let changes: [(path: String, change: PersonChange, flash: String)] = [
    (path: "disable", change: .disable, flash: "person_disabled"),
    (path: "enable", change: .enable, flash: "person_enabled"),
    (path: "production/allow", change: .production(true), flash: "person_production"),
    (path: "production/forbid", change: .production(false), flash: "person_production"),
    (path: "sessions/end", change: .endSessions, flash: "person_signed_out"),
    (path: "second-step/reset", change: .resetSecondStep, flash: "person_reset"),
    (path: "unlink", change: .unlink, flash: "person_unlinked"),
  ]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/people", role: .admin) { page in try await showAll(page) }
    routes.page(.post, "/settings/people", role: .admin, proof: true, invite)
    export.add(to: &routes)
    SecondStepRoutes.add(to: &routes)
    routes.page(.get, "/settings/people/:id", role: .admin) { page in try await show(page, try page.id()) }
    routes.page(.post, "/settings/people/:id", role: .admin, proof: true) { page in
      guard let role = User.Role(rawValue: page.form["role"]) else { throw PageError(.badRequest, "refused") }
      // Whoever is an admin no longer may not open the person's page.
      let leaves = try role != .admin && page.id() == page.user?.id
      return try await apply(.role(role), page, flash: "person_saved", to: leaves ? "/" : nil)
    }
    for (path, change, flash) in changes {
      routes.page(.post, "/settings/people/:id/\(path)", role: .admin, proof: true) { page in
        try await apply(change, page, flash: flash)
      }
    }
    routes.page(.post, "/settings/people/:id/link", role: .admin, proof: true) { page in
      let id = try page.id()
      return try await refusing(page, id) {
        let token = try await page.store.write { try Person.get($0, id: id).link($0, audit: page.entry, now: page.now) }
        return try showing(page, id, token: token)
      }
    }
    routes.page(.get, "/settings/people/:id/remove", role: .admin) { page in
      let id = try page.id()
      let user = try await page.store.read { try User.get($0, id: id) }
      return page.answer(PersonRemoveView(name: user.name, href: "\(list)/\(id)"))
    }
    routes.page(.post, "/settings/people/:id/remove", role: .admin, proof: true) { page in
      try await apply(.delete, page, flash: "person_removed", to: list)
    }
  }

  private static let export = ListExportRoutes<Person>(
    path: list, action: "user.export",
    columns: [
      "id", "name", "role", "sends_to_production", "state", "authenticator", "passkeys", "linked", "created_at",
      "last_sign_in_at", "disabled_at",
    ], role: .admin
  ) { _ in { database, _, _ in Page(items: try Person.all(database), next: nil) } }

  private static func showAll(_ page: PageContext, _ errors: FieldErrors = FieldErrors()) async throws -> Response {
    let (people, rule, provider) = try await page.store.read { database in
      (try Person.all(database), try SecondStepRule.find(database), try OIDCSettings.load(database))
    }
    let (texts, form) = (page.texts, page.form)
    let chosen = form.has("role") ? form["role"] : User.Role.operator.rawValue
    return page.answer(
      PeopleView(
        people: people.map { PersonRow(person: $0, texts: texts, isOwn: $0.id == page.user?.id, now: page.now) },
        rule: rule, exports: ExportLinks(page, list), hasProvider: provider != nil, texts: texts,
        name: FieldView(value: form.raw("name"), error: errors["name"]),
        role: FieldView(error: errors["role"], choices: ChoiceView.roles(texts, chosen: chosen))),
      status: errors.status)
  }

  /// Shows a link that was just made.
  private static func showing(_ page: PageContext, _ id: Int64, token: String) throws -> Response {
    try page.shown(at: "\(list)/\(id)", for: ShownPage.secretLifetime) { page in
      try await show(page, id, token: token)
    }
  }

  private static func invite(_ page: PageContext) async throws -> Response {
    do {
      guard let role = User.Role(rawValue: page.form["role"]) else {
        throw Problems([Problem("role", FieldMessage.required)])
      }
      let (person, token) = try await page.store.write { database in
        try Person.invite(database, name: page.form["name"], role: role, audit: page.entry, now: page.now)
      }
      return try showing(page, person.id, token: token)
    } catch let problems as Problems {
      return try await showAll(page, FieldErrors(problems, page.texts))
    }
  }

  /// - Parameters:
  ///   - token: of a link that was just made.
  ///   - problem: why a change was refused.
  private static func show(
    _ page: PageContext, _ id: Int64, token: String? = nil, problem: String? = nil
  ) async throws -> Response {
    let (person, sessions, identities) = try await page.store.read { database in
      (try Person.get(database, id: id), try Session.all(database, user: id), try Identity.all(database, user: id))
    }
    let (user, texts) = (person.user, page.texts)
    let facts =
      [
        FactView(texts("people.added"), at: user.createdAt),
        user.signedInAt == nil
          ? FactView(texts("people.last_sign_in"), texts("time.never"))
          : FactView(texts("people.last_sign_in"), at: user.signedInAt),
        FactView(texts("people.second_step"), person.words(texts)),
      ] + identities.map { FactView(texts("people.provider"), $0.issuer, isMono: true) }
    let isOwn = user.id == page.user?.id
    return page.answer(
      PersonView(
        person: person, texts: texts, isOwn: isOwn, problem: problem,
        link: token.map { SetupLink.url($0, at: page.address) },
        facts: facts.compactMap { $0 }, roles: ChoiceView.roles(texts, chosen: user.role.rawValue),
        sessions: sessions.map { session in
          SessionRow(session: session, texts: texts, isOwn: session.idHash == page.session?.idHash, now: page.now)
        }), status: problem == nil ? .ok : .unprocessableContent)
  }

  private static func apply(
    _ change: PersonChange, _ page: PageContext, flash: String, to path: String? = nil
  ) async throws -> Response {
    let (id, own) = (try page.id(), page.user?.id)
    return try await refusing(page, id) {
      try await page.store.write { try change.apply($0, to: id, by: own, audit: page.entry, now: page.now) }
      return page.redirect(to: path ?? "\(list)/\(id)", flash: flash)
    }
  }

  /// Shows the person's page with the reason if a rule refuses the change.
  private static func refusing(
    _ page: PageContext, _ id: Int64, _ change: () async throws -> Response
  ) async throws -> Response {
    do {
      return try await change()
    } catch let problems as Problems {
      return try await show(page, id, problem: problems.all.map(page.texts.text).sentences)
    }
  }
}
