import Arguments
import Foundation
import Glibc
import JSON
import Logging
import Model
import Reactor
import Text

/// A command's access to its surroundings, so that tests can run it in-process.
struct CommandIO: Sendable {
  /// Writes to standard output. Failures are recorded in ``outputFailure``.
  var write: @Sendable (String) -> Void
  /// Writes to standard error.
  var writeError: @Sendable (String) -> Void
  /// Reads at most the given number of bytes from standard input; empty at its end.
  var read: @Sendable (Int) throws -> Data
  /// Whether standard error is a terminal.
  var isWatched: Bool
  var environment: [String: String]
  var now: @Sendable () -> Date
  /// How announcements, notices and errors are written: as text, or each as a line of the JSON log. Results stay as
  /// they are.
  var format = LogFormat.text
  /// The language of what people read; nil: English. What scripts read is always English.
  var translation: CommandTexts?
  /// Which connections go through a proxy; see ``proxied(_:)``.
  var proxies = ProxyRules.none
  /// The first error of standard output; nil if all writes succeeded.
  var outputFailure: @Sendable () -> OutputFailure? = { nil }
  /// Lets the command end well although standard output could not be written.
  var forgiveOutput: @Sendable () -> Void = {}

  static let standard = CommandIO(
    write: { StandardStream.output.write($0) },
    writeError: { StandardStream.error.write($0) },
    read: { Data(try StandardStream.read($0)) },
    isWatched: isatty(STDERR_FILENO) == 1,
    environment: ProcessInfo.processInfo.environment,
    now: { Date() },
    outputFailure: { StandardStream.output.failure },
    forgiveOutput: { StandardStream.output.forgive() })

  /// Reads standard input to its end, or until there are `limit` bytes.
  ///
  /// - Throws: ``CommandFailure`` if it cannot be read.
  func readAll(limit: Int) throws -> Data {
    var data = Data()
    while data.count < limit {
      let next: Data
      do { next = try read(limit - data.count) } catch {
        throw CommandFailure("standard input cannot be read: \(error)")
      }
      if next.isEmpty { break }
      data += next
    }
    return data
  }

  /// Stops a command whose only effect is its output.
  ///
  /// - Throws: ``OutputFailure`` if standard output could not be written.
  func checkOutput() throws { if let failure = outputFailure() { throw failure } }

  /// Writes a line as it is: JSON, or a text that is in the right language already.
  func print(_ line: String) { write(line + "\n") }

  /// Writes a message to standard output.
  func say(_ message: Message) { print(text(message)) }

  /// A message in the language of the command.
  func text(_ message: Message) -> String { message.text(in: translation) }

  /// A word of the API, such as `active`, in the language of the command.
  ///
  /// - Parameter prefix: of the keys that words of its kind have in `Templates/locales`, such as `state.`.
  func word(_ word: String, _ prefix: String) -> String { text("\(PageWord(word, prefix))") }

  /// A sentence that the engine stored in the database, or a room below wrote.
  func recorded(_ sentence: String) -> String { text("\(EnglishSentence(sentence))") }

  func cause(_ reason: Reason) -> String { translation?.cause(reason) ?? reason.cause }
  func remedy(_ reason: Reason) -> String { translation?.remedy(reason) ?? reason.remedy }

  /// Names, as `a, b`.
  func list(_ names: [String]) -> String { names.joined(separator: text(", ")) }

  /// Whole sentences one after the other: with a blank, except after a full-width full stop, which contains it.
  func sentences(_ parts: [String]) -> String {
    parts.reduce(into: "") { $0 += ($0.isEmpty || $0.hasSuffix("。") ? "" : " ") + $1 }
  }

  func table(_ headings: Message...) -> TextTable { TextTable(headings.map(text)) }

  /// Writes an address to standard output.
  ///
  /// - Parameters:
  ///   - message: for the JSON log, which has the address as a value.
  ///   - text: for people, with the address in it.
  func announce(_ message: String, address: String, text: Message) {
    let line = format == .text ? self.text(text) + "\n" : logLine(.notice, message, [("address", address)])
    write(line)
    // Somebody may read standard error, and nobody else learns the address.
    if outputFailure() != nil { writeError(line) }
  }

  /// Writes an error to standard error.
  func complain(_ message: Message) {
    switch format {
    // Scripts look for the word.
    case .text: writeError("signalbox: error: \(text(message))\n")
    case .json: writeError(logLine(.error, message.description))
    }
  }

  /// Writes a notice to standard error, so that standard output holds only results.
  func note(_ message: Message) {
    switch format {
    case .text: writeError("signalbox: \(text(message))\n")
    case .json: writeError(logLine(.warning, message.description))
    }
  }

  /// Says on standard error what to do next, if there is nothing to list: standard output holds only results.
  func hint(ifEmpty list: some Collection, _ message: Message) { if list.isEmpty { note(message) } }

  private func logLine(
    _ level: LogLevel, _ message: String, _ metadata: [(key: String, value: String)] = []
  ) -> String {
    LogFormat.json.line(LogEntry(time: now(), level: level, label: "signalbox", message: message, metadata: metadata))
  }

  /// Shows progress on one line; only on a terminal.
  func progress(_ message: Message) { if isWatched { writeError("\r\u{1B}[K\(text(message))") } }

  /// Clears the progress line.
  func endProgress() { if isWatched { writeError("\r\u{1B}[K") } }
}

/// Runs a command and returns its exit code.
typealias Action = @Sendable (Parsed, CommandIO) async throws -> Int32

/// Exit codes that scripts rely on.
enum ExitCode {
  static let done: Int32 = 0
  static let failed: Int32 = 1
  /// `EX_USAGE` of sysexits.h.
  static let usage: Int32 = 64
  /// `EX_TEMPFAIL`: started but not finished; the message says what is left, and what will finish it.
  static let unfinished: Int32 = 75
}

/// The reason why a command failed, with the fix.
struct CommandFailure: Error, CustomStringConvertible {
  let message: Message
  var exitCode = ExitCode.failed

  init(_ message: Message, exitCode: Int32 = ExitCode.failed) { (self.message, self.exitCode) = (message, exitCode) }

  /// In English.
  var description: String { message.description }

  /// The arguments can be parsed, but ask for something impossible.
  static func usage(_ message: Message) -> CommandFailure { CommandFailure(message, exitCode: ExitCode.usage) }
}

/// Rows under headings, in aligned columns, for a terminal.
struct TextTable {
  private var rows: [[String]]

  init(_ headings: [String]) { rows = [headings] }

  mutating func add(_ cells: String...) { add(cells) }

  mutating func add(_ cells: [String]) { rows.append(cells.map(singleLine)) }

  /// Lines without line ends; only the headings if there are no rows.
  var lines: [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
    return rows.map { row in
      let line = zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}

/// Keeps stored names from adding lines to a list or sending control codes to the terminal.
func singleLine(_ text: String) -> String { text.singleLine }

extension CommandIO {
  func print(_ table: TextTable) { for line in table.lines { print(line) } }

  /// Prints a list: with `--json` what the API says of each item, otherwise a table with a row for each.
  func print<Item, Answer: JSONWritable>(
    _ items: [Item], as answer: (Item) -> Answer, _ values: Parsed, in table: TextTable, row: (Item) -> [String]
  ) {
    if values[CommonOptions.json] { return print(items.map(answer).prettyJSON) }
    var table = table
    for item in items { table.add(row(item)) }
    print(table)
  }

  func print<Item: JSONWritable>(_ items: [Item], _ values: Parsed, in table: TextTable, row: (Item) -> [String]) {
    print(items, as: { $0 }, values, in: table, row: row)
  }
}
