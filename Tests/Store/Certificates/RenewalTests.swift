import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("A successor in place")
struct RenewalTests {
  private func add(_ database: Database, _ name: String, app: Int64? = nil) throws -> Int64 {
    var details = TrackedCertificate.Details(kind: "apns_certificate", name: name, fileName: name)
    details.appID = app
    return try TrackedCertificate.add(
      database, details, material: [1], sealer: TestSealer(), by: "test", now: noon
    ).id
  }

  private func bind(_ database: Database, _ app: App, _ environment: Environment, _ id: Int64) throws -> Int64 {
    try Credential.bind(
      database, app: app.id, provider: .apns, environment: environment, certificate: id, endpoint: "apple", now: noon
    ).id
  }

  private func used(_ database: Database, _ id: Int64) throws -> Int {
    try TrackedCertificate.uses(database, id: id)[id]?.count ?? 0
  }

  @Test("all credentials go over, and come back by undo, but for those that were changed meanwhile")
  func life() throws {
    try withApp { database, app in
      let (old, new, third) = (try add(database, "old", app: app.id), try add(database, "new"), try add(database, "3"))
      let production = try bind(database, app, .production, old)
      let development = try bind(database, app, .development, old)
      try Credential.note(database, id: production, .refused(at: noon, reason: "BadCertificate"))
      let moved = try TrackedCertificate.replace(database, id: old, by: new, now: noon)
      #expect(Set(moved) == [production, development])
      #expect(try used(database, old) == 0 && used(database, new) == 2)
      let after = try TrackedCertificate.get(database, id: old)
      #expect(after.isReplaced && after.replacement?.by == new)
      #expect(after.replacement?.keptUntil == noon + 30 * 86_400)
      #expect(try TrackedCertificate.get(database, id: new).details.appID == app.id)
      #expect(try Credential.find(database, id: production)?.health == .unused, "health starts anew")
      #expect(try TrackedCertificate.replaced(database, by: new).map(\.id) == [old])
      _ = try bind(database, app, .development, third)
      #expect(try TrackedCertificate.undoReplacement(database, id: old) == [production])
      #expect(try used(database, old) == 1 && used(database, third) == 1)
      #expect(try !TrackedCertificate.get(database, id: old).isReplaced)
      #expect(try TrackedCertificate.undoReplacement(database, id: old) == nil)
    }
  }

  @Test("an undo brings back when each credential was last accepted; its successor starts with none")
  func accepted() throws {
    try withApp { database, app in
      let (old, new) = (try add(database, "old"), try add(database, "new"))
      let production = try bind(database, app, .production, old)
      let development = try bind(database, app, .development, old)
      func accepted(_ id: Int64) throws -> Date? { try Credential.find(database, id: id)?.lastAcceptedAt }
      try Credential.note(database, id: production, .accepted(at: noon - 60))
      try TrackedCertificate.replace(database, id: old, by: new, now: noon)
      #expect(try accepted(production) == nil && Credential.find(database, id: production)?.health == .unused)
      try Credential.note(database, id: production, .accepted(at: noon + 60))
      try Credential.note(database, id: development, .accepted(at: noon + 60))
      try Credential.note(database, id: production, .refused(at: noon + 70, reason: "BadCertificate"))
      #expect(try TrackedCertificate.undoReplacement(database, id: old) == [production, development])
      #expect(try accepted(production) == noon - 60 && accepted(development) == nil)
      #expect(try Credential.find(database, id: production)?.health == .accepted)
      try TrackedCertificate.replace(database, id: old, by: new, now: noon + 90)
      #expect(try accepted(production) == nil, "the successor starts anew")
      #expect(try TrackedCertificate.undoReplacement(database, id: old) == [production, development])
      #expect(try accepted(production) == noon - 60)
    }
  }

  @Test("the successor's removal wakes the old one; that of one in a chain hands it on")
  func removal() throws {
    try withApp { database, _ in
      let (a, b, c) = (try add(database, "a"), try add(database, "b"), try add(database, "c"))
      try TrackedCertificate.replace(database, id: a, by: b, now: noon)
      try TrackedCertificate.replace(database, id: b, by: c, now: noon)
      #expect(try TrackedCertificate.get(database, id: a).replacement?.by == c, "it is replaced by what is in use")
      try TrackedCertificate.delete(database, id: b)
      #expect(try TrackedCertificate.get(database, id: a).replacement?.by == c)
      try TrackedCertificate.delete(database, id: c)
      #expect(try !TrackedCertificate.get(database, id: a).isReplaced)
      #expect(try TrackedCertificate.sweepReplaced(database, now: noon + 1e9).isEmpty, "what is awake is not swept")
    }
  }

  @Test("after 30 days it is swept, with an audit line; not a second before, and not while something sends with it")
  func sweep() throws {
    try withApp { database, app in
      let (old, new) = (try add(database, "old"), try add(database, "new"))
      try TrackedCertificate.replace(database, id: old, by: new, now: noon)
      let end = noon + TrackedCertificate.undoTime
      #expect(try TrackedCertificate.sweepReplaced(database, now: end - 1).isEmpty)
      _ = try bind(database, app, .production, old)
      #expect(try TrackedCertificate.sweepReplaced(database, now: end).isEmpty)
      _ = try bind(database, app, .production, new)
      #expect(try TrackedCertificate.sweepReplaced(database, now: end).map(\.id) == [old])
      #expect(try TrackedCertificate.find(database, id: old) == nil)
      let lines = try AuditEntry.list(database, .init(action: "certificate.sweep"), limit: 10).items.map(\.entry)
      #expect(lines.map(\.subject) == ["certificate \(old)"] && lines.first?.actor == "signalbox")
    }
  }

  @Test("the old one put in the new one's place by hand is awake")
  func backAgain() throws {
    try withApp { database, _ in
      let (old, new) = (try add(database, "old"), try add(database, "new"))
      try TrackedCertificate.replace(database, id: old, by: new, now: noon)
      try TrackedCertificate.replace(database, id: new, by: old, now: noon)
      #expect(try !TrackedCertificate.get(database, id: old).isReplaced)
      #expect(try TrackedCertificate.get(database, id: new).replacement?.by == old)
      #expect(throws: StoreError.self) { try TrackedCertificate.replace(database, id: old, by: old, now: noon) }
    }
  }

  @Test("a file that waits is kept for a day, and only the last of a person")
  func candidates() throws {
    try withApp { database, _ in
      let old = try add(database, "old")
      func bring(_ text: String, _ user: String) throws -> CertificateCandidate {
        try CertificateCandidate.add(
          database, certificate: old, content: Array(text.utf8), sealer: TestSealer(), by: user, now: noon)
      }
      func content(_ uid: String, at time: Date = noon) throws -> [UInt8]? {
        try CertificateCandidate.find(database, uid: uid, sealer: TestSealer(), now: time)?.content
      }
      let first = try bring("1", "anna")
      let (second, other) = (try bring("2", "anna"), try bring("3", "lin"))
      #expect(try content(first.uid) == nil)
      #expect(try content(second.uid) == Array("2".utf8) && content(other.uid) == Array("3".utf8))
      #expect(try content(second.uid, at: noon + 86_400) == nil)
      try CertificateCandidate.sweep(database, now: noon + 86_400)
      #expect(try database.int("SELECT count(*) FROM certificate_candidates") == 0)
      let again = try bring("4", "anna")
      try TrackedCertificate.delete(database, id: old)
      #expect(try content(again.uid) == nil)
    }
  }
}
