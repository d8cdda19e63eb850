import Foundation
import JSON
import Model
import SQLite
@testable import Store
import Testing

@Suite("The chain of the activity log")
struct AuditChainTests {
  private static let day = 86_400.0

  private static func add(_ database: Database, _ action: String, at: Date = noon, address: String? = "::1") throws {
    try AuditEntry.add(
      database,
      NewAuditEntry(actor: "anna", action: action, subject: "user anna", detail: ["a": 1], address: address), now: at)
  }

  /// Seven entries, and nothing that keeps somebody with SQL from changing them.
  private static func withLog(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      for number in 0..<7 { try add(database, "device.update", at: noon + Double(number)) }
      #expect(try AuditChain.check(database) == AuditChain.Report(entries: 7))
      for trigger in ["audit_is_never_changed", "audit_is_never_deleted"] {
        try database.execute("DROP TRIGGER \(trigger)")
      }
      try body(database)
    }
  }

  @Test(
    "a line that was removed or changed is named",
    arguments: [
      ("DELETE FROM audit WHERE id = 3", [.missing(3, 3)]),
      ("DELETE FROM audit WHERE id BETWEEN 2 AND 5", [.missing(2, 5)]),
      ("DELETE FROM audit WHERE id IN (1, 6)", [.missing(1, 1), .missing(6, 6)]),
      ("DELETE FROM audit WHERE id > 5", [.missing(6, 7)]),
      ("DELETE FROM audit", [.missing(1, 7)]),
      ("UPDATE audit SET actor = 'ben' WHERE id = 4", [.changed(4)]),
      ("UPDATE audit SET at = at + 1 WHERE id = 7", [.changed(7)]),
      ("UPDATE audit SET address = NULL WHERE id = 1", [.changed(1)]),
      ("UPDATE audit SET detail = '{\"a\":2}' WHERE id = 2", [.changed(2)]),
      ("UPDATE audit SET hash = zeroblob(32) WHERE id = 2", [.changed(2), .changed(3)]),
    ] as [(String, [AuditChain.Fault])])
  func tampering(sql: String, faults: [AuditChain.Fault]) throws {
    try Self.withLog { database in
      try database.execute(sql)
      #expect(try AuditChain.check(database).faults == faults)
      try Self.add(database, "device.update")
      let after = try AuditChain.check(database).faults
      #expect(faults.allSatisfy(after.contains), "a later entry hides nothing: \(after)")
    }
  }

  @Test(
    "numbers that somebody made up are faults, however large they are",
    arguments: [
      (
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'audit'",
        [.missing(8, .max - 1)]
      ),
      ("UPDATE audit SET id = 9223372036854775807 WHERE id = 7", [.missing(7, .max - 1)]),
      (
        """
        UPDATE audit SET id = -9223372036854775808 WHERE id = 1;
        INSERT INTO audit_gaps VALUES (-9223372036854775807, 1, x'00')
        """, [.changed(.min), .changed(2), .deleted(.max, recorded: 0)]
      ),
      (
        """
        UPDATE audit SET action = 'retention.sign_ins', detail = '{"entries":9223372036854775807}' WHERE id IN (2, 3)
        """, [.changed(2), .changed(3), .deleted(0, recorded: .max)]
      ),
    ] as [(String, [AuditChain.Fault])])
  func madeUp(sql: String, faults: [AuditChain.Fault]) throws {
    try Self.withLog { database in
      try database.script(sql)
      #expect(try AuditChain.check(database).faults == faults)
    }
  }

  @Test("a line that got another number is named, also when another line takes its number")
  func renumbering() throws {
    try Self.withLog { database in
      try database.execute("UPDATE audit SET id = 9 WHERE id = 7")
      #expect(try AuditChain.check(database).faults == [.missing(7, 8)])
      try Self.add(database, "device.update")
      let after = try AuditChain.check(database).faults
      #expect(!after.isEmpty)
    }
  }

  @Test("failed sign-ins are deleted after 90 days, and the chain holds without them")
  func trimming() throws {
    try withDatabase { database in
      let old = noon - 100 * Self.day
      for action in [
        "session.refused", "session.refused", "session.open", "session.refused", "device.update", "session.refused",
      ] { try Self.add(database, action, at: old) }
      for _ in 0..<3 { try Self.add(database, "session.refused", at: noon - 89 * Self.day) }
      #expect(try AuditChain.trim(database, limit: 3, now: noon) == 3)
      #expect(try AuditChain.trim(database, limit: 3, now: noon) == 1)
      #expect(try AuditChain.trim(database, limit: 3, now: noon) == 0)
      let report = try AuditChain.check(database)
      #expect(report == AuditChain.Report(entries: 7, deleted: 4))
      let left = try AuditEntry.list(database, limit: 20).items.map(\.entry.action)
      #expect(
        left == ["retention.sign_ins", "retention.sign_ins"] + Array(repeating: "session.refused", count: 3)
          + ["device.update", "session.open"])
      // Two days later the others are due: one more entry.
      #expect(try AuditChain.trim(database, limit: 9, now: noon + 2 * Self.day) == 3)
      #expect(try AuditChain.check(database) == AuditChain.Report(entries: 5, deleted: 7))
    }
  }

  @Test("the triggers let nothing but old failed sign-ins be deleted, and those only with their place in the chain")
  func triggers() throws {
    try withDatabase { database in
      try Self.add(database, "device.update", at: noon - 100 * Self.day)
      try Self.add(database, "session.refused", at: noon - 100 * Self.day)
      try Self.add(database, "session.refused", at: noon - 80 * Self.day)
      try Self.add(database, "session.open", at: noon)
      func refuses(_ sql: String) -> Bool {
        do { try database.execute(sql) } catch { return true }
        return false
      }
      for id in 1...4 { #expect(refuses("DELETE FROM audit WHERE id = \(id)"), "\(id) without a gap") }
      try database.execute("INSERT INTO audit_gaps VALUES (1, 4, x'00')")
      for id in [1, 3, 4] { #expect(refuses("DELETE FROM audit WHERE id = \(id)"), "\(id)") }
      #expect(refuses("DELETE FROM audit_gaps") && refuses("UPDATE audit_gaps SET last_id = 1"))
      #expect(refuses("UPDATE audit SET hash = x'00' WHERE id = 2"))
      try database.execute("DELETE FROM audit WHERE id = 2")
      #expect(try !AuditChain.check(database).faults.isEmpty, "retention did not record it")
    }
  }

  @Test("the entries of an earlier version get their place in the chain")
  func upgrade() throws {
    let database = try Database(path: ":memory:")
    defer { database.close() }
    let all = Schema.migrator.migrations
    let index = try #require(all.firstIndex { $0.id.hasSuffix("activity chain") })
    let former = Migrator(applicationID: Schema.applicationID, Array(all[..<index]))
    try former.migrate(database, at: noon.milliseconds)
    for number in 0..<2500 {
      try database.run(
        "INSERT INTO audit(at, actor, action, subject) VALUES (?, 'anna', 'device.update', ?)", noon, "device \(number)"
      )
    }
    try Schema.migrator.migrate(database, at: noon.milliseconds)
    try Self.add(database, "device.update")
    #expect(try AuditChain.check(database) == AuditChain.Report(entries: 2501))
  }
}
