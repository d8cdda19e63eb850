import Arguments
import Foundation
import Glibc

/// What a command may touch of its surroundings, so that tests can run it without a process.
struct CommandIO: Sendable {
  /// Writes a text to standard output, as it is. What cannot be written is noted in ``outputFailure``.
  var write: @Sendable (String) -> Void
  /// Writes a text to standard error, as it is.
  var writeError: @Sendable (String) -> Void
  /// The next bytes of standard input, at most so many; empty at its end.
  var read: @Sendable (Int) throws -> Data
  /// Whether a person watches standard error.
  var isWatched: Bool
  var environment: [String: String]
  var now: @Sendable () -> Date
  /// Why something could not be written to standard output, nil as long as all was.
  var outputFailure: @Sendable () -> OutputFailure? = { nil }

  /// The process's own.
  static let standard = CommandIO(
    write: { StandardStream.output.write($0) },
    writeError: { StandardStream.error.write($0) },
    read: { Data(try StandardStream.read($0)) },
    isWatched: isatty(STDERR_FILENO) == 1,
    environment: ProcessInfo.processInfo.environment,
    now: { Date() },
    outputFailure: { StandardStream.output.failure })

  /// Standard input to its end, but not more than `limit` bytes.
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

  /// Stops what only makes sense if it is read.
  ///
  /// - Throws: ``OutputFailure`` if standard output could not be written.
  func checkOutput() throws { if let failure = outputFailure() { throw failure } }

  /// A line on standard output.
  func print(_ line: String) { write(line + "\n") }

  /// Tells what went wrong, on standard error.
  func complain(_ message: String) { writeError("signalbox: error: \(message)\n") }

  /// Tells what is worth knowing, on standard error: standard output stays for what was asked for.
  func note(_ message: String) { writeError("signalbox: \(message)\n") }

  /// Shows how far it is, in place of what stood there; only to a person.
  func progress(_ text: String) { if isWatched { writeError("\r\u{1B}[K\(text)") } }

  /// Takes the progress away.
  func endProgress() { if isWatched { writeError("\r\u{1B}[K") } }
}

/// What a command of the list does; gives the exit code.
typealias Action = @Sendable (Parsed, CommandIO) async throws -> Int32

/// Exit codes that scripts rely on.
enum ExitCode {
  static let done: Int32 = 0
  static let failed: Int32 = 1
  /// `EX_USAGE` of sysexits.h.
  static let usage: Int32 = 64
  /// `EX_TEMPFAIL`: begun and not ended; what is left is told, and who does it.
  static let unfinished: Int32 = 75
}

/// Why a command did not do what it was asked, in words that say what to do.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
  var exitCode = ExitCode.failed

  init(_ description: String, exitCode: Int32 = ExitCode.failed) {
    self.description = description
    self.exitCode = exitCode
  }

  /// The command line can be read, and asks for what cannot be.
  static func usage(_ description: String) -> CommandFailure {
    CommandFailure(description, exitCode: ExitCode.usage)
  }
}
