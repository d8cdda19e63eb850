import Foundation
import Logging
package import Model
import SQLite
package import Store

extension DeliveryEngine {
  /// Approves or rejects a push or schedule that waits for a second person; an approved push goes on as one that was
  /// just sent. The push is safe once this returns: a server that starts later takes it up.
  ///
  /// - Throws: `Problems` with one `ApprovalMessage`.
  package func decide(
    _ subject: Approval.Subject, isApproved: Bool, by decider: ApprovalRule.Actor, remark: String?,
    from address: String?
  ) async throws {
    let now = clock()
    try await store.write { database in
      try Approval.decide(
        database, subject, isApproved: isApproved, by: decider, remark: remark, from: address, now: now)
    }
    if case .push(let id) = subject { goOn(id) }
  }

  /// Ends what nobody approved in time.
  func lookForExpiredApprovals(now: Date) async throws {
    for approval in try await store.read({ try Approval.overdue($0, now: now) }) {
      guard try await store.write({ try approval.expire($0, now: now) }) else { continue }
      log.notice("ended requests that nobody approved in time", ["approval": approval.id])
      if case .push(let id) = approval.subject { tell(id) }
    }
  }
}
