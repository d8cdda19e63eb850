package import Foundation

/// Programs of others, as Python and curl.
package enum OtherProgram {
  /// Runs a program to its end, and returns what it wrote to standard output and standard error.
  ///
  /// - Parameters:
  ///   - folder: where it runs; nil: where the tests run.
  ///   - environment: what it is told beside the tests' own environment.
  package static func run(
    _ tool: String, _ arguments: [String], in folder: URL? = nil, environment: [String: String] = [:]
  ) async throws -> (status: Int32, output: String) {
    // A file, not a pipe: other children of this process would inherit a pipe's end and keep it open.
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }  // a left-over file fails no test
    let handle = try FileHandle(forWritingTo: file)
    defer { handle.closeFile() }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = folder }
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = handle
    process.standardError = handle
    // `waitUntilExit` asks again and again, and would keep a core busy for as long as the program runs.
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do {
        try process.run()
      } catch {
        ended.resume(throwing: error)
      }
    }
    return (process.terminationStatus, try String(contentsOf: file, encoding: .utf8))
  }
}
