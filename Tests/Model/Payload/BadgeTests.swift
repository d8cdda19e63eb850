import JSON
import Model
import Testing

@Suite("Badge")
struct BadgeTests {
  @Test(
    "a number sets it, a text with a sign counts; anything else is none",
    arguments: [
      (3, .set(3)), (0, .set(0)), ("+1", .add(1)), ("-12", .add(-12)), ("+0", .add(0)), (-1, nil), (100_000, nil),
      ("1", nil), ("+100000", nil), ("+", nil), ("+1x", nil), ("", nil), (true, nil), (.null, nil),
      ("-100000", nil), ("-9223372036854775808", nil), ("+9223372036854775808", nil),
    ] as [(JSONValue, Badge?)])
  func reading(json: JSONValue, badge: Badge?) {
    #expect(Badge(json: json) == badge)
    if let badge { #expect(badge.json == json) }
  }

  @Test("a counted number stays between 0 and 99999")
  func counting() {
    #expect(Badge.add(1).number(after: 0) == 1 && Badge.add(-3).number(after: 2) == 0)
    #expect(Badge.add(1).number(after: 99_999) == 99_999 && Badge.set(4).number(after: 9) == 4)
  }

  @Test("a payload at its limit leaves room for the largest number")
  func size() {
    var draft = PushDraft(
      app: "com.example.app", environment: .production, platforms: [.ios], audience: .all, notification: Notification())
    draft.notification.badge = .add(1)
    let frame = APNsPayload(draft).body(badge: 99_999).count + ",\"alert\":\"\"".utf8.count
    for (room, isRight) in [(0, true), (1, false)] {
      draft.notification.body = String(repeating: "x", count: 4096 - frame + room)
      #expect(APNsPayload(draft).problems.isEmpty == isRight)
    }
  }
}
