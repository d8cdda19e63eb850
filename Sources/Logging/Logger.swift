package import Foundation

/// swift-log's seven levels.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
  case trace, debug, info, notice, warning, error, critical

  package static func < (one: LogLevel, other: LogLevel) -> Bool { one.weight < other.weight }

  private var weight: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

package struct LogEntry: Sendable {
  package let time: Date
  package let level: LogLevel
  /// The part of the program that logs.
  package let label: String
  /// A constant sentence; variable data goes into the metadata.
  package let message: String
  /// Dotted names such as `push.id`, in the given order. Never a secret.
  package let metadata: [(key: String, value: String)]
  package init(
    time: Date, level: LogLevel, label: String, message: String, metadata: [(key: String, value: String)]
  ) {
    self.time = time
    self.level = level
    self.label = label
    self.message = message
    self.metadata = metadata
  }
}

/// Where entries go.
package protocol LogSink: Sendable {
  /// May be called from any thread; must not block.
  func write(_ entry: LogEntry)
  /// Waits until accepted entries are written, at most for `limit`.
  func flush(within limit: Duration)
}

extension LogSink {
  package func flush(within limit: Duration) {}
}

/// Writes entries of at least one level to a sink.
package struct Logger: Sendable {
  package let label: String
  /// Entries below it are dropped.
  package let level: LogLevel
  private let sink: any LogSink
  private let now: @Sendable () -> Date
  package init(
    label: String, level: LogLevel = .info, sink: any LogSink, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.label = label
    self.level = level
    self.sink = sink
    self.now = now
  }

  package func labelled(_ label: String) -> Logger { Logger(label: label, level: level, sink: sink, now: now) }

  /// Waits until logged entries are written, at most for `limit`: for the end of a process.
  package func flush(within limit: Duration) { sink.flush(within: limit) }

  /// Writes an entry; the metadata is computed only if the level is high enough.
  package func log(
    _ level: LogLevel, _ message: String,
    _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) {
    guard level >= self.level else { return }
    let pairs = metadata().map { (key: $0.key, value: $0.value.description) }
    sink.write(LogEntry(time: now(), level: level, label: label, message: message, metadata: pairs))
  }

  /// For developers.
  package func debug(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.debug, message, metadata()) }

  /// Normal operation.
  package func info(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.info, message, metadata()) }

  /// Normal but rare.
  package func notice(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.notice, message, metadata()) }

  /// Someone can and should act.
  package func warning(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.warning, message, metadata()) }

  /// A failure.
  package func error(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.error, message, metadata()) }
}
