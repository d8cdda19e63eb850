import Foundation
import HTTPServer
import JSON
import Mustache
import OpenSSL
import QRCode
import SQLite
import Store

/// `/account/second-step`: the authenticator app of the signed-in person, and the codes for when it is lost.
enum SecondStepPages {
  static let views: [any PageView.Type] = [SecondStepView.self, CodeView.self]

  static let path = "/account/second-step"

  static func add(to routes: inout ConsoleRouter) {
    // While it is set up, the page shows the secret.
    routes.page(.get, "/account/second-step", proof: true) { page in try await show(page) }
    routes.page(.post, "/account/second-step/begin", proof: true) { page in
      let (user, sealer, now) = (try page.signedIn().user.id, page.store.sealer, page.now)
      try await page.store.write { try Authenticator.begin($0, user: user, sealer: sealer, now: now) }
      return page.redirect(to: path)
    }
    routes.page(.post, "/account/second-step", proof: true, confirm)
    routes.page(.post, "/account/second-step/codes", proof: true) { page in
      let (user, _) = try page.signedIn()
      let codes = try await page.store.write { database -> [String] in
        guard try Authenticator.isOn(database, user: user.id) else { return [] }
        try page.record(database, "user.recovery_codes", "user \(user.name)")
        return try RecoveryCode.renew(database, user: user.id)
      }
      return try showing(page, codes)
    }
    routes.page(.post, "/account/second-step/remove", proof: true) { page in
      let (user, session) = try page.signedIn()
      try await page.store.write { database in
        guard try Authenticator.find(database, user: user.id) != nil else { return }
        try SecondStep.removeAuthenticator(database, user: user.id)
        try Session.endAll(database, user: user.id, except: session.idHash)
        try page.record(database, changed(page, user, to: false))
      }
      return page.redirect(to: path, flash: "second_step_off")
    }
  }

  private static func changed(_ page: PageContext, _ user: User, to isOn: Bool) -> NewAuditEntry {
    page.audit(
      "user.second_step", "user \(user.name)",
      ["before": ["authenticator": .bool(!isOn)], "after": ["authenticator": .bool(isOn)]])
  }

  private static func showing(_ page: PageContext, _ codes: [String]) throws -> Response {
    try page.shown(at: path, for: ShownPage.secretLifetime) { page in try await show(page, codes: codes) }
  }

  private static func show(
    _ page: PageContext, codes: [String] = [], refusal: ProofGate.Refusal? = nil
  ) async throws -> Response {
    let (user, _) = try page.signedIn()
    let sealer = page.store.sealer
    let (found, secret, left) = try await page.store.read { database in
      let found = try Authenticator.find(database, user: user.id)
      let secret = try found.flatMap { found in
        found.confirmedAt == nil ? try Sealing.opened { try found.secret(database, sealer: sealer) } : nil
      }
      return (found, secret, try RecoveryCode.left(database, user: user.id))
    }
    let address = secret.map { OneTimeCode.address($0, issuer: page.texts("layout.product"), account: user.name) }
    return page.answer(
      SecondStepView(
        since: found?.confirmedAt, left: left, codes: codes, problem: refusal?.text,
        symbol: address.flatMap { QRSymbol($0) }, secret: secret.map(Base32.encode)),
      status: refusal?.status ?? .ok, retryAfter: refusal?.wait,
      // New codes are shown once.
      language: codes.isEmpty ? .at(path) : .reloading)
  }

  /// Turns it on with the first code.
  private static func confirm(_ page: PageContext) async throws -> Response {
    let (user, session) = try page.signedIn()
    let (code, sealer, now, audit) = (page.form.raw("code"), page.store.sealer, page.now, changed(page, user, to: true))
    let isWaiting = try await page.store.read { database in
      try Authenticator.find(database, user: user.id).map { $0.confirmedAt == nil } ?? false
    }
    guard isWaiting else { return page.redirect(to: path) }
    if let refusal = try await SecondStepCheck.refusal(
      page, user,
      { database in
        try Authenticator.find(database, user: user.id)?.accept(code, database, sealer: sealer, now: now) ?? false
      })
    {
      return try await show(page, refusal: refusal)
    }
    let codes = try await page.store.write { database in
      try Session.endAll(database, user: user.id, except: session.idHash)
      try Session.note(database, idHash: session.idHash, secondStep: .own)
      try AuditEntry.add(database, audit, now: now)
      return try RecoveryCode.renew(database, user: user.id)
    }
    return try showing(page, codes)
  }
}

