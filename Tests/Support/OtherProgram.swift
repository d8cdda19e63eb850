package import Foundation
internal import Reactor

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
    try process.run()
    let pool = BlockingPool(name: "process", threads: 1)
    defer { pool.stop() }
    try await pool.run { [process] in process.waitUntilExit() }
    return (process.terminationStatus, try String(contentsOf: file, encoding: .utf8))
  }
}
