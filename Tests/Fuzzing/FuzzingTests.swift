import Foundation
import TestSupport
import Testing

/// The corpus of `script/fuzz`: inputs that reach each part of the readers, and every input that once failed.
@Suite("Hostile bytes")
struct FuzzingTests {
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

  @Test("what fuzzing found", arguments: FuzzTarget.allCases)
  func replay(target: FuzzTarget) throws {
    let folder = Self.corpus.appending(path: target.rawValue)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 3, "script/fuzz --keep \(target.rawValue) writes them")
    for file in files { target.run(Array(try Data(contentsOf: file))) }
  }

  /// The corpus again, each file changed in a few places. The numbers are the same in every run.
  @Test("and what is close to it", arguments: FuzzTarget.allCases)
  func mutations(target: FuzzTarget) throws {
    var numbers = SeededNumbers(seed: 15)
    let folder = Self.corpus.appending(path: target.rawValue)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
    for file in files.prefix(100) {
      var bytes = Array(try Data(contentsOf: file))
      for _ in 0..<3 where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
      }
      target.run(bytes)
    }
  }
}
