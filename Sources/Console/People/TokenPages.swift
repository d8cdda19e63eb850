import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store

/// `/settings/tokens`: the tokens of the API.
enum TokenPages {
  static let views: [any PageView.Type] = [TokenListView.self]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/tokens", role: .admin) { page in try await show(page) }
    export.add(to: &routes)
    routes.page(.post, "/settings/tokens", role: .admin, proof: true, create)
    routes.page(.post, "/settings/tokens/:id/revoke", role: .admin, proof: true) { page in
      let (id, now) = (try page.id(), page.now)
      let audit = page.audit("token.revoke", "")
      _ = try await page.store.write { try APIToken.get($0, id: id).revoke($0, audit, now: now) }
      return page.redirect(to: "/settings/tokens", flash: "token_revoked")
    }
  }

  private static let export = ListExportRoutes<TokenAnswer>(
    path: "/settings/tokens", action: "token.export",
    columns: [
      "id", "name", "scopes", "apps", "addresses", "state", "created_at", "last_used_at", "expires_at", "revoked_at",
    ], role: .admin
  ) { page in
    let now = page.now
    return { database, _, _ in Page(items: try TokenAnswer.all(database, now: now), next: nil) }
  }

  private static let lifetimes = [30, 90, 365]

  private static func show(
    _ page: PageContext, _ errors: FieldErrors = FieldErrors(), new: NewTokenView? = nil
  ) async throws -> Response {
    let (tokens, apps) = try await page.store.read { (try APIToken.all($0), try App.all($0)) }
    let bundleIDs = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
    // After a token was created, the form is empty again.
    let (form, texts) = (new == nil ? page.form : Form(), page.texts)
    let chosen = form.has("expires") ? form["expires"] : "\(APIToken.usualDays)d"
    let expiries =
      lifetimes.map { ("\($0)d", texts("account.days", ["count": "\($0)"])) } + [("never", texts("account.for_ever"))]
    let view = TokenListView(
      new: new, exports: tokens.isEmpty ? nil : ExportLinks(page, "/settings/tokens"),
      tokens: tokens.map { TokenRow(token: $0, apps: $0.bundleIDs(bundleIDs), texts: texts, now: page.now) },
      name: FieldView(value: form.raw("name"), error: errors["name"]),
      expires: FieldView(error: errors["expires"], choices: ChoiceView.list(expiries, chosen: chosen)),
      scopes: FieldView(
        error: errors["scopes"],
        choices: TokenScope.allCases.map {
          ChoiceView(
            value: $0.rawValue, label: texts("tokens.scopes.\($0.rawValue)"),
            isSelected: form.all("scopes").contains($0.rawValue))
        }),
      reach: FieldView(
        choices: ChoiceView.list(
          ["all", "some"].map { ($0, texts("tokens.reach.\($0)")) },
          chosen: form["reach"].isEmpty ? "all" : form["reach"])),
      apps: FieldView(
        error: errors["apps"],
        choices: apps.map {
          ChoiceView(value: $0.bundleID, label: $0.name, isSelected: form.all("apps").contains($0.bundleID))
        }),
      addresses: FieldView(value: form.raw("addresses"), error: errors["addresses"]))
    return page.answer(view, status: errors.status)
  }

  private static func create(_ page: PageContext) async throws -> Response {
    var typed = TokenForm()
    typed.name = page.form["name"]
    typed.words = page.form.all("scopes")
    typed.apps = page.form["reach"] == "some" ? page.form.all("apps") : nil
    typed.addresses = page.form.words("addresses")
    var problems: [Problem] = []
    do throws(Problem) { typed.days = try TokenForm.days(page.form["expires"]) } catch { problems.append(error) }
    problems += typed.problems
    guard problems.isEmpty else { return try await show(page, FieldErrors(Problems(problems), page.texts)) }
    let form = typed
    let secret: String
    do {
      secret = try await page.store.write {
        try form.add($0, user: page.user?.id, audit: page.entry, now: page.now).secret
      }
    } catch let problems as Problems {
      return try await show(page, FieldErrors(problems, page.texts))
    }
    return try page.shown(at: "/settings/tokens", for: ShownPage.secretLifetime) { page in
      let bundleIDs = try await page.store.read { try App.all($0).map(\.bundleID) }
      let app = form.apps?.first ?? bundleIDs.first
      return try await show(
        page, new: NewTokenView(name: form.name, value: secret, words: form.words, app: app, address: page.address))
    }
  }
}

struct TokenListView: PageView {
  static let template = "people/tokens"
  static let section: Section? = .settings

  /// The token that was just created.
  let new: NewTokenView?
  /// Nil: there are no tokens.
  let exports: ExportLinks?
  let tokens: [TokenRow]
  let name: FieldView
  let expires: FieldView
  let scopes: FieldView
  let reach: FieldView
  let apps: FieldView
  let addresses: FieldView

  static let fields: [Field<Self>] = [
    .view("new_token") { $0.new },
    .view("exports") { $0.exports },
    .flag("has_tokens") { !$0.tokens.isEmpty },
    .list("tokens") { $0.tokens },
    .view("name") { $0.name },
    .view("expires") { $0.expires },
    .view("scopes") { $0.scopes },
    .view("reach") { $0.reach },
    .flag("any_apps") { !$0.apps.choices.isEmpty },
    .view("apps") { $0.apps },
    .view("addresses") { $0.addresses },
  ]
}

/// A new token, shown only once.
struct NewTokenView: View {
  let name: String
  let value: String
  /// Its role or scopes.
  let words: [String]
  /// The bundle ID of an app that it may be used for; nil: there is none.
  let app: String?
  /// The console's public address.
  let address: String

  static let fields: [Field<Self>] = [
    .text("name") { $0.name },
    .text("value") { $0.value },
    .optional("curl") { $0.curl },
  ]

  /// A call that this very token may make and that changes nothing; nil: all that it may do changes something.
  private var curl: String? {
    let start = "curl --header 'Authorization: Bearer \(value)'"
    let scopes = words.compactMap(TokenScope.init)
    if scopes.count < words.count || scopes.contains(.read) || scopes.contains(.admin) {
      return "\(start) '\(address)/api/v1/apps'"
    }
    guard let app, let environment = Environment.allCases.first(where: { scopes.contains(.send($0)) }) else {
      return nil
    }
    let push: JSONValue = [
      "app": .string(app), "environment": .string(environment.rawValue), "audience": "all",
      "notification": ["body": "Hello"], "options": ["dry_run": true, "allow_empty_audience": true],
    ]
    return "\(start) --json '\(push.text())' '\(address)/api/v1/pushes'"
  }
}

struct TokenRow: View {
  let token: APIToken
  /// Bundle IDs; nil: all.
  let apps: [String]?
  let texts: Texts
  let now: Date

  private var state: APIToken.State { token.state(now) }

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.token.id)) },
    .text("name") { $0.token.name },
    .list("scopes") { row in row.token.words.map { row.texts.known("roles.\($0)") ?? $0 } },
    .optional("apps") { row in
      row.apps.map { $0.isEmpty ? row.texts("tokens.no_apps_left") : row.texts.list($0) }
    },
    .optional("addresses") { $0.token.addresses.isEmpty ? nil : $0.texts.list($0.token.addresses) },
    .view("created") { MomentView(date: $0.token.createdAt) },
    .view("last_used") { row in row.token.lastUsedAt.map { MomentView(date: $0, now: row.now) } },
    .view("expires") { $0.token.expiresAt.map { MomentView(date: $0) } },
    .text("state") { $0.texts("tokens.states.\($0.state.rawValue)") },
    .flag("good") { $0.state == .active },
  ]
}
