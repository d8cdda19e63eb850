import Glibc
import Synchronization

/// Keeps small files for a moment, because a page's style sheet and icons are requested again and again, and the
/// compressed form of text files until they change.
///
/// A change on disk takes effect after ``lifetime`` at the latest.
final class FileCache: Sendable {
  private struct Entry: Sendable {
    let answer: FileAnswer
    let expires: UInt64
  }

  private struct Packed: Sendable {
    let etag: String
    let bytes: [UInt8]
  }

  /// Nanoseconds.
  static let lifetime: UInt64 = 1_000_000_000
  private static let maximumBytes = 4 << 20

  private struct State {
    /// By the segments of their path, which need no text of their own to be looked up.
    var entries: [[String]: Entry] = [:]
    var packed: [[String]: Packed] = [:]
    var bytes = 0

    /// Dropped completely when full: at most one lifetime's worth of files.
    mutating func makeRoom(_ count: Int, inPlaceOf former: Int) {
      if bytes + count - former > maximumBytes { self = State() } else { bytes -= former }
      bytes += count
    }
  }

  private let state = Mutex(State())

  /// Monotonic nanoseconds, up to some milliseconds old: exact enough for ``lifetime``, and a quarter of an exact clock's
  /// cost.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  func file(_ path: [String], at now: UInt64) -> FileAnswer? {
    state.withLock { state in
      guard let entry = state.entries[path], entry.expires > now else { return nil }
      return entry.answer
    }
  }

  /// Keeps a file whose bytes are in memory, with its descriptor. Their number is bounded by the folder's small files;
  /// a large file is closed after its answer.
  func store(_ answer: FileAnswer, at path: [String], now: UInt64) {
    guard case .file(let open) = answer.file.content, open.bytes != nil else { return }
    state.withLock { state in
      state.makeRoom(open.size, inPlaceOf: state.entries[path]?.answer.file.content.size ?? 0)
      state.entries[path] = Entry(answer: answer, expires: now + Self.lifetime)
    }
  }

  /// The compressed bytes of a file, if it is still the one with this tag.
  func packed(_ path: [String], etag: String) -> [UInt8]? {
    state.withLock { state in
      guard let packed = state.packed[path], packed.etag == etag else { return nil }
      return packed.bytes
    }
  }

  func store(packed bytes: [UInt8], etag: String, at path: [String]) {
    state.withLock { state in
      state.makeRoom(bytes.count, inPlaceOf: state.packed[path]?.bytes.count ?? 0)
      state.packed[path] = Packed(etag: etag, bytes: bytes)
    }
  }
}
