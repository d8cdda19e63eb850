import Foundation
import Glibc
import TestSupport

/// A program that a test starts and ends. It ends by itself after a time, whatever becomes of the test.
final class Child: Sendable {
  /// What it wrote, in its folder.
  let output: String
  let errors: String
  private let pidFile: String
  private let program: OtherProgram

  /// - Parameters:
  ///   - arguments: the program, looked for on the path if it has no slash, and what it is told.
  ///   - limits: of the shell, as `ulimit -f 100`.
  ///   - seconds: after so long it is killed.
  init(_ arguments: [String], in folder: String, limits: String = "true", seconds: Int = 240) throws {
    let name = UUID().uuidString
    (output, errors, pidFile) = ("\(folder)/\(name).out", "\(folder)/\(name).err", "\(folder)/\(name).pid")
    // The shell becomes the program, so that the id it notes is the program's. What a server keeps in memory for the
    // next one goes with the folder, also when it is killed. Whatever the developer's locale, it speaks English.
    program = try OtherProgram(
      "timeout",
      ["-s", "KILL", "\(seconds)", "sh", "-c", #"\#(limits); echo $$ >"$0" && exec "$@""#, pidFile] + arguments,
      in: URL(fileURLWithPath: folder), environment: ["RUNTIME_DIRECTORY": folder, "LC_ALL": "C.UTF-8"], output: output,
      errors: errors)
  }

  /// The program's own process id, nil until it has begun.
  var pid: pid_t? {
    guard let text = try? String(contentsOfFile: pidFile, encoding: .utf8) else { return nil }
    return pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  var isRunning: Bool { program.isRunning }

  var outputText: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
  var errorText: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

  /// Sends a signal to the program, and to nothing else.
  func send(_ signal: Int32) {
    guard isRunning, let pid else { return }
    Glibc.kill(pid, signal)
  }

  /// Waits for the end, which comes: see `seconds`. 137: killed.
  func status() async -> Int32 { await program.status() }

  /// Runs a program to its end.
  static func run(_ program: String, _ arguments: [String], in folder: String) async throws {
    let child = try Child([program] + arguments, in: folder, seconds: 60)
    guard await child.status() == 0 else { throw SceneError("\(program): \(child.errorText)") }
  }

  /// The program `signalbox` beside the tests.
  static func signalbox() throws -> String {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(fileURLWithPath: own).deletingLastPathComponent().path + "/signalbox"
    guard access(path, X_OK) == 0 else { throw SceneError("there is no \(path); build all with --build-tests") }
    return path
  }
}

/// Looks again and again until something is true. For what another process does, which tells nobody.
func eventually(
  _ what: String, within limit: Duration = .seconds(60), every pause: Duration = .milliseconds(20),
  _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while try await !condition() {
    guard ContinuousClock.now < end else { throw SceneError("\(what): not within \(limit)") }
    try await Task.sleep(for: pause)
  }
}

/// Waits for something that nobody can cancel, but not for ever.
func bounded(
  _ what: String, within limit: Duration = .seconds(100), _ body: @escaping @Sendable () async -> Void
) async throws {
  let (first, report) = AsyncStream.makeStream(of: Bool.self)
  Task {
    await body()
    report.yield(true)
  }
  let timer = Task {
    do { try await Task.sleep(for: limit) } catch { return }
    report.yield(false)
  }
  defer { timer.cancel() }
  guard await first.first(where: { _ in true }) == true else { throw SceneError("\(what): not within \(limit)") }
}
