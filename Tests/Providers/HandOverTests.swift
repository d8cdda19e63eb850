import Foundation
import HTTP2
import Model
import Testing

@testable import Providers

@Suite("The time to live of devices that are handed over one after the other")
struct HandOverTests {
  private static let noon = Date(timeIntervalSince1970: 1_800_000_000)

  private func push(_ change: (inout PushDraft) -> Void) -> ProviderPush {
    var notification = Model.Notification()
    notification.title = "Hello"
    var draft = PushDraft(
      app: "com.example.app", environment: .development, platforms: [.ios], audience: .all, notification: notification)
    change(&draft)
    return ProviderPush(id: 1, uid: "u", seed: 1, draft: draft, sentAt: Self.noon)
  }

  private func device(_ id: Int64, after seconds: TimeInterval?) -> ProviderDevice {
    ProviderDevice(id: id, token: DeviceToken(bytes: [1]), firstAt: seconds.map { Self.noon + $0 })
  }

  @Test("it counts from the hand-over of each; a moment in the header is the same for all")
  func ends() {
    let devices = [device(1, after: nil), device(2, after: 600), device(3, after: 60), device(4, after: 600)]
    for (change, expected) in [
      (
        { $0.options.timeToLive = 300 },
        ["1 at 300, 300 left", "3 at 360, 360 left", "2 4 at 900, 900 left"]
      ),
      ({ $0.options.timeToLive = 0 }, ["1 2 3 4 at 0, – left"]), ({ _ in }, ["1 2 3 4 at –, – left"]),
      (
        { $0.apns.headers = [APNsHeader.expiration: "1800000300"] },
        ["1 2 3 4 at 300, 300 left"]
      ),
    ] as [((inout PushDraft) -> Void, [String])] {
      let push = push(change)
      let payload = APNsPayload(push.draft)
      var found: [String] = []
      push.send(to: devices, noting: nil) { first, devices, _ in
        let request = APNsRequest(payload, sentAt: push.sentAt).expiring(payload, sentAt: first)
        let end = request.headers.first { $0.name == APNsHeader.expiration }?.value
        let shown = end.map { $0 == "0" ? "0" : String((Int($0) ?? 0) - 1_800_000_000) } ?? "–"
        let left = push.timeLeft(at: Self.noon, since: first).map(String.init) ?? "–"
        found.append("\(devices.map { "\($0.id)" }.joined(separator: " ")) at \(shown), \(left) left")
      }
      #expect(found == expected)
    }
  }

  @Test("each device that leaves is noted in its own place")
  func notes() {
    final class Notes: DepartureNotes, @unchecked Sendable {
      // because the test is one thread
      var left: [Int: Int64] = [:]
      func left(_ index: Int, id: Int64) { left[index] = id }
      func returned(_ index: Int) {}
    }
    let notes = Notes()
    push { $0.options.timeToLive = 300 }
      .send(to: [device(7, after: 9), device(8, after: 1), device(9, after: 9)], noting: notes) { _, devices, notes in
        for (index, device) in devices.enumerated() { notes?.left(index, id: device.id) }
      }
    #expect(notes.left == [0: 7, 1: 8, 2: 9])
  }
}
