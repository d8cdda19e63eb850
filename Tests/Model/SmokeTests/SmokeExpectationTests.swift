import Foundation
import JSON
import Testing

@testable import Model

@Suite("Smoke tests: expected and actual answers")
struct SmokeExpectationTests {
  private static func answer(
    _ outcome: OutcomeKind?, _ reason: String? = nil, parked: String? = nil, displayed: Double? = nil
  ) -> SmokeAnswer {
    SmokeAnswer(
      device: 1, name: "Ada", keys: ["aa", "1a0018970a"], outcome: outcome, reason: reason, stateReason: parked,
      displayedAfter: displayed)
  }

  @Test(
    "an answer fits as outcome or as code; a token that was refused before still counts",
    arguments: [
      ("accepted", answer(.accepted), nil), ("failed", answer(.accepted), "accepted"),
      ("accepted", answer(.failed, "BadDeviceToken"), "BadDeviceToken"),
      ("BadDeviceToken", answer(.failed, "BadDeviceToken"), nil), ("failed", answer(.failed, "BadTopic"), nil),
      ("Expired", answer(.skipped, "Expired (ServiceUnavailable)"), nil),
      ("Unregistered", answer(nil, parked: "Unregistered"), nil),
      ("accepted", answer(nil, parked: "Unregistered"), "Unregistered"), ("accepted", answer(nil), "not_reached"),
    ] as [(String, SmokeAnswer, String?)])
  func fits(expected: String, answer: SmokeAnswer, got: String?) {
    var one = SmokeExpectation()
    one.others = expected
    #expect(one.differences(in: [answer], isOver: true).map(\.got) == (got.map { [$0] } ?? []))
    // The same for a device by its registration ID, whatever holds for others.
    one.others = "unknown"
    one.devices = [.init(device: "1a0018970a", answer: expected)]
    #expect(one.differences(in: [answer], isOver: true).map(\.got) == (got.map { [$0] } ?? []))
  }

  @Test("receipts: in time, late, and missing once nothing more is awaited")
  func receipts() {
    var one = SmokeExpectation()
    one.displayedWithin = 5
    #expect(one.differences(in: [Self.answer(.accepted, displayed: 5)], isOver: true).isEmpty)
    #expect(one.differences(in: [Self.answer(.accepted, displayed: 6)], isOver: true).map(\.got) == ["displayed_late"])
    let mute = [Self.answer(.accepted)]
    #expect(one.waits(for: mute) && one.differences(in: mute, isOver: false).isEmpty)
    #expect(one.differences(in: mute, isOver: true).map(\.got) == ["not_displayed"])
    one.displayedWithin = nil
    #expect(!one.waits(for: mute) && one.differences(in: mute, isOver: true).isEmpty)
  }

  @Test("what the API writes is read back, and a misspelt code is named with the nearest one")
  func json() throws {
    let json: JSONValue = [
      "others": "accepted", "devices": ["1a0018970a": "BadDeviceToken"], "displayed_within": 20,
    ]
    #expect(try SmokeExpectation(json: json).json == json)
    #expect(try SmokeExpectation(json: [:]).json == ["others": "accepted"])
    for (wrong, field, code) in [
      (["others": "acepted"], "others", "smoke.answer_similar"), (["others": "🦊"], "others", "smoke.answer"),
      (["devices": ["x": "BadDeviceTokn"]], "devices[\"x\"]", "smoke.answer_similar"),
      (["displayed_within": 0], "displayed_within", "field.out_of_range"),
    ] as [(JSONValue, String, String)] {
      do {
        _ = try SmokeExpectation(json: wrong)
        Issue.record("\(wrong) was taken")
      } catch {
        #expect(error.all.map(\.code) == [code] && error.all.first?.field.hasSuffix(field) == true, "\(error)")
      }
    }
  }
}
