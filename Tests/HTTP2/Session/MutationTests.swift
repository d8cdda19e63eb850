import TestSupport
import Testing

@testable import HTTP2

@Suite("HTTP/2 client and bytes at random")
struct MutationTests {
  typealias Scene = SessionScene

  /// What a good server may send, changed in a few places, in pieces of any size. The numbers are the same in every
  /// run; whoever looks for more gives other seeds.
  @Test("never fails but with a reason, and ends no request twice", arguments: 0..<64)
  func survives(seed: UInt64) throws {
    var numbers = SeededNumbers(seed: seed)
    let scripts =
      (AnswerTests.good + AnswerTests.malformed + AnswerTests.broken).map(\.bytes)
      + HostileServerTests.fatal.map(\.bytes)
    for _ in 0..<40 {
      var bytes = (0..<Int.random(in: 1...6, using: &numbers)).flatMap { _ in
        scripts.randomElement(using: &numbers) ?? []
      }
      for _ in 0..<Int.random(in: 0...8, using: &numbers) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &numbers)
        switch Int.random(in: 0..<5, using: &numbers) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 9))
        }
      }
      try play(bytes, &numbers)
    }
  }

  private func play(_ bytes: [UInt8], _ numbers: inout SeededNumbers) throws {
    var scene = try Scene(settings: Bool.random(using: &numbers) ? [] : [(4, 5)])
    scene.submit(4)
    var rest = bytes[...]
    var failure: SessionFailure?
    while !rest.isEmpty, failure == nil {
      let piece = Array(rest.prefix(Int.random(in: 1...40_000, using: &numbers)))
      rest = rest.dropFirst(piece.count)
      do { try scene.receive(piece) } catch { failure = error }
    }
    #expect(failure?.message.isEmpty != true)
    let ids = scene.session.ended.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(ids.count + scene.session.slots.used == 4)
    // Acknowledgements at most: nothing that grows beyond what came.
    #expect(scene.session.output.count <= 1000 + 2 * bytes.count)
    _ = scene.frames()
  }
}