/// Codes after a right password.
enum SecondStepCheck {
  /// Why what was typed is neither a code of the app nor a recovery code; nil if it is one.
  static func refusal(_ page: PageContext, _ user: User, typed: String) async throws -> ProofGate.Refusal? {
    let (sealer, now) = (page.store.sealer, page.now)
    // Recovery codes are longer, and have letters.
    let isRecovery = typed.filter { $0.isLetter || $0.isNumber }.count > 8
    let wrong = isRecovery ? "second_step.wrong_recovery" : "second_step.wrong"
    return try await refusal(page, user, wrong: wrong) { database in
      guard !isRecovery else { return try RecoveryCode.use(typed, database, user: user.id) }
      return try Authenticator.find(database, user: user.id)?.accept(typed, database, sealer: sealer, now: now) ?? false
    }
  }

  /// Why a code is not accepted; nil if it is. Guesses are counted for the person, as nobody else gets this far.
  ///
  /// - Parameter wrong: the key of the message.
  static func refusal(
    _ page: PageContext, _ user: User, wrong: String = "second_step.wrong",
    _ accept: @escaping @Sendable (Database) throws -> Bool
  ) async throws -> ProofGate.Refusal? {
    let now = page.now
    let subjects: [SignInFailures.Subject] = [.code(user: user.id)]
    return try await page.store.write { database -> SignInThrottle.Answer? in
      let answer = try SignInThrottle.begin(database, subjects, now: now)
      guard case .go(let attempt) = answer, try accept(database) else { return answer }
      try SignInThrottle.succeeded(database, attempt)
      return nil
    }.map { answer in
      var refusal =
        switch answer {
        case .wait(let seconds): ProofGate.Refusal.tooOften(seconds, page.texts)
        case .go: ProofGate.Refusal(text: page.texts(wrong))
        }
      refusal.isOfCode = true
      return refusal
    }
  }
}

struct SecondStepView: PageView {
  static let template = "people/second_step"
  static let section: Section? = .account

  /// Nil: it is off.
  let since: Date?
  /// Recovery codes that were not used yet.
  let left: Int
  /// New ones, shown only once.
  let codes: [String]
  let problem: String?
  /// Of the address that the app reads; nil unless it is set up right now.
  let symbol: QRSymbol?
  let secret: String?

  static let fields: [Field<Self>] = [
    .view("since") { $0.since.map { MomentView(date: $0) } },
    .view("left") { CountView(count: $0.left) },
    .flag("has_codes") { !$0.codes.isEmpty },
    .text("codes") { $0.codes.joined(separator: "\n") },
    .view("code") { FieldView(error: $0.problem ?? "") },
    .view("symbol") { $0.symbol.map { QRView(symbol: $0) } },
    .text("secret") { view in
      let letters = Array(view.secret ?? "")
      return stride(from: 0, to: letters.count, by: 4)
        .map { String(letters[$0..<min($0 + 4, letters.count)]) }.joined(separator: " ")
    },
  ]
}

/// A QR code, for `components/qr`.
struct QRView: View {
  let symbol: QRSymbol

  static let fields: [Field<Self>] = [
    .number("side") { $0.symbol.side },
    .text("path") { $0.symbol.path },
  ]
}

/// Asks for a code after the password.
struct CodeView: PageView {
  static let template = "session/code"
  static let section: Section? = nil
  /// The form's ID.
  static let form = "enter-code"

  let name: String
  /// Shows that the password was right a short time ago.
  let ticket: String
  let returnTo: String
  let problem: String?
  /// Whether the problem is that of a recovery code.
  let recovers: Bool

  static let fields: [Field<Self>] = [
    .text("name") { $0.name },
    .text("ticket") { $0.ticket },
    .text("return") { $0.returnTo },
    .flag("recovers") { $0.recovers },
    .view("code") { FieldView(error: $0.recovers ? "" : $0.problem ?? "") },
    .view("recovery") { FieldView(error: $0.recovers ? $0.problem ?? "" : "") },
  ]
}
