import Glibc
import Synchronization

/// Writes lines to an open descriptor, each whole.
public final class StreamSink: LogSink {
  private let descriptor: Int32
  private let format: LogFormat
  private let writing = Mutex(())

  /// Standard error.
  public static func standardError(_ format: LogFormat) -> StreamSink { StreamSink(descriptor: 2, format: format) }

  /// - Parameter descriptor: stays open and is not closed here.
  public init(descriptor: Int32, format: LogFormat) {
    self.descriptor = descriptor
    self.format = format
  }

  /// Writes the entry's line; if nobody can take it, it is lost.
  public func write(_ entry: LogEntry) {
    let bytes = Array(format.line(entry).utf8)
    writing.withLock { _ in
      var start = 0
      while start < bytes.count {
        let written = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if written < 0 && errno == EINTR { continue }
        guard written > 0 else { return }
        start += written
      }
    }
  }
}

/// Keeps entries in memory, for tests.
public final class MemorySink: LogSink {
  private let kept = Mutex<[LogEntry]>([])

  /// An empty one.
  public init() {}

  /// Keeps the entry.
  public func write(_ entry: LogEntry) { kept.withLock { $0.append(entry) } }

  /// All so far, in order.
  public var entries: [LogEntry] { kept.withLock { $0 } }
}
