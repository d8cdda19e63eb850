import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import OpenSSL
import SQLite
import Store

/// Passkeys on the account page, and their check at sign-in and confirmation. `Public/js/passkeys.js` asks the browser.
enum PasskeyPages {
  static func add(to routes: inout ConsoleRouter) {
    // What the script asks the browser with. Nothing is stored until a challenge comes back signed.
    routes.open(.get, "/session/passkey") { page in
      APIContext.answer { json in
        json.member("challenge", page.console.tickets.make("passkey", now: page.now))
        json.member("relying_party", page.passkeys.relyingParty)
        json.member("algorithms", PasskeyCeremony.algorithms)
      }
    }
    routes.page(.post, "/account/passkeys", proof: true, register)
    routes.page(.post, "/account/passkeys/:id/remove", proof: true) { page in
      let (user, session) = try page.signedIn()
      let id = try page.id()
      try await page.store.write { database in
        guard let name = try Passkey.remove(database, id: id, user: user.id) else {
          throw StoreError.notFound(noun: "passkey", id: "\(id)")
        }
        try Session.endAll(database, user: user.id, except: session.idHash)
        try page.record(
          database, "user.remove_passkey", "user \(user.name)", ["before": ["passkey": .string(name)], "after": .null])
      }
      return page.redirect(to: "/account", flash: "passkey_removed")
    }
  }

  private static func register(_ page: PageContext) async throws -> Response {
    let (user, session) = try page.signedIn()
    let (form, texts) = (page.form, page.texts)
    let typed = form["name"]
    let browser = BrowserName.short(page.request.header("User-Agent"), between: texts("between.clauses"))
    let name = typed.isEmpty ? browser ?? texts("passkeys.usual_name") : typed
    var errors = FieldErrors()
    if let problem = AppName.problem(withName: name) { errors.add("passkey", texts.text(problem)) }
    let made: PasskeyCeremony.Registration
    do {
      made = try page.passkeys.registration(
        attestation: Base64URL.decode(form["attestation"]) ?? [],
        clientData: Base64URL.decode(form["attested_data"]) ?? [])
    } catch {
      errors.add("passkey", texts("passkeys.refused.\(error.rawValue)"))
      return try await refuse(page, errors)
    }
    guard errors.isEmpty else { return try await refuse(page, errors) }
    let isAdded = try await page.store.write { database in
      guard
        try Passkey.add(
          database, user: user.id, name: name, credential: made.credential, publicKey: Array(made.key.der),
          counter: made.counter, now: page.now)
      else { return false }
      try Session.endAll(database, user: user.id, except: session.idHash)
      try Session.note(database, idHash: session.idHash, secondStep: .own)
      try page.record(
        database, "user.add_passkey", "user \(user.name)", ["before": .null, "after": ["passkey": .string(name)]])
      return true
    }
    guard isAdded else {
      errors.add("passkey", texts("passkeys.known", ["limit": "\(Passkey.limit)"]))
      return try await refuse(page, errors)
    }
    return page.redirect(to: "/account", flash: "passkey_added")
  }

  /// Says why a passkey was not added, on the page that it was to be added on.
  private static func refuse(_ page: PageContext, _ errors: FieldErrors) async throws -> Response {
    guard page.isGated else { return try await AccountPages.show(page, errors: errors) }
    return try await SecondStepGate.show(page, returnTo: "/", errors: errors)
  }

  /// Whether the form brings a passkey.
  static func isIn(_ form: Form) -> Bool { !form["passkey"].isEmpty }

  /// The fields that the script fills.
  static let fields = ["passkey", "client_data", "authenticator_data", "signature", "user_handle"]

  /// The person whose passkey the form brings; nil if it is refused.
  static func person(_ page: PageContext) async throws -> User? {
    let form = page.form
    func bytes(_ name: String) -> [UInt8] { Base64URL.decode(form[name]) ?? [] }
    let credential = bytes("passkey")
    let found = try await page.store.read { database -> (Passkey, User)? in
      guard let passkey = try Passkey.find(database, credential: credential) else { return nil }
      return (passkey, try User.get(database, id: passkey.userID))
    }
    guard let (passkey, user) = found, user.state == .active,
      form["user_handle"].isEmpty || bytes("user_handle") == handle(user), let key = PublicKey(der: passkey.publicKey),
      let counter = try? page.passkeys.assertion(  // whatever the reason, the passkey is refused
        authenticatorData: bytes("authenticator_data"), clientData: bytes("client_data"), signature: bytes("signature"),
        key: key, counter: passkey.counter)
    else { return nil }
    let now = page.now
    return try await page.store.write { try passkey.use($0, counter: counter, now: now) } ? user : nil
  }

  /// What authenticators keep to tell accounts apart.
  static func handle(_ user: User) -> [UInt8] { withUnsafeBytes(of: user.id.bigEndian) { Array($0) } }
}

/// The passkeys on the account page.
struct PasskeysView: View {
  let user: User
  let passkeys: [Passkey]
  let error: String
  let now: Date

  static let fields: [Field<Self>] = [
    .flag("any") { !$0.passkeys.isEmpty },
    .list("passkeys") { view in view.passkeys.map { PasskeyRow(passkey: $0, now: view.now) } },
    .view("name") { FieldView(error: $0.error) },
    .text("handle") { Base64URL.encode(PasskeyPages.handle($0.user)) },
    .text("known") { $0.passkeys.map { Base64URL.encode($0.credential) }.joined(separator: " ") },
  ]
}

struct PasskeyRow: View {
  let passkey: Passkey
  let now: Date

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.passkey.id)) },
    .text("name") { $0.passkey.name },
    .view("created") { MomentView(date: $0.passkey.createdAt) },
    .view("used") { row in row.passkey.usedAt.map { MomentView(date: $0, now: row.now) } },
  ]
}
