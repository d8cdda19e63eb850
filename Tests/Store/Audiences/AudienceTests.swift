import Foundation
import Model
import SQLite
import TestSupport
import Testing

@testable import Store

@Suite struct AudienceTests {
  /// 300 devices of two apps in every environment, platform and state, with tags, aliases and registration ids.
  private func withAudience(_ body: (Database, App, [Device]) throws -> Void) throws {
    try withApp { database, app in
      var dice = SeededNumbers(seed: 7)
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      let tags = ["a", "b", "c", "d", "rare"]
      for number in 0..<300 {
        let some = tags.filter { $0 == "rare" ? number.isMultiple(of: 40) : Bool.random(using: &dice) }
        let row = registration(
          number, Bool.random(using: &dice) ? .production : .development, Bool.random(using: &dice) ? .ios : .android,
          alias: "usr_\(number % 60)", tags: some, registrationID: "r\(number)")
        let id = try register(database, number.isMultiple(of: 10) ? other : app, [row])[0]
        let state = DeviceState.allCases.randomElement(using: &dice) ?? .active
        if number.isMultiple(of: 4), state != .active {
          try TokenVerdict.carryOut(
            database, [TokenVerdict(deviceID: id, state: state, reason: "x", since: noon + 1, push: nil)], now: noon + 1
          )
        }
      }
      let all = try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 1000).items
      #expect(all.count == 300)
      try body(database, app, all)
    }
  }

  private func fits(_ device: Device, _ query: AudienceQuery) -> Bool {
    guard device.appID == query.app, device.environment == query.environment, query.platforms.contains(device.platform)
    else { return false }
    guard case .rule(let rule) = query.audience else { return true }
    let tags = Set(device.tags)
    return (rule.tag.isEmpty || !tags.isDisjoint(with: rule.tag)) && tags.isSuperset(of: rule.tagAnd)
      && tags.isDisjoint(with: rule.tagNot) && (rule.alias.isEmpty || rule.alias.contains(device.alias ?? ""))
      && (rule.registrationID.isEmpty || rule.registrationID.contains(device.registrationID ?? ""))
      && (rule.deviceToken.isEmpty || rule.deviceToken.contains(device.token))
  }

  private static func rule(_ change: (inout Audience.Rule) -> Void) -> Audience {
    var rule = Audience.Rule()
    change(&rule)
    return .rule(rule)
  }

  /// Each kind of condition alone, and together with others.
  private static let audiences: [Audience] = [
    .all,
    rule { $0.tag = ["a"] },
    rule { $0.tag = ["a", "b", "rare", "none"] },
    rule { $0.tag = ["none"] },
    rule { $0.tagAnd = ["a"] },
    rule { $0.tagAnd = ["a", "b", "a"] },
    rule { $0.tagAnd = ["a", "rare", "b"] },
    rule { $0.tagAnd = ["a", "none"] },
    rule { $0.tagNot = ["a", "none"] },
    rule { $0.tagNot = ["none"] },
    rule { ($0.tag, $0.tagAnd, $0.tagNot) = (["a", "b"], ["c"], ["d", "rare"]) },
    rule { $0.alias = ["usr_1", "usr_2", "usr_59", "nobody"] },
    rule { ($0.alias, $0.tag, $0.tagNot) = ((0..<30).map { "usr_\($0)" }, ["a", "b"], ["c"]) },
    rule { $0.registrationID = ["r5", "r6", "r299", "none"] },
    rule { ($0.registrationID, $0.alias) = ((0..<100).map { "r\($0)" }, ["usr_1", "usr_2"]) },
    rule { $0.deviceToken = (0..<50).map { token($0) } + [token(99_999)] },
    rule { ($0.deviceToken, $0.tagAnd) = ((0..<200).map { token($0) }, ["a", "b"]) },
    rule { $0.tag = (0..<150).map { "many\($0)" } + ["a"] },
  ]

  private func queries(_ app: App) -> [AudienceQuery] {
    Self.audiences.flatMap { audience in
      [Set(Platform.allCases), [.ios], [.android]].flatMap { platforms in
        Environment.allCases.map {
          AudienceQuery(app: app.id, environment: $0, platforms: platforms, audience: audience)
        }
      }
    }
  }

  @Test("every audience matches a scan of all devices, page by page in order")
  func pages() throws {
    try withAudience { database, app, all in
      for query in queries(app) {
        let expected = all.filter { fits($0, query) && $0.state == .active }
        var found: [AudienceMember] = []
        while true {
          let page = try query.page(database, after: found.last?.id ?? 0, limit: 17)
          found += page
          if page.count < 17 { break }
        }
        #expect(found.map(\.id) == expected.map(\.id), "\(query)")
        for (member, device) in zip(found, expected) {
          #expect(member.token == device.token)
          #expect(member.platform == device.platform)
        }
      }
    }
  }

  @Test("counts by platform and state match a scan of all devices")
  func counts() throws {
    try withAudience { database, app, all in
      for query in queries(app) {
        let expected = Dictionary(
          grouping: all.filter { fits($0, query) },
          by: { AudienceCount.Kind(platform: $0.platform, state: $0.state) }
        ).mapValues(\.count)
        let count = try query.count(database)
        #expect(count.counts == expected, "\(query)")
        #expect(count.reachable + count.unreachable == count.total)
        #expect(count.reachable(.ios) == expected[.init(platform: .ios, state: .active)] ?? 0)
      }
    }
  }

  @Test("a push takes in no device above its last, and none that has its outcome already")
  func resume() throws {
    try withAudience { database, app, all in
      let push = try Push.create(database, newPush(app), now: noon)
      for audience in Self.audiences {
        let query = AudienceQuery(
          app: app.id, environment: .production, platforms: Set(Platform.allCases), audience: audience)
        let whole = try query.page(database, after: 0, limit: 1000).map(\.id)
        let part = try query.page(database, after: 50, upTo: 200, limit: 1000).map(\.id)
        #expect(part == whole.filter { $0 > 50 && $0 <= 200 })
      }
      let done = all.filter { $0.id.isMultiple(of: 3) }
      _ = try Delivery.record(
        database, push: push.id,
        done.map { DeliveryResult(deviceID: $0.id, platform: $0.platform, outcome: .accepted, at: noon) }, now: noon)
      for audience in Self.audiences {
        let query = AudienceQuery(
          app: app.id, environment: .production, platforms: Set(Platform.allCases), audience: audience)
        let whole = try query.page(database, after: 0, limit: 1000).map(\.id)
        let rest = try query.page(database, after: 0, limit: 1000, withoutDeliveriesOf: push.id).map(\.id)
        #expect(rest == whole.filter { !$0.isMultiple(of: 3) })
      }
    }
  }

  @Test("no audience looks at every device, and none but lists of names is sorted")
  func plans() throws {
    try withAudience { database, app, _ in
      let push = try Push.create(database, newPush(app), now: noon)
      for query in queries(app) {
        guard let sql = try query.pageQuery(database, after: 10, upTo: 500, limit: 100, push.id) else { continue }
        let plan = try plan(database, sql)
        #expect(slowSteps(plan) == [], "\(query.audience): \(plan)")
        // Names and tokens are few, and sorted; what may be millions comes in order.
        guard case .rule(let rule) = query.audience,
          !rule.alias.isEmpty || !rule.registrationID.isEmpty || !rule.deviceToken.isEmpty || rule.tag.count > 100
        else {
          #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(query.audience): \(plan)")
          continue
        }
      }
    }
  }

  @Test("a query that does look at every device is found out by these tests")
  func slowPlan() throws {
    try withAudience { database, _, _ in
      let slow = try plan(database, ("SELECT id FROM devices WHERE name = ?", ["x"]))
      #expect(slowSteps(slow).map { $0.prefix(12) } == ["SCAN devices"])
      let kept = try plan(database, ("SELECT 1 FROM devices d JOIN (SELECT DISTINCT name FROM tags) t", []))
      #expect(!slowSteps(kept).isEmpty)
    }
  }

  @Test("each kind of condition walks along its own index")
  func indexes() throws {
    try withAudience { database, app, _ in
      let expected: [(Audience, String)] = [
        (.all, "SEARCH devices USING COVERING INDEX devices_kind"),
        (Self.rule { $0.tag = ["a"] }, "SEARCH device_tags USING PRIMARY KEY"),
        (Self.rule { $0.tagAnd = ["a", "b"] }, "SEARCH device_tags USING PRIMARY KEY"),
        (Self.rule { $0.tagNot = ["a"] }, "SEARCH devices USING COVERING INDEX devices_kind"),
        (Self.rule { $0.alias = ["usr_1", "usr_2"] }, "SEARCH devices USING COVERING INDEX devices_alias"),
        (
          Self.rule { $0.registrationID = ["r1", "r2"] },
          "SEARCH devices USING COVERING INDEX devices_registration_id"
        ),
        (Self.rule { $0.deviceToken = [token(1), token(2)] }, "SEARCH devices USING COVERING INDEX devices_token"),
      ]
      for (audience, step) in expected {
        let query = AudienceQuery(app: app.id, environment: .production, platforms: [.ios], audience: audience)
        let sql = try #require(try query.pageQuery(database, after: 0, upTo: .max, limit: 10, nil))
        let plan = try plan(database, sql)
        #expect(plan.contains { $0.hasPrefix(step) }, "\(audience): \(plan)")
      }
    }
  }

  @Test("a retry is for those whom the parent did not reach, without the reasons that are for ever")
  func retry() throws {
    try withAudience { database, app, all in
      let push = try Push.create(database, newPush(app), now: noon)
      let query = AudienceQuery(
        app: app.id, environment: .production, platforms: Set(Platform.allCases), audience: .all)
      let members = try query.page(database, after: 0, limit: 1000)
      let results = members.enumerated().map { index, member in
        let outcome: Outcome =
          switch index % 5 {
          case 0: .rejected(status: 503, reason: "ServiceUnavailable", tokenInvalidSince: nil)
          case 1: .rejected(status: 400, reason: "BadTopic", tokenInvalidSince: nil)
          case 2: .unknown(reason: "ConnectionLost")
          default: .accepted
          }
        return DeliveryResult(deviceID: member.id, platform: member.platform, outcome: outcome, at: noon)
      }
      _ = try Delivery.record(database, push: push.id, results, now: noon)
      var retry = query
      retry.retry = .init(push: push.id, outcomes: [.failed, .accepted], withoutReasons: ["BadTopic", "Never"])
      let failed = members.enumerated().filter { $0.offset % 5 == 0 }.map(\.element.id)
      #expect(try retry.page(database, after: 0, limit: 1000).map(\.id) == failed)
      retry.retry = .init(push: push.id, outcomes: [.failed, .unknown])
      let all = members.enumerated().filter { $0.offset % 5 < 3 }.map(\.element.id)
      #expect(try retry.page(database, after: 0, limit: 1000).map(\.id) == all)
      #expect(try retry.count(database).reachable == all.count)
      retry.retry = .init(push: push.id, outcomes: [.accepted])
      #expect(try retry.page(database, after: 0, limit: 10) == [])
    }
  }
}
