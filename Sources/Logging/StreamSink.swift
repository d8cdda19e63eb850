import Foundation
import Reactor
import Synchronization

/// Writes whole lines to a descriptor on its own thread, so that logging never waits for a slow reader.
///
/// Unwritten lines wait in a bounded queue. When it is full, lines are dropped, and the next line tells how many.
package final class StreamSink: LogSink {
  /// In bytes.
  package static let usualCapacity = 1 << 20

  private let format: LogFormat
  private let lines: LineQueue

  package static func standardError(_ format: LogFormat) -> StreamSink { StreamSink(descriptor: 2, format: format) }

  /// - Parameters:
  ///   - descriptor: not closed here.
  ///   - capacity: of the queue in bytes.
  package init(descriptor: Int32, format: LogFormat, capacity: Int = StreamSink.usualCapacity) {
    self.format = format
    lines = LineQueue(descriptor: descriptor, capacity: capacity) { count in
      let entry = LogEntry(
        time: Date(), level: .warning, label: "Logging",
        message: "lines were dropped because the log was read too slowly or could not be written",
        metadata: [("lines", "\(count)")])
      return Array(format.line(entry).utf8)
    }
  }

  deinit { lines.close() }

  package var dropped: Int { lines.dropped }

  /// Queues the entry's line, or drops it if the queue is full.
  package func write(_ entry: LogEntry) { lines.add(Array(format.line(entry).utf8)) }

  /// Waits until everything is written, but not longer than `limit`.
  package func flush(within limit: Duration) { lines.flush(within: limit) }
}

/// The queue of lines for a descriptor.
///
/// @unchecked Sendable because mutable state is guarded by `condition`.
private final class LineQueue: @unchecked Sendable {
  private struct Line {
    let bytes: [UInt8]
    /// How many dropped lines it reports; 0 for an entry.
    var told = 0
  }

  /// Writes of this size to a pipe are atomic (PIPE_BUF), so that other processes' lines do not mix in.
  private static let piece = 4096

  private let descriptor: Int32
  private let capacity: Int
  private let notice: @Sendable (Int) -> [UInt8]
  private let condition = NSCondition()
  private var waiting: [Line] = []
  /// The index of the next line.
  private var first = 0
  /// Bytes not written yet.
  private var size = 0
  private var total = 0
  /// Dropped lines not reported yet.
  private var untold = 0
  private var isWriting = false
  /// Whether the last line could not be written.
  private var isFailing = false
  private var isStarted = false
  private var isClosed = false

  init(descriptor: Int32, capacity: Int, notice: @escaping @Sendable (Int) -> [UInt8]) {
    self.descriptor = descriptor
    self.capacity = capacity
    self.notice = notice
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    condition.lock()
    defer { condition.unlock() }
    return body()
  }

  private var isEmpty: Bool { first == waiting.count }

  var dropped: Int { locked { total } }

  func add(_ bytes: [UInt8]) {
    locked {
      // A thread only once something is logged.
      if !isStarted {
        isStarted = true
        Thread { [self] in serve() }.start()
      }
      guard size + bytes.count <= capacity else {
        total += 1
        untold += 1
        return
      }
      if untold > 0 { tell() }
      append(Line(bytes: bytes))
      condition.broadcast()
    }
  }

  private func append(_ line: Line) {
    waiting.append(line)
    size += line.bytes.count
  }

  /// Reports the dropped lines in their place.
  private func tell() {
    append(Line(bytes: notice(untold), told: untold))
    untold = 0
  }

  func flush(within limit: Duration) {
    let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
    let end = Date(timeIntervalSinceNow: seconds)
    locked { while !isEmpty || isWriting, condition.wait(until: end) {} }
  }

  func close() {
    locked {
      isClosed = true
      condition.broadcast()
    }
  }

  /// Runs until everything is written after ``close()``.
  private func serve() {
    while true {
      let lines = next()
      guard !lines.isEmpty else { return }
      let bytes = lines.flatMap(\.bytes)
      let written = WaitingWriter.write(bytes, to: descriptor).count
      locked {
        isWriting = false
        isFailing = written < bytes.count
        size -= bytes.count
        var end = 0
        for line in lines {
          end += line.bytes.count
          guard end > written else { continue }
          untold += max(1, line.told)
          if line.told == 0 { total += 1 }
        }
        condition.broadcast()
      }
    }
  }

  /// Waits for lines, and returns up to one piece of them; none: closed.
  private func next() -> [Line] {
    locked {
      while isEmpty {
        // After a failed write, retry with the next line, not at once.
        if untold > 0, !isFailing {
          tell()
        } else if isClosed {
          return []
        } else {
          condition.wait()
        }
      }
      isWriting = true
      var count = waiting[first].bytes.count
      var end = first + 1
      while end < waiting.count, count + waiting[end].bytes.count <= Self.piece {
        count += waiting[end].bytes.count
        end += 1
      }
      let lines = Array(waiting[first..<end])
      first = end
      if isEmpty || first > 1024 {
        waiting.removeFirst(first)
        first = 0
      }
      return lines
    }
  }
}
