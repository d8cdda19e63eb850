import HTTP2
import Model
import Synchronization
import Testing

@testable import Providers

@Suite("A push in several languages, by its texts")
struct VariantTests {
  private final class Notes: DepartureNotes {
    let seen = Mutex<[String]>([])

    func left(_ index: Int, id: Int64) { seen.withLock { $0.append("left \(index) \(id)") } }
    func returned(_ index: Int) { seen.withLock { $0.append("returned \(index)") } }
  }

  private static func device(_ id: Int64, _ variant: Int) -> ProviderDevice {
    ProviderDevice(id: id, token: DeviceToken(bytes: [1]), variant: variant)
  }

  @Test("devices of one text are one batch, in their order; each departure is noted at its place in the page")
  func batches() {
    let notes = Notes()
    var batches: [String] = []
    let devices = [(10, 2), (11, 0), (12, 2), (13, 1), (14, 9)].map { Self.device($0, $1) }
    Variants(["default", "de", "zh"]).send(to: devices, noting: notes) { text, devices, notes in
      batches.append("\(text) \(devices.map(\.id))")
      guard let last = devices.last else { return }
      notes?.left(devices.count - 1, id: last.id)
      notes?.returned(0)
    }
    // A text that the push does not have is the default one.
    #expect(batches == ["default [11]", "de [13]", "zh [10, 12]", "default [14]"])
    let seen = notes.seen.withLock { $0 }
    #expect(
      seen == [
        "left 1 11", "returned 1", "left 3 13", "returned 3", "left 2 12", "returned 0", "left 4 14", "returned 4",
      ])
  }

  @Test("a push with one text hands its devices and notes on as they are")
  func one() {
    let notes = Notes()
    var count = 0
    Variants(["default"]).send(to: [Self.device(1, 0), Self.device(2, 0)], noting: notes) { _, devices, given in
      count += 1
      #expect(devices.map(\.id) == [1, 2] && given === notes)
    }
    #expect(count == 1)
  }
}
