import HTTPServer
import JSON
import Model
import Store

/// Who must sign in with a second step: the form on the page of people, and `/api/v1/settings/second-step`.
enum SecondStepRoutes {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.post, "/settings/people/second-step", role: .admin, proof: true) { page in
      guard let reach = SecondStepRule.Reach(rawValue: page.form["required"]) else {
        throw PageError(.badRequest, "refused")
      }
      let isTrusted = page.form["provider"] == "yes"
      try await page.store.write { database in
        // Without a provider, the form does not ask about it.
        let trusts = try OIDCSettings.load(database) == nil ? SecondStepRule.find(database).trustsProvider : isTrusted
        try SecondStepRule(reach: reach, trustsProvider: trusts).save(database, audit: page.entry, now: page.now)
      }
      return page.redirect(to: "/settings/people", flash: "settings_saved")
    }
  }

  static func addCalls(to routes: inout ConsoleRouter) {
    routes.call(.get, "/settings/second-step", role: .admin, scope: .admin) { call in
      answer(try await call.store.read { try SecondStepRule.find($0) })
    }
    routes.call(.put, "/settings/second-step", role: .admin, scope: .admin) { call in
      let fields = JSONFields(try await call.body())
      let reach = fields.choice("required", required: true, as: SecondStepRule.Reach.self)
      let trusts = fields.bool("provider") ?? false
      try fields.finish()
      guard let reach else { throw Problems([Problem("required", FieldMessage.required)]) }
      let rule = SecondStepRule(reach: reach, trustsProvider: trusts)
      try await call.store.write { try rule.save($0, audit: call.entry, now: call.now) }
      return answer(rule)
    }
  }

  private static func answer(_ rule: SecondStepRule) -> Response {
    APIContext.answer { json in
      json.member("required", rule.reach.rawValue)
      json.member("provider", rule.trustsProvider)
    }
  }
}
