import Synchronization

/// Small files, kept for a moment: a page's style sheet and icons are asked for again and again.
///
/// What is changed on disk is seen after ``lifetime`` at the latest.
final class FileCache: Sendable {
  struct Entry: Sendable {
    let bytes: [UInt8]
    let modified: Int
    let etag: String
    let expires: UInt64
  }

  /// Nanoseconds.
  static let lifetime: UInt64 = 1_000_000_000
  private static let maximumBytes = 4 << 20

  private struct State {
    var entries: [String: Entry] = [:]
    var bytes = 0
  }

  private let state = Mutex(State())

  func entry(_ location: String, at now: UInt64) -> Entry? {
    state.withLock { state in
      guard let entry = state.entries[location], entry.expires > now else { return nil }
      return entry
    }
  }

  func store(_ entry: Entry, at location: String) {
    state.withLock { state in
      // Thrown away whole when full: at most once a lifetime's worth of files.
      if state.bytes + entry.bytes.count > Self.maximumBytes { state = State() }
      state.bytes += entry.bytes.count - (state.entries[location]?.bytes.count ?? 0)
      state.entries[location] = entry
    }
  }
}
