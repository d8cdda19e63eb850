import Foundation
import Store

extension Console {
  /// The path of a link that makes the first administrator; nil if somebody can sign in already.
  ///
  /// Good for a day and for one use. Each call makes a new one and ends the one before.
  package func firstStartPath() async throws -> String? {
    let now = clock()
    let token = Secret.text()
    let isNeeded = try await store.write { database in
      guard try User.activeCount(database, role: .admin) == 0 else { return false }
      try SignInLink.add(
        database, hash: Secret.hash(token), purpose: .firstStart, user: nil, lifetime: 86_400, now: now)
      return true
    }
    return isNeeded ? "/session/setup?token=\(token)" : nil
  }
}
