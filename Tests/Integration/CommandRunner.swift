import Foundation
import JSON
import Logging
import Model
import Reactor
import Synchronization
import TestSupport

@testable import signalbox

/// What a command line did.
struct CommandResult: Sendable {
  let code: Int32
  let output: String
  let errors: String

  /// The output as JSON.
  var json: JSONValue? { try? JSONValue(parsing: Data(output.utf8)) }
  var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// Runs command lines in this process, in a folder of their own.
final class CommandRunner: Sendable {
  /// 2026-11-20 12:00:00 UTC.
  static let noon = Date(timeIntervalSince1970: 1_795_176_000)

  let folder: String
  var data: String { folder + "/data" }

  private init() throws {
    folder = try temporaryFolder().path
  }

  static func with<Value>(_ body: (CommandRunner) async throws -> Value) async throws -> Value {
    let runner = try CommandRunner()
    defer { try? FileManager.default.removeItem(atPath: runner.folder) }  // a left-over folder fails no test
    return try await body(runner)
  }

  /// Runs a command line with `SIGNALBOX_DATA` set.
  @discardableResult
  func run(
    _ words: String..., input: String = "", environment: [String: String] = [:], now: Date = CommandRunner.noon
  ) async -> CommandResult {
    await run(words, input: input, environment: environment, now: now)
  }

  func run(
    _ words: [String], input: String = "", environment: [String: String] = [:], isWatched: Bool = false,
    now: Date = CommandRunner.noon
  ) async -> CommandResult {
    let texts = Texts(input: Data(input.utf8))
    let io = CommandIO(
      write: { text in texts.output.withLock { $0 += text } },
      writeError: { text in texts.errors.withLock { $0 += text } },
      read: { count in
        texts.input.withLock { rest in
          defer { rest = rest.dropFirst(count) }
          return Data(rest.prefix(count))
        }
      },
      isWatched: isWatched, environment: ["SIGNALBOX_DATA": data].merging(environment) { $1 }, now: { now })
    let code = await Signalbox.run(words, io)
    return CommandResult(code: code, output: texts.output.withLock { $0 }, errors: texts.errors.withLock { $0 })
  }

  /// Writes a file into the folder, and gives its path.
  func file(_ name: String, _ text: String) throws -> String {
    let path = "\(folder)/\(name)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  private final class Texts: Sendable {
    let input: Mutex<Data>
    let output = Mutex("")
    let errors = Mutex("")

    init(input: Data) { self.input = Mutex(input) }
  }
}

extension Service.Options {
  /// A data folder served at any free port.
  static func test(_ data: String) -> Self {
    var options = Self()
    options.data = DataDirectory(data)
    options.listen = SocketAddress("127.0.0.1:0")
    options.resources =
      URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path
    options.log = Logger(label: "test", sink: MemorySink())
    return options
  }
}

extension Service {
  /// Serves in this process while `body` runs.
  static func with(_ options: Options, _ body: (Service) async throws -> Void) async throws {
    let service = try await Service(options)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(service))
    } catch {
      result = .failure(error)
    }
    await service.stop()
    try result.get()
  }
}
