import Synchronization

/// Divides the window of each credential evenly among its pushes.
///
/// A single push gets the whole window. When a second one starts, each may have half: the first sends nothing until it
/// is within its share, and the second starts at once.
final class FairShare: Sendable {
  /// Devices in flight per credential. Bounds memory for any audience size.
  let window: Int
  private let pushes = Mutex<[Int64: Set<Int64>]>([:])

  init(window: Int) { self.window = window }

  func join(credential: Int64, push: Int64) { pushes.withLock { _ = $0[credential, default: []].insert(push) } }

  func leave(credential: Int64, push: Int64) {
    pushes.withLock { pushes in
      pushes[credential]?.remove(push)
      if pushes[credential]?.isEmpty ?? false { pushes[credential] = nil }
    }
  }

  /// The devices in flight that each push of a credential may have: at least `least`, unless `limit`, the total of all
  /// pushes, is lower.
  func share(credential: Int64, least: Int, limit: Int? = nil) -> Int {
    let count = max(1, pushes.withLock { $0[credential]?.count ?? 1 })
    let usual = max(least, window / count)
    return limit.map { min(usual, max(1, $0 / count)) } ?? usual
  }
}
