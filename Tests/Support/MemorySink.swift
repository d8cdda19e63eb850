package import Logging
import Synchronization

/// Keeps entries in memory.
package final class MemorySink: LogSink {
  private let kept = Mutex<[LogEntry]>([])

  package init() {}

  package func write(_ entry: LogEntry) { kept.withLock { $0.append(entry) } }

  package var entries: [LogEntry] { kept.withLock { $0 } }
}
