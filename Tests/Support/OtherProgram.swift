package import Foundation
internal import Glibc
internal import Synchronization

/// A program of others, as Python or curl.
///
/// Not Foundation's `Process`: that learns of an end through a socket, which the programs that other tests start at the
/// same moment inherit. It then waits for these, too, and two tests can wait for each other for ever.
package final class OtherProgram: Sendable {
  package struct Failure: Error, CustomStringConvertible { package let description: String }

  private enum State {
    case running([CheckedContinuation<Int32, Never>])
    case ended(Int32)
  }

  private let pid: pid_t
  private let state = Mutex(State.running([]))

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - tool: its path, or a name that is looked for on the path.
  ///   - folder: where it runs; nil: where the tests run.
  ///   - environment: what it is told beside the tests' own environment.
  ///   - output: the file that its standard output goes to; nil: nowhere. The folder is there.
  ///   - errors: the same for standard error; may be the same file.
  /// - Throws: ``Failure`` if it cannot be started.
  package init(
    _ tool: String, _ arguments: [String], in folder: URL? = nil, environment: [String: String] = [:],
    output: String? = nil, errors: String? = nil
  ) throws {
    pid = try Self.start(tool, arguments, folder, environment, output, errors)
    Thread { [self] in
      // Without taking it away: until then nobody else gets its id, and `send` may use it.
      var seen = siginfo_t()
      while waitid(P_PID, id_t(pid), &seen, WEXITED | WNOWAIT) < 0, errno == EINTR {}
      end()
    }.start()
  }

  package var isRunning: Bool {
    state.withLock { if case .running = $0 { true } else { false } }
  }

  /// Sends a signal to the program, and to nothing else.
  package func send(_ signal: Int32) {
    state.withLock { if case .running = $0 { _ = kill(pid, signal) } }
  }

  /// Waits for its end.
  ///
  /// - Returns: as a shell says it: its exit status, or 128 and the signal that ended it.
  package func status() async -> Int32 {
    await withCheckedContinuation { continuation in
      let status = state.withLock { state -> Int32? in
        switch state {
        case .ended(let status): return status
        case .running(let waiters):
          state = .running(waiters + [continuation])
          return nil
        }
      }
      if let status { continuation.resume(returning: status) }
    }
  }

  private func end() {
    let (status, waiters) = state.withLock { state in
      let status = Self.wait(for: pid)
      defer { state = .ended(status) }
      if case .running(let waiters) = state { return (status, waiters) }
      return (status, [])
    }
    for waiter in waiters { waiter.resume(returning: status) }
  }

  /// Runs a program to its end, and returns what it wrote to standard output and standard error.
  ///
  /// - Parameter separate: whether what it wrote to standard error is left out.
  package static func run(
    _ tool: String, _ arguments: [String], in folder: URL? = nil, environment: [String: String] = [:],
    separate: Bool = false
  ) async throws -> (status: Int32, output: String) {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }  // a left-over file fails no test
    let program = try OtherProgram(
      tool, arguments, in: folder, environment: environment, output: file.path, errors: separate ? nil : file.path)
    let status = await program.status()
    return (status, String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }

  /// Runs a program that ends soon and needs nothing of the tests, and waits on this thread.
  ///
  /// - Returns: its standard output.
  /// - Throws: ``Failure`` with what it wrote to standard error, unless it ends with 0.
  @discardableResult
  package static func runNow(_ tool: String, _ arguments: [String], in folder: URL? = nil) throws -> Data {
    let name = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    let (output, errors) = (name + ".out", name + ".err")
    // A left-over file fails no test.
    defer { for file in [output, errors] { try? FileManager.default.removeItem(atPath: file) } }
    let status = wait(for: try start(tool, arguments, folder, [:], output, errors))
    guard status == 0 else {
      let words = String(decoding: try Data(contentsOf: URL(filePath: errors)), as: UTF8.self)
      throw Failure(description: "\(tool) \(arguments.joined(separator: " ")) ended with \(status): \(words)")
    }
    return try Data(contentsOf: URL(filePath: output))
  }

  private static func start(
    _ tool: String, _ arguments: [String], _ folder: URL?, _ environment: [String: String], _ output: String?,
    _ errors: String?
  ) throws -> pid_t {
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&files, 1, output ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_addopen(&files, 2, errors ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    // A child of one of Dispatch's threads would be born with SIGTERM held back.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    let place = folder.map { ["-C", $0.path] } ?? []
    var words = (["env"] + place + [tool] + arguments).map { strdup($0) } + [nil]
    var told = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { strdup("\($0)=\($1)") } + [nil]
    defer { for word in words + told { free(word) } }
    var pid: pid_t = 0
    let error = posix_spawn(&pid, "/usr/bin/env", &files, &attributes, &words, &told)
    guard error == 0 else { throw Failure(description: "\(tool): \(String(cString: strerror(error)))") }
    return pid
  }

  private static func wait(for pid: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 { guard errno == EINTR else { return -1 } }
    return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
  }
}
