import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import SQLite
import Store

/// What is said when the key file is lost or another installation's, and the way on: a new key, everything uploaded
/// anew.
enum SealingPages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/certificates/key", role: .admin) { page in try await show(page, FieldErrors()) }
    routes.page(.post, "/certificates/key", role: .admin) { page in try await beginAnew(page) }
  }

  /// What does not open.
  struct Facts: Sendable {
    let state: Sealing.State
    let closed: [TrackedCertificate]

    init(_ database: Database, _ sealer: any Sealer) throws {
      state = try Sealing.state(database, sealer)
      let ids = try Sealing.closed(database, in: "certificates", sealer)
      closed =
        ids.isEmpty
        ? [] : try TrackedCertificate.all(database).filter { ids.contains($0.id) && $0.details.hasPrivateKey }
    }
  }

  /// More of them are counted, not named.
  private static let shown = 20

  /// The notice above a list, false if all is well.
  static func notice(_ facts: Facts, _ page: PageContext) -> Value {
    guard facts.state != .fits || !facts.closed.isEmpty else { return false }
    let rest = facts.closed.count - shown
    return [
      "text": .string(page.texts(sentence(facts.state))),
      "more": .string(rest > 0 ? page.texts("expiry.more", count: rest) : ""),
      "items": .list(
        facts.closed.prefix(shown).map {
          ["href": .string("/certificates/\($0.id)#successor"), "name": .string($0.details.name)]
        }),
      "can_begin": .bool(facts.state != .fits && page.may(.admin)),
    ]
  }

  private static func sentence(_ state: Sealing.State) -> String {
    switch state {
    case .missing: "sealing.missing"
    case .other: "sealing.another"
    case .fits: "sealing.closed"
    }
  }

  private static func show(_ page: PageContext, _ errors: FieldErrors) async throws -> Response {
    let sealer = page.store.sealer
    let facts = try await page.store.read { try Facts($0, sealer) }
    let path = (sealer as? KeyRing)?.path ?? "secret.key"
    let closed = facts.closed.map { LinkView(href: "/certificates/\($0.id)", label: $0.details.name) }
    return page.answer(
      SealingView(state: facts.state, path: path, closed: closed, error: errors["confirm"]),
      status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func beginAnew(_ page: PageContext) async throws -> Response {
    guard page.form["confirm"] == "yes" else {
      var errors = FieldErrors()
      errors.add("confirm", page.texts("sealing.tick"))
      return try await show(page, errors)
    }
    let (sealer, now) = (page.store.sealer, page.now)
    // What fits needs no new beginning; a form that was sent twice changes nothing.
    guard try await page.store.read({ try Sealing.state($0, sealer) }) != .fits else {
      return page.redirect(to: "/certificates", flash: "key_fits")
    }
    try (sealer as? KeyRing)?.makeIfMissing()
    let audit = page.audit("key.begin_anew", "secret.key", ["key": .optional(sealer.keyIdentifier)])
    try await page.store.write { database in
      try Sealing.beginAnew(database, sealer, now: now)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/certificates", flash: "key_made")
  }
}
