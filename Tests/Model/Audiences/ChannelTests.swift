import Foundation
import JSON
import Testing

@testable import Model

@Suite("Pushes to broadcast channels")
struct ChannelTests {
  private static let id = "dHN0LXNyY2gtY2hubA=="
  private static let update: JSONValue = [
    "aps": ["timestamp": 1_800_000_000, "event": "update", "content-state": ["score": "1:0"]]
  ]

  private static func draft(
    audience: JSONValue = ["channel": .string(id)], options: JSONValue = [:], headers: JSONValue = [:],
    payload: JSONValue = update
  ) throws(Problems) -> PushDraft {
    try PushDraft(json: [
      "app": "com.example.app", "environment": "production", "audience": audience, "options": options,
      "apns": ["payload": payload, "headers": headers],
    ])
  }

  @Test("a channel is an audience of its own, written as it is read")
  func audience() throws {
    let draft = try Self.draft()
    #expect(draft.audience == .channel(Self.id))
    #expect(draft.json["audience"] == ["channel": .string(Self.id)])
    #expect(try PushDraft(json: draft.json) == draft)
  }

  @Test(
    "what is no channel, or more than one audience, is refused",
    arguments: [
      (["channel": "no base64!"], "channel.bad_id"), (["channel": ""], nil), (["channel": 1], nil),
      (["channel": .string(Self.id), "tag": ["beta"]], "channel.alone"),
    ] as [(JSONValue, String?)])
  func refused(audience: JSONValue, code: String?) {
    let problems = #expect(throws: Problems.self) { try Self.draft(audience: audience) }
    if let code { #expect(problems?.all.map(\.code) == [code]) }
  }

  @Test("the headers are the channel's: no topic, and an expiration in any case")
  func headers() throws {
    func headers(_ options: JSONValue) throws -> [String] {
      let payload = APNsPayload(try Self.draft(options: options))
      return payload.headers(sentAt: Date(timeIntervalSince1970: 1000)).map { "\($0.name): \($0.value)" }
    }
    #expect(
      try headers([:]) == [
        "apns-channel-id: \(Self.id)", "apns-push-type: liveactivity", "apns-priority: 10", "apns-expiration: 0",
      ])
    #expect(
      try headers(["time_to_live": 60, "priority": "normal"]) == [
        "apns-channel-id: \(Self.id)", "apns-push-type: liveactivity", "apns-priority: 5", "apns-expiration: 1060",
      ])
    let payload = APNsPayload(try Self.draft())
    #expect(payload.limit == 5120)
    #expect(payload.body == Self.update.bytes)
  }

  @Test("what APNs would refuse of a push to a channel is found before")
  func problems() throws {
    func codes(_ draft: PushDraft) -> [String] {
      Lint.findings(in: draft).filter { $0.severity == .error }.map(\.problem.code)
    }
    #expect(codes(try Self.draft()) == [])
    #expect(codes(try Self.draft(options: ["push_type": "alert"])).contains("channel.push_type"))
    #expect(codes(try Self.draft(options: ["collapse_id": "a"])) == ["channel.header"])
    #expect(codes(try Self.draft(headers: ["apns-topic": "com.example.app"])) == ["channel.header"])
    var start = Self.update
    start = ["aps": ["timestamp": 1, "event": "start", "content-state": [:]]]
    #expect(codes(try Self.draft(payload: start)).contains("channel.start"))
    let words = try PushDraft(json: [
      "app": "com.example.app", "environment": "production", "audience": ["channel": .string(Self.id)],
      "notification": ["title": "Hello"],
    ])
    #expect(!codes(words).isEmpty, "a channel takes only the payload of a Live Activity")
    let large = try Self.draft(payload: [
      "aps": ["timestamp": 1, "event": "end", "content-state": [:]], "x": .string(String(repeating: "x", count: 5120)),
    ])
    #expect(codes(large) == ["payload.too_large"])
  }

  @Test("what is known of the channel is said before the push is sent")
  func known() throws {
    func lines(_ known: KnownChannel?, _ draft: PushDraft) -> [String] {
      var context = Lint.Context()
      context.channel = known
      return Lint.findings(in: draft, context).map {
        expectFilled($0.problem)
        return "\($0.severity) \($0.problem.field) \($0.problem.code)"
      }
    }
    let plain = try Self.draft()
    #expect(plain.platforms == [.ios], "a channel has no other subscribers")
    let kept = try Self.draft(options: ["time_to_live": 60])
    let fixed = try Self.draft(headers: ["apns-expiration": "1800000000"])
    #expect(lines(nil, plain) == [] && lines(.exists(.storesNothing), plain) == [])
    #expect(lines(.exists(nil), kept) == [] && lines(.exists(.storesLatest), kept) == [])
    #expect(lines(.exists(.storesNothing), kept) == ["error options.time_to_live channel.stores_nothing"])
    #expect(lines(.exists(.storesNothing), fixed) == ["error apns.headers.apns-expiration channel.stores_nothing"])
    #expect(Reason.of("BadExpirationDate").cause.contains("channel"), "what APNs answers to a channel nobody knew")
    #expect(lines(.elsewhere, plain) == ["error audience.channel channel.elsewhere"])
    #expect(lines(.gone, plain) == ["warning audience.channel channel.gone"])
    #expect(lines(.unknown, plain) == ["warning audience.channel channel.unknown"])
    var android = plain
    android.platforms = [.android]
    #expect(lines(nil, android) == ["error platforms channel.platforms"])
    android.platforms = [.ios, .android]
    #expect(lines(nil, android) == [], "nothing is said of Android, which gets nothing")
  }

  @Test("the command to copy goes to the channel")
  func command() throws {
    let preview = Preview(try Self.draft(), sentAt: Date(timeIntervalSince1970: 0), address: "http://localhost")
    #expect(preview.apnsCommand.hasSuffix("\"https://api.push.apple.com/4/broadcasts/apps/com.example.app\""))
    func text(_ dialect: Dialect) throws -> DialectText {
      DialectText(try Self.draft(), in: dialect, sentAt: Date(timeIntervalSince1970: 0), address: "http://localhost")
    }
    let (apns, fcm) = (try text(.apns), try text(.fcm))
    #expect(apns.losses == [], "it needs no token")
    let read = try DialectReading(apns.text, now: Date(timeIntervalSince1970: 0))
    #expect(try read.draft == Self.draft() && read.missing.isEmpty, "pasted back, it is the same push")
    #expect(fcm.losses.map(\.field) == ["audience"] && !fcm.text.contains("apns-channel-id"))
  }
}
