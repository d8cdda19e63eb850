import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("Subscriptions of topics: the rules and the queue")
struct TopicTests {
  private struct Line: Hashable {
    let topic: String
    let environment: Environment
    let joins: Bool
    let state: Int
  }

  private func lines(_ database: Database, _ device: Int64) throws -> [Line] {
    try database.fetchAll(
      """
      SELECT t.name, t.environment, s.joins, s.state FROM topic_subscriptions s JOIN topics t ON t.id = s.topic_id
      WHERE s.device_id = ? ORDER BY t.name, t.environment
      """, device
    ) { row in
      Line(
        topic: row.text(0), environment: try Environment(code: row.int(1)), joins: row.bool(2), state: row.int(3))
    }
  }

  /// The topics that FCM has a device in, or will.
  private func names(_ database: Database, _ device: Int64) throws -> [String] {
    try lines(database, device).filter(\.joins).map(\.topic)
  }

  /// Compares until nothing is left.
  private func check(_ database: Database, at date: Date = noon) throws {
    while try TopicSubscription.hasChecks(database) { try TopicSubscription.check(database, now: date) }
  }

  /// Carries out everything that is due; FCM does all of it unless `ending` says otherwise.
  @discardableResult
  private func carryOut(
    _ database: Database, at date: Date = noon,
    _ ending: (TopicSubscription) -> TopicSubscription.Ending = { _ in .done }
  ) throws -> [String] {
    var made: [String] = []
    while let due = try TopicSubscription.due(database, now: date, size: 1000) {
      for (topic, lines) in due.batches {
        made.append("\(lines.first?.joins == true ? "+" : "-")\(topic) \(lines.count)")
        try TopicSubscription.record(
          database, lines.map { (line: $0, ending: ending($0)) }, askedAt: date, now: date)
      }
    }
    return made
  }

  private func take(
    _ database: Database, _ app: App, _ number: Int, _ environment: Environment = .production,
    version: String? = nil, zone: String? = nil, previous: Int? = nil, at date: Date = noon
  ) throws -> Device {
    var input = AppRegistration(app: app.id, registration(number, environment, .android))
    input.details = DeviceDetails(appVersion: version, timeZone: zone)
    input.previousToken = previous.map(token)
    _ = try AppRegistration.register(database, [input], now: date)
    return try #require(try Device.find(database, app: app.id, token: token(number)))
  }

