import Foundation
import Store

extension Console {
  /// The path of a link that creates the first administrator; nil if there is a person who can sign in.
  ///
  /// The link works once, for a day. Each call creates a new link and invalidates the previous one.
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
