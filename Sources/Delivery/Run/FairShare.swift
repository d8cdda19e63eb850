import Synchronization

/// The window of devices under way over each credential, divided evenly among its pushes.
///
/// One push alone has it all. When a second begins, each may have half: the first hands out nothing until it is back
/// within its share, the second begins at once.
final class FairShare: Sendable {
  /// Devices under way over one credential: bounded memory whatever the audience.
  let window: Int
  private let pushes = Mutex<[Int64: Set<Int64>]>([:])

  init(window: Int) { self.window = window }

  func join(credential: Int64, push: Int64) {
    pushes.withLock { _ = $0[credential, default: []].insert(push) }
  }

  func leave(credential: Int64, push: Int64) {
    pushes.withLock { pushes in
      pushes[credential]?.remove(push)
      if pushes[credential]?.isEmpty ?? false { pushes[credential] = nil }
    }
  }

  /// How many devices each push of a credential may have under way; never less than `least`, unless `limit`, for all
  /// of them, asks for less.
  func share(credential: Int64, least: Int, limit: Int? = nil) -> Int {
    let count = max(1, pushes.withLock { $0[credential]?.count ?? 1 })
    let usual = max(least, window / count)
    return limit.map { min(usual, max(1, $0 / count)) } ?? usual
  }
}
