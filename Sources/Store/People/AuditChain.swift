package import Foundation
import JSON
import OpenSSL
package import SQLite

/// The chain of the activity log: each entry has a SHA-256 over its content and the hash of the entry before it, so that
/// a removed or changed line is noticed.
///
/// It shows changes that go past Signalbox. Who can write the file can compute a whole new chain: copies of the log
/// elsewhere show that.
package enum AuditChain {
  /// Failed sign-ins are deleted after so many days; nothing else is.
  package static let refusalDays = 90

  /// The hash of an entry.
  ///
  /// Over the bytes of `previous`, followed by the columns as netstrings (`5:hello,`) and `-` for NULL. Stored hashes
  /// depend on it: it never changes.
  static func hash(
    after previous: [UInt8], id: Int64, at: Int64, actor: String, action: String, subject: String, detail: String?,
    address: String?
  ) -> [UInt8] {
    var bytes = previous
    for text in ["\(id)", "\(at)", actor, action, subject, detail, address] {
      guard let text else {
        bytes.append(UInt8(ascii: "-"))
        continue
      }
      bytes += "\(text.utf8.count):".utf8
      bytes += text.utf8
      bytes.append(UInt8(ascii: ","))
    }
    return Digest.sha256(bytes)
  }

  /// Something that cannot have come about through Signalbox.
  package enum Fault: Sendable, Hashable {
    /// The entries with these IDs are not there.
    case missing(Int64, Int64)
    /// This entry is not as it was written, or the one before it is another one.
    case changed(Int64)
    /// More or fewer failed sign-ins are gone than retention says that it deleted.
    case deleted(Int, recorded: Int)
  }

  package struct Report: Sendable, Hashable {
    package var entries = 0
    /// Failed sign-ins that retention has deleted.
    package var deleted = 0
    /// At most ``AuditChain/mostFaults``.
    package var faults: [Fault] = []
  }

  private static let mostFaults = 20

  /// Reads the whole log: a second for a million entries.
  package static func check(_ database: Database) throws -> Report {
    var report = Report()
    var recorded = 0
    func note(_ fault: Fault) { if report.faults.count < mostFaults { report.faults.append(fault) } }
    var gaps = try database.fetchAll("SELECT first_id, last_id, hash FROM audit_gaps ORDER BY first_id DESC") {
      (first: $0.int64(0), last: $0.int64(1), hash: $0.blob(2))
    }
    var expected: Int64 = 1
    // Nil: unknown after a missing entry.
    var previous: [UInt8]? = []
    func close(before id: Int64) {
      while expected < id {
        while let gap = gaps.last, gap.last < expected { gaps.removeLast() }
        if let gap = gaps.last, gap.first == expected, gap.last < id {
          // The distance, which is not negative here, of any two numbers.
          let distance = Int(clamping: UInt64(bitPattern: gap.last &- gap.first))
          report.deleted = report.deleted.clampedSum(distance).clampedSum(1)
          (expected, previous) = (gap.last + 1, gap.hash)
        } else {
          let end = gaps.last.map { min(id, max($0.first, expected + 1)) } ?? id
          note(.missing(expected, end - 1))
          (expected, previous) = (end, nil)
        }
      }
    }
    try database.forEach("SELECT id, at, actor, action, subject, detail, address, hash FROM audit ORDER BY id") { row in
      let (id, action, detail, stored) = (row.int64(0), row.text(3), row.optionalText(5), row.blob(7))
      close(before: id)
      if let previous {
        let right = hash(
          after: previous, id: id, at: row.int64(1), actor: row.text(2), action: action, subject: row.text(4),
          detail: detail, address: row.optionalText(6))
        if right != stored { note(.changed(id)) }
      }
      if action == deletion, let count = try json(detail, "audit.detail")?["entries"]?.integer {
        recorded = recorded.clampedSum(Int(count))
      }
      report.entries += 1
      (expected, previous) = (id.clampedSum(1), stored)
      return .continue
    }
    close(before: try nextID(database))
    if report.deleted != recorded { note(.deleted(report.deleted, recorded: recorded)) }
    return report
  }

  /// The ID after that of the newest entry that ever was: it does not fall if the entry is removed.
  static func nextID(_ database: Database) throws -> Int64 {
    let last = try database.fetchOne("SELECT seq FROM sqlite_sequence WHERE name = 'audit'") { $0.int64(0) }
    return (last ?? 0).clampedSum(1)
  }

  private static let refusal = "session.refused"
  private static let deletion = "retention.sign_ins"

  /// Deletes failed sign-ins that are too old, and keeps the last hash of each run of them. The triggers of the table
  /// let nothing else be deleted.
  ///
  /// By whole days, so that the entry that records it is written once a day at most.
  ///
  /// - Returns: how many; less than `limit` if none are left.
  package static func trim(_ database: Database, limit: Int, now: Date) throws -> Int {
    let day = 86_400.0
    let before = Date(
      timeIntervalSince1970: (now.timeIntervalSince1970 / day).rounded(.down) * day - Double(refusalDays) * day)
    let old = try database.fetchAll(
      """
      SELECT id, hash FROM audit INDEXED BY audit_refusals WHERE action = '\(refusal)' AND at < ? ORDER BY id LIMIT ?
      """, before, limit
    ) { ($0.int64(0), $0.blob(1)) }
    guard !old.isEmpty else { return 0 }
    let entry = NewAuditEntry(
      actor: "retention", action: "retention.sign_ins", subject: "retention",
      detail: ["entries": .integer(Int64(old.count)), "days": .integer(Int64(refusalDays))])
    try AuditEntry.add(database, entry, now: now)
    var first = old[0].0
    for (index, (id, hash)) in old.enumerated() where index + 1 == old.count || old[index + 1].0 != id + 1 {
      try database.run("INSERT INTO audit_gaps(first_id, last_id, hash) VALUES (?, ?, ?)", first, id, hash)
      try database.run("DELETE FROM audit WHERE id BETWEEN ? AND ?", first, id)
      if index + 1 < old.count { first = old[index + 1].0 }
    }
    return old.count
  }
}

extension FixedWidthInteger {
  /// The sum, or the largest or smallest number in its place: a log that was tampered with may hold any numbers.
  fileprivate func clampedSum(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }
}
