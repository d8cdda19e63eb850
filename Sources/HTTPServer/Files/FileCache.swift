import Synchronization

/// Keeps small files for a moment, because a page's style sheet and icons are requested again and again, and the
/// compressed form of text files until they change.
///
/// A change on disk takes effect after ``lifetime`` at the latest.
final class FileCache: Sendable {
  private struct Entry: Sendable {
    let file: FileAnswer
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
    var entries: [String: Entry] = [:]
    var packed: [String: Packed] = [:]
    var bytes = 0

    /// Dropped completely when full: at most one lifetime's worth of files.
    mutating func makeRoom(_ count: Int, inPlaceOf former: Int) {
      if bytes + count - former > maximumBytes { self = State() } else { bytes -= former }
      bytes += count
    }
  }

  private let state = Mutex(State())

  func file(_ location: String, at now: UInt64) -> FileAnswer? {
    state.withLock { state in
      guard let entry = state.entries[location], entry.expires > now else { return nil }
      return entry.file
    }
  }

  /// Keeps a file whose bytes are in memory, with its descriptor. Their number is bounded by the folder's small files;
  /// a large file is closed after its answer.
  func store(_ file: FileAnswer, at location: String, now: UInt64) {
    guard case .file(let open) = file.content, open.bytes != nil else { return }
    state.withLock { state in
      state.makeRoom(open.size, inPlaceOf: state.entries[location]?.file.content.size ?? 0)
      state.entries[location] = Entry(file: file, expires: now + Self.lifetime)
    }
  }

  /// The compressed bytes of a file, if it is still the one with this tag.
  func packed(_ location: String, etag: String) -> [UInt8]? {
    state.withLock { state in
      guard let packed = state.packed[location], packed.etag == etag else { return nil }
      return packed.bytes
    }
  }

  func store(packed bytes: [UInt8], etag: String, at location: String) {
    state.withLock { state in
      state.makeRoom(bytes.count, inPlaceOf: state.packed[location]?.bytes.count ?? 0)
      state.packed[location] = Packed(etag: etag, bytes: bytes)
    }
  }
}
