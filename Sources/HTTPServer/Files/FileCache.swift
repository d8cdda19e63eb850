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

  /// The segments of a file's path, which need no text of their own to be looked up.
  private struct Path: Hashable {
    let segments: [String]

    /// Hardly two files have the same name.
    func hash(into hasher: inout Hasher) { hasher.combine(segments.last) }
  }

  private struct State {
    var entries: [Path: Entry] = [:]
    var packed: [Path: Packed] = [:]
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
      guard let entry = state.entries[Path(segments: path)], entry.expires > now else { return nil }
      return entry.answer
    }
  }

  /// Keeps a file whose bytes are in memory, with its descriptor. Their number is bounded by the folder's small files;
  /// a large file is closed after its answer.
  func store(_ answer: FileAnswer, at path: [String], now: UInt64) {
    guard case .file(let open) = answer.file.content, open.bytes != nil else { return }
    state.withLock { state in
      state.makeRoom(open.size, inPlaceOf: state.entries[Path(segments: path)]?.answer.file.content.size ?? 0)
      state.entries[Path(segments: path)] = Entry(answer: answer, expires: now + Self.lifetime)
    }
  }

  /// The compressed bytes of a file, if it is still the one with this tag.
  func packed(_ path: [String], etag: String) -> [UInt8]? {
    state.withLock { state in
      guard let packed = state.packed[Path(segments: path)], packed.etag == etag else { return nil }
      return packed.bytes
    }
  }

  func store(packed bytes: [UInt8], etag: String, at path: [String]) {
    state.withLock { state in
      state.makeRoom(bytes.count, inPlaceOf: state.packed[Path(segments: path)]?.bytes.count ?? 0)
      state.packed[Path(segments: path)] = Packed(etag: etag, bytes: bytes)
    }
  }
}
