import Foundation
import HTTPServer
import Store
import Synchronization

/// Notes that somebody proved who is there while a request was handled. The router then gives the session a new ID, so
/// that one that became known before is worthless; not if the request fails, since its answer sets no cookie.
final class SessionRenewal: Sendable {
  struct Proof: Sendable {
    /// Nil: a password alone.
    let secondStep: Session.SecondStep?
  }

  private let noted = Mutex<Proof?>(nil)

  var proof: Proof? { noted.withLock { $0 } }

  func note(_ secondStep: Session.SecondStep?) { noted.withLock { $0 = Proof(secondStep: secondStep) } }
}

extension Authentication {
  /// Gives a session a new ID after a proof of who is there. The former one has ended; its form token stays.
  func renew(
    _ session: Session, _ proof: SessionRenewal.Proof, _ request: Request, on response: inout Response, now: Date
  ) async throws {
    let value = Secret.text()
    let isRenewed = try await store.write { database in
      try Session.renew(
        database, idHash: session.idHash, to: Secret.hash(value), secondStep: proof.secondStep, now: now)
    }
    guard isRenewed else { return }
    let age = max(1, Int(session.expiresAt.timeIntervalSince(now)))
    Cookies.set(Cookies.session, value, age: age, on: &response, request)
  }
}