  @Test("a change by a segment takes the devices that belonged to it when the change was made, however late")
  func lateChange() throws {
    try withApp { database, app in
      _ = try take(database, app, 1)
      let rule = try SegmentRule(json: ["last_seen": ["within_days": 1]])
      _ = try Segment.add(database, app: app.id, name: "New", rule, by: "ada", now: noon)
      let change = try TopicChange.create(
        database, app: app.id, environment: .production, topic: "news", joins: true,
        audience: try #require(Audience(draft: ["audience": ["segment": ["New"]]])), by: "ada", now: noon)
      try TopicChange.work(database, now: noon + 10 * 86_400)
      #expect(try TopicChange.find(database, app: app.id, id: change.id)?.devices == 1)
    }
  }

  @Test("rules that are switched on reach the devices that are there, one batch a topic, and no iPhone")
  func switchedOn() throws {
    try withApp { database, app in
      let devices = try (1...3).map { try take(database, app, $0, version: "1.0", zone: "Asia/Shanghai") }
      _ = try Device.register(database, app: app.id, [registration(9)], now: noon)
      #expect(try !TopicSubscription.hasChecks(database), "an app without rules notes nothing")
      try TopicRules.set(database, app: app.id, Set(TopicRule.allCases))
      #expect(try TopicRules.find(database, app: app.id).unchecked > 0)
      try check(database)
      #expect(try TopicRules.find(database, app: app.id).unchecked == 0)
      let wanted = ["common", "platform-android", "timezone-Asia%2FShanghai", "version-1.0"]
      for device in devices { #expect(try names(database, device.id) == wanted) }
      #expect(try carryOut(database) == wanted.map { "+\($0) 3" })
      let topics = try Topic.all(database, app: app.id)
      #expect(topics.map(\.name) == wanted && topics.allSatisfy { $0.subscribed == 3 && $0.pending == 0 })
      #expect(try carryOut(database) == [])
      try TopicRules.set(database, app: app.id, [.common])
      try check(database)
      #expect(try carryOut(database).sorted() == wanted.dropFirst().map { "-\($0) 3" })
      #expect(try Topic.all(database, app: app.id).map(\.name) == ["common"])
    }
  }

  @Test("a device that registers, changes version or zone, moves or gets a new token is brought up to date")
  func changes() throws {
    try withApp { database, app in
      try TopicRules.set(database, app: app.id, Set(TopicRule.allCases))
      try check(database)
      var device = try take(database, app, 1, version: "1.0", zone: "UTC")
      try check(database)
      #expect(try carryOut(database).count == 4)
      _ = try take(database, app, 1, version: "1.0", zone: "UTC", at: noon + 1)
      #expect(try !TopicSubscription.hasChecks(database), "the same once more changes nothing")
      device = try take(database, app, 1, version: "1.1", at: noon + 2)
      try check(database)
      #expect(try carryOut(database, at: noon + 2) == ["-version-1.0 1", "+version-1.1 1"])
      device = try take(database, app, 1, zone: "Asia/Tokyo", at: noon + 3)
      try check(database)
      #expect(try Set(carryOut(database, at: noon + 3)) == ["-timezone-UTC 1", "+timezone-Asia%2FTokyo 1"])

      _ = try Device.release(database, id: device.id, environment: .development, by: "anna", now: noon + 4)
      try check(database)
      try carryOut(database, at: noon + 5)
      let moved = try lines(database, device.id)
      #expect(moved.count == 4 && moved.allSatisfy { $0.environment == .development && $0.joins && $0.state == 2 })

      let renewed = try take(database, app, 2, .development, previous: 1, at: noon + 6)
      #expect(renewed.id == device.id)
      try check(database)
      var tokens: Set<DeviceToken> = []
      try carryOut(database, at: noon + 6) {
        tokens.insert($0.token)
        return .done
      }
      #expect(tokens == [token(2)], "the old token is gone from its topics with itself")
    }
  }

  @Test("who leaves for a move joins again, because both environments can be one project of Firebase")
  func shared() throws {
    try withApp { database, app in
      try TopicRules.set(database, app: app.id, [.common])
      let device = try take(database, app, 1)
      try check(database)
      try carryOut(database)
      _ = try Device.release(database, id: device.id, environment: .development, by: "anna", now: noon + 1)
      try check(database)
      // FCM's own view: one subscription for the token, whichever row asks.
      var isIn = true
      try carryOut(database, at: noon + 2) {
        isIn = $0.joins
        return .done
      }
      #expect(isIn)
      #expect(
        try lines(database, device.id) == [Line(topic: "common", environment: .development, joins: true, state: 2)])
    }
  }

  @Test("refusals retire and park devices; what cannot be done now is done later")
  func endings() throws {
    try withApp { database, app in
      try TopicRules.set(database, app: app.id, [.common])
      let devices = try (1...4).map { try take(database, app, $0) }
      try check(database)
      let later = noon + 60
      try carryOut(database, at: noon + 1) { line in
        switch devices.firstIndex(where: { $0.id == line.deviceID }) {
        case 0: .refused(reason: "UNREGISTERED")
        case 1: .refused(reason: "INVALID_ARGUMENT")
        case 2: .refused(reason: "TOO_MANY_TOPICS")
        default: .later(reason: "QUOTA_EXCEEDED", at: later)
        }
      }
      let states = try devices.map { try Device.get(database, id: $0.id).state }
      #expect(states == [.dead, .quarantined, .active, .active])
      let delays = try TopicSubscription.delays(database, app: app.id)
      #expect(delays.map(\.reason) == ["QUOTA_EXCEEDED"] && delays.map(\.next) == [later])
      let early = try TopicSubscription.due(database, now: later - 1, size: 1000)
      #expect(early?.batches.count == nil)
      try check(database)
      #expect(try lines(database, devices[0].id) == [], "FCM has forgotten it")
      #expect(try carryOut(database, at: later) == ["+common 1"])
      let topic = try #require(try Topic.all(database, app: app.id).first)
      #expect(topic.subscribed == 1 && topic.pending == 0 && topic.refused == 2)
    }
  }

  @Test("a deleted device leaves, and a change that came in between is not lost by a late answer")
  func races() throws {
    try withApp { database, app in
      try TopicRules.set(database, app: app.id, [.version])
      let device = try take(database, app, 1, version: "1.0")
      try check(database)
      let asked = try #require(try TopicSubscription.due(database, now: noon, size: 1000))
      _ = try take(database, app, 1, version: "2.0", at: noon + 1)
      try check(database, at: noon + 1)
      let late = asked.batches.flatMap(\.lines).map { (line: $0, ending: TopicSubscription.Ending.done) }
      try TopicSubscription.record(database, late, askedAt: noon, now: noon + 2)
      #expect(try Set(carryOut(database, at: noon + 2)) == ["-version-1.0 1", "+version-2.0 1"])
      try Device.delete(database, id: device.id, now: noon + 3)
      try check(database, at: noon + 3)
      #expect(try carryOut(database, at: noon + 3) == ["-version-2.0 1"])
      #expect(try Topic.all(database, app: app.id) == [])
    }
  }

  @Test("the worker has quiet time exactly while it would find nothing to do")
  func quietTime() throws {
    try withApp { database, app in
      func quiet() throws -> [Bool] {
        let quiet = try TopicSubscription.quietTime(database)
        return try [0, 59.999, 60].map { offset in
          let (now, isQuiet) = (noon + offset, quiet.contains(noon + offset))
          let due = try TopicSubscription.due(database, now: now, size: 1000)
          let hasChange = try TopicSubscription.hasChecks(database) || TopicChange.isDue(database, now: now)
          #expect((due == nil && !hasChange) == isQuiet, "\(offset)")
          return isQuiet
        }
      }
      let device = try take(database, app, 1)
      #expect(try quiet() == [true, true, true])
      try TopicRules.set(database, app: app.id, [.common])
      #expect(try quiet() == [false, false, false], "the device is to be compared with the rules")
      try check(database, at: noon + 60)
      #expect(try quiet() == [true, true, false], "the subscription is due")
      try carryOut(database, at: noon + 60)
      #expect(try quiet() == [true, true, true])
      _ = try TopicChange.create(
        database, app: app.id, environment: .production, topic: "news", joins: true,
        audience: try #require(Audience(draft: ["audience": "all"])), by: "ada", now: noon + 60)
      #expect(try quiet() == [true, true, false], "the audience is to be queued")
      _ = try Device.delete(database, id: device.id, now: noon + 60)
      #expect(try quiet() == [false, false, false], "the deleted device leaves its topics")
    }
  }

  @Test("a batch has at most the given size, and a change by hand is no business of the rules")
  func sizes() throws {
    try withApp { database, app in
      try TopicRules.set(database, app: app.id, [.common])
      let devices = try (1...5).map { try take(database, app, $0) }
      try TopicSubscription.keep(
        database, app: app.id, environment: .production, topic: "news", joins: true,
        [(device: devices[0].id, token: devices[0].token, ending: .done)], askedAt: noon, now: noon)
      try check(database)
      let due = try #require(try TopicSubscription.due(database, now: noon, size: 2))
      #expect(due.batches.map(\.lines.count) == [2, 2, 1])
      try carryOut(database)
      #expect(try names(database, devices[0].id) == ["common", "news"])
      try TopicRules.set(database, app: app.id, [])
      try check(database)
      try carryOut(database)
      #expect(try names(database, devices[0].id) == ["news"])
    }
  }
}
