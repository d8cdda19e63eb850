package import Foundation

/// How much an entry matters; swift-log's seven levels.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
  case trace, debug, info, notice, warning, error, critical

  /// By weight.
  package static func < (one: LogLevel, other: LogLevel) -> Bool { one.weight < other.weight }

  private var weight: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One thing that happened.
package struct LogEntry: Sendable {
  /// When.
  package let time: Date
  /// How much it matters.
  package let level: LogLevel
  /// Which part of the program speaks.
  package let label: String
  /// A constant sentence: what changes stands in the metadata.
  package let message: String
  /// Dotted names such as `push.id`, in the order given. Never a secret.
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
  /// Takes an entry; may be called from any thread, and waits for nobody.
  func write(_ entry: LogEntry)
  /// Waits until what was taken is where it belongs, but not longer than `limit`.
  func flush(within limit: Duration)
}

extension LogSink {
  /// Nothing: for a sink that keeps nothing back.
  package func flush(within limit: Duration) {}
}

/// Writes entries of at least one level to a sink.
package struct Logger: Sendable {
  /// Which part of the program speaks.
  package let label: String
  /// Entries below are dropped.
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

  /// The same logger for another part of the program.
  package func labelled(_ label: String) -> Logger { Logger(label: label, level: level, sink: sink, now: now) }

  /// Waits until what was logged is written, but not longer than `limit`: at the end of a process.
  package func flush(within limit: Duration) { sink.flush(within: limit) }

  /// Writes an entry; the metadata is not computed if the level is too low.
  package func log(
    _ level: LogLevel, _ message: String,
    _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) {
    guard level >= self.level else { return }
    let pairs = metadata().map { (key: $0.key, value: $0.value.description) }
    sink.write(LogEntry(time: now(), level: level, label: label, message: message, metadata: pairs))
  }

  /// Writes what only a developer wants to know.
  package func debug(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.debug, message, metadata()) }

  /// Writes what happened as it should.
  package func info(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.info, message, metadata()) }

  /// Writes what happens seldom, as it should.
  package func notice(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.notice, message, metadata()) }

  /// Writes what somebody can and should do something about.
  package func warning(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.warning, message, metadata()) }

  /// Writes what failed.
  package func error(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.error, message, metadata()) }

  /// A message of the level critical.
  package func critical(
    _ message: String, _ metadata: @autoclosure () -> KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) { log(.critical, message, metadata()) }
}
