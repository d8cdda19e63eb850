import Foundation

/// A temporary folder in which the command line of OpenSSL makes files: the truth that the tests compare with.
struct OpenSSLCommand: ~Copyable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("openssl-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs `openssl` with these arguments in the folder; returns its standard output.
  @discardableResult
  func callAsFunction(_ arguments: String...) throws -> Data { try run(arguments) }

  @discardableResult
  func run(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.currentDirectoryURL = folder
    let output = Pipe()
    let errors = folder.appendingPathComponent("errors.txt")
    try Data().write(to: errors)
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let words = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
      throw Failure(description: "openssl \(arguments.joined(separator: " ")): \(words)")
    }
    return data
  }

  func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }
  func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }
  func write(_ data: Data, to name: String) throws { try data.write(to: folder.appendingPathComponent(name)) }

}

/// Numbers that look random and are the same in every run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }
}

/// 2026-11-20 12:00:00 UTC.
let noon = Date(timeIntervalSince1970: 1_795_176_000)
let day = 86_400.0
