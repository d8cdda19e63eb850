import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// Explains that the key file is lost or belongs to another installation, and the way on: make a new key and upload
/// everything again.
enum SealingPages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/certificates/key", role: .admin) { page in try await show(page, FieldErrors()) }
    routes.page(.post, "/certificates/key", role: .admin, proof: true, beginAnew)
  }

  /// The state of the key, and the certificates that do not open with it.
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

  /// At most this many are named; the rest are counted.
  private static let shown = 20

  /// The notice above a list; nil if every key opens.
  static func notice(_ facts: Facts, _ page: PageContext) -> SealingNotice? {
    guard facts.state != .fits || !facts.closed.isEmpty else { return nil }
    return SealingNotice(
      state: facts.state,
      closed: facts.closed.prefix(shown).map {
        LinkView(href: "/certificates/\($0.id)#replace", label: $0.details.name)
      }, more: facts.closed.count - shown, mayBegin: facts.state != .fits && page.may(.admin))
  }

  private static func show(_ page: PageContext, _ errors: FieldErrors) async throws -> Response {
    let sealer = page.store.sealer
    let facts = try await page.store.read { try Facts($0, sealer) }
    let path = (sealer as? KeyRing)?.path ?? "secret.key"
    let closed = facts.closed.map { LinkView(href: "/certificates/\($0.id)", label: $0.details.name) }
    return page.answer(
      SealingView(state: facts.state, path: path, closed: closed, error: errors["confirm"]),
      status: errors.status)
  }

  private static func beginAnew(_ page: PageContext) async throws -> Response {
    guard page.form["confirm"] == "yes" else {
      var errors = FieldErrors()
      errors.add("confirm", page.texts("sealing.tick"))
      return try await show(page, errors)
    }
    let sealer = page.store.sealer
    // A key that fits needs no new start, so a form that was sent twice changes nothing.
    guard try await page.store.read({ try Sealing.state($0, sealer) }) != .fits else {
      return page.redirect(to: "/certificates", flash: "key_fits")
    }
    try (sealer as? KeyRing)?.makeIfMissing()
    let audit = page.audit("key.begin_anew", "secret.key", ["key": .optional(sealer.keyIdentifier)])
    try await page.store.write { database in
      try Sealing.beginAnew(database, sealer, now: page.now)
      try page.record(database, audit)
    }
    return page.redirect(to: "/certificates", flash: "key_made")
  }
}
