import Foundation
import JSON
import Model
import SQLite
import TestSupport
import Testing

@testable import Store

@Suite struct SegmentTests {
  private struct Known {
    let device: Device
    let details: DeviceDetails
  }

  private static let zones = ["Asia/Shanghai", "Asia/Tokyo", "Europe/Berlin", nil]
  private static let languages = ["zh-Hans", "zh_CN", "en", "de", nil]
  private static let versions = ["9.9", "10.2", "3.0", "3.0.1", "dev", nil]

  /// 300 devices of two apps that differ in everything that a rule can ask for.
  private func withDevices(_ body: (Database, App, [Known]) throws -> Void) throws {
    try withApp { database, app in
      var dice = SeededNumbers(seed: 11)
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      for provider in [ProviderKind.apns, .fcm] {
        try Credential.bind(
          database, app: app.id, provider: provider, environment: .production, certificate: nil, endpoint: "simulator",
          now: noon)
      }
      try Credential.bind(
        database, app: app.id, provider: .apns, environment: .development, certificate: nil, endpoint: "simulator",
        now: noon)
      for number in 0..<300 {
        let row = registration(
          number, Bool.random(using: &dice) ? .production : .development, Bool.random(using: &dice) ? .ios : .android,
          alias: number.isMultiple(of: 5) ? nil : "\(number.isMultiple(of: 7) ? "adm" : "usr")_\(number % 60)",
          tags: ["a", "b", "c"].filter { _ in Bool.random(using: &dice) })
        let id = try register(database, number.isMultiple(of: 10) ? other : app, [row])[0]
        let details = DeviceDetails(
          appVersion: Self.versions.randomElement(using: &dice) ?? nil,
          timeZone: Self.zones.randomElement(using: &dice) ?? nil,
          language: Self.languages.randomElement(using: &dice) ?? nil)
        if number % 9 != 0 { try DeviceDetails.Changes(details).save(database, device: id) }
        let days = Int.random(in: 0..<60, using: &dice)
        try database.run("UPDATE devices SET seen_at = ? WHERE id = ?", noon - Double(days) * 86_400, id)
        if number.isMultiple(of: 4) {
          let state = DeviceState.allCases.randomElement(using: &dice) ?? .active
          guard state != .active else { continue }
          let verdict = TokenVerdict(deviceID: id, state: state, reason: "x", since: noon + 1, push: nil)
          try TokenVerdict.carryOut(database, [verdict], now: noon + 1)
        }
      }
      let all = try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 1000).items
      try body(
        database, app, try all.map { Known(device: $0, details: try DeviceDetails.find(database, device: $0.id)) })
    }
  }

  /// What a rule means, without a database.
  private func fits(_ known: Known, _ rule: SegmentRule) -> Bool {
    let (device, details, tags) = (known.device, known.details, Set(known.device.tags))
    guard rule.environment.map({ $0 == device.environment }) ?? true,
      rule.platforms.isEmpty || rule.platforms.contains(device.platform),
      rule.tag.isEmpty || !tags.isDisjoint(with: rule.tag), tags.isSuperset(of: rule.tagAnd),
      tags.isDisjoint(with: rule.tagNot)
    else { return false }
    if let form = rule.alias {
      let parts = form.split(separator: "*", omittingEmptySubsequences: false)
      guard let alias = device.alias, alias.hasPrefix(parts[0]), alias.hasSuffix(parts[parts.count - 1]),
        parts.allSatisfy({ $0.isEmpty || alias.contains($0) })
      else { return false }
    }
    if rule.namesVersion, !(details.appVersion.map { rule.holds(version: $0) } ?? false) { return false }
    if !rule.timeZone.isEmpty, !(details.timeZone.map { rule.holds(timeZone: $0) } ?? false) { return false }
    if !rule.language.isEmpty, !(details.language.map { rule.holds(language: $0) } ?? false) { return false }
    let age = noon.timeIntervalSince(device.seenAt)
    switch rule.lastSeen {
    case .within(let days): return age <= Double(days) * 86_400
    case .over(let days): return age > Double(days) * 86_400
    case nil: return true
    }
  }

  private static let rules: [JSONValue] = [
    ["platforms": ["ios"]], ["environment": "production"], ["tag": ["a", "b"]], ["tag_and": ["a", "b"]],
    ["tag_not": ["c"]], ["tag_and": ["none"]], ["alias": "usr_*"], ["alias": "*_1*"], ["alias": "nobody*"],
    ["app_version": ["from": "9.9"]], ["app_version": ["below": "10"]],
    ["app_version": ["from": "3.0.1", "below": "10"]],
    ["time_zone": ["Asia/*"]], ["time_zone": ["Europe/Berlin"]], ["language": ["zh"]], ["language": ["fr"]],
    ["last_seen": ["within_days": 7]], ["last_seen": ["over_days": 30]],
    ["tag": ["a"], "tag_not": ["b"], "language": ["zh"], "last_seen": ["within_days": 40]],
    ["alias": "usr_*", "app_version": ["from": "3"], "platforms": ["android"], "time_zone": ["Asia/*"]],
  ]

  private static func random(_ dice: inout SeededNumbers) throws -> SegmentRule {
    var members: [String: JSONValue] = [:]
    for _ in 0..<Int.random(in: 1...3, using: &dice) {
      for (name, value) in rules.randomElement(using: &dice)?.object ?? [:] { members[name] = value }
    }
    return try SegmentRule(json: .object(members))
  }

  private func query(_ app: App, _ environment: Environment, _ change: (inout Audience.Rule) -> Void) -> AudienceQuery {
    var rule = Audience.Rule()
    change(&rule)
    return AudienceQuery(
      app: app.id, environment: environment, platforms: Set(Platform.allCases), audience: .rule(rule), now: noon)
  }

  private func sent(_ database: Database, _ query: AudienceQuery) throws -> [Int64] {
    var found: [Int64] = []
    while true {
      let page = try query.page(database, after: found.last ?? 0, limit: 17)
      found += page.map(\.id)
      if page.count < 17 { return found }
    }
  }

  @Test("a segment has the devices that its rule means, alone, with other conditions, and together with another one")
  func members() throws {
    try withDevices { database, app, all in
      let rules = try Self.rules.map { try SegmentRule(json: $0) }
      for (index, rule) in rules.enumerated() {
        _ = try Segment.add(database, app: app.id, name: "s\(index)", rule, by: "ada", now: noon)
      }
      for environment in Environment.allCases {
        let mine = all.filter { $0.device.appID == app.id && $0.device.environment == environment }
        let active = mine.filter { $0.device.state == .active }
        for (index, rule) in rules.enumerated() {
          let alone = query(app, environment) { $0.segment = ["s\(index)"] }
          let expected = active.filter { fits($0, rule) }.map(\.device.id)
          #expect(try sent(database, alone) == expected, "\(rule.json)")
          var prepared = alone
          try prepared.prepare(database)
          #expect(try sent(database, prepared) == expected, "\(rule.json)")
          #expect(try alone.count(database).total == mine.count { fits($0, rule) }, "\(rule.json)")
          let tagged = query(app, environment) { ($0.segment, $0.tagAnd) = (["s\(index)"], ["a"]) }
          let both = active.filter { fits($0, rule) && $0.device.tags.contains("a") }.map(\.device.id)
          #expect(try sent(database, tagged) == both, "\(rule.json)")
          let other = rules[(index + 7) % rules.count]
          let either = query(app, environment) { $0.segment = ["s\(index)", "s\((index + 7) % rules.count)"] }
          let any = active.filter { fits($0, rule) || fits($0, other) }.map(\.device.id)
          #expect(try sent(database, either) == any, "\(rule.json) or \(other.json)")
        }
      }
      #expect(try sent(database, query(app, .production) { $0.segment = ["nothing like it"] }) == [])
    }
  }

  @Test("an explanation and the verdict on each device agree with what is sent to, for random audiences")
  func explained() throws {
    try withDevices { database, app, all in
      var dice = SeededNumbers(seed: 3)
      for number in 0..<120 {
        _ = try Segment.add(database, app: app.id, name: "r\(number)", try Self.random(&dice), by: "ada", now: noon)
        let tags = ["a", "b", "c", "none"]
        var asked = query(app, Environment.allCases.randomElement(using: &dice) ?? .production) { rule in
          rule.segment = number.isMultiple(of: 5) && number > 0 ? ["r\(number)", "r\(number - 1)"] : ["r\(number)"]
          if number.isMultiple(of: 3) { rule.tag = [tags.randomElement(using: &dice) ?? "a"] }
          if number.isMultiple(of: 4) { rule.tagNot = [tags.randomElement(using: &dice) ?? "a"] }
          if number.isMultiple(of: 6) { rule.alias = (0..<40).map { "usr_\($0)" } }
        }
        if number.isMultiple(of: 7) { asked.audience = .all }
        if number.isMultiple(of: 2) { asked.platforms = [.ios] }
        // Without the credential, FCM's devices of development are skipped.
        let routed = try Set(
          ProviderKind.allCases.filter {
            try Credential.find(database, app: app.id, provider: $0, environment: asked.environment) != nil
          })
        let sent = try asked.page(database, after: 0, limit: 1000).filter { routed.contains($0.provider) }.map(\.id)
        let explanation = try #require(try asked.explained(database))
        #expect(explanation.reached == sent.count, "\(asked.audience): \(explanation)")
        var remain = all.count { $0.device.appID == app.id }
        for count in explanation.counts {
          #expect(count.leftOut >= 0)
          remain -= count.leftOut
          #expect(count.remain == remain, "\(asked.audience)")
        }
        for known in all {
          let verdict = try #require(try asked.verdict(database, on: known.device))
          #expect((verdict.obstacle == nil) == sent.contains(known.device.id), "\(asked.audience): \(verdict)")
          #expect(verdict.answers.map(\.step) == explanation.counts.map(\.step))
        }
        // Step by step, the counts are those of the devices that meet the steps so far.
        let answers = try all.filter { $0.device.appID == app.id }.map { known in
          try #require(try asked.verdict(database, on: known.device)).answers.map(\.isMet)
        }
        for (index, count) in explanation.counts.enumerated() {
          #expect(count.remain == answers.count { $0[...index].allSatisfy { $0 } }, "\(asked.audience) \(count.step)")
        }
      }
    }
  }

  @Test("no audience of a segment looks at every device of all apps, and what may be millions is not sorted")
  func plans() throws {
    try withDevices { database, app, _ in
      for (index, json) in Self.rules.enumerated() {
        let rule = try SegmentRule(json: json)
        _ = try Segment.add(database, app: app.id, name: "s\(index)", rule, by: "ada", now: noon)
        let asked = query(app, .production) { $0.segment = ["s\(index)"] }
        guard let sql = try asked.pageQuery(database, after: 10, upTo: 500, limit: 100, nil) else { continue }
        let steps = try plan(database, sql)
        // The values that fit, a list of the statement's own.
        #expect(slowSteps(steps).filter { !$0.hasPrefix("SCAN json_each") } == [], "\(json): \(steps)")
        // Aliases that begin alike are sorted, because their walk is chosen only if they are few.
        if rule.alias == nil {
          let sorted = steps.filter { $0.contains("TEMP B-TREE") }
          #expect(sorted == [], "\(json): \(steps)")
        }
      }
      let expected: [(JSONValue, String)] = [
        (["language": ["zh"]], "SEARCH device_details USING COVERING INDEX device_details_language"),
        (["time_zone": ["Asia/*"]], "SEARCH device_details USING COVERING INDEX device_details_time_zone"),
        (["app_version": ["below": "4"]], "SEARCH device_details USING COVERING INDEX device_details_app_version"),
        (["alias": "usr_1*"], "SEARCH devices USING COVERING INDEX devices_alias"),
        (["tag_and": ["a"], "last_seen": ["within_days": 3]], "SEARCH device_tags USING PRIMARY KEY"),
        (["last_seen": ["within_days": 3]], "SEARCH devices USING COVERING INDEX devices_kind"),
      ]
      for (index, (json, step)) in expected.enumerated() {
        _ = try Segment.add(
          database, app: app.id, name: "p\(index)", try SegmentRule(json: json), by: "ada", now: noon)
        let asked = query(app, .production) { $0.segment = ["p\(index)"] }
        let sql = try #require(try asked.pageQuery(database, after: 0, upTo: .max, limit: 10, nil))
        let steps = try plan(database, sql)
        #expect(steps.contains { $0.hasPrefix(step) }, "\(json): \(steps)")
      }
    }
  }

  @Test("values of the app and names for suggestions are found with steps along indexes")
  func suggestionPlans() throws {
    try withDevices { database, app, _ in
      let asked = try statements(database) {
        _ = try DeviceSource.values(database, .appVersion)
        _ = try AliasCount.list(database, app: app.id, prefix: "usr_1", limit: 5)
        _ = try Tag.list(database, app: app.id, prefix: "a", limit: 5)
        _ = try Device.named(database, app: app.id, prefix: "A", limit: 5)
        _ = try Segment.list(database, app: app.id, prefix: "a", limit: 5)
        _ = try AudienceCounts(database, app: app.id)
      }
      #expect(asked.count >= 4)
      for sql in asked {
        let steps = try plan(database, of: sql)
        let slow = slowSteps(steps).filter { !$0.hasPrefix("SCAN v") }
        #expect(slow == [], "\(sql): \(steps)")
      }
      let aliases = try AliasCount.list(database, app: app.id, prefix: "usr_1", limit: 100).items
      let devices = try Device.list(database, DeviceFilter(app: app.id), limit: 1000).items
      let counted = Dictionary(grouping: devices.compactMap(\.alias).filter { $0.hasPrefix("usr_1") }) { $0 }
      #expect(Dictionary(uniqueKeysWithValues: aliases.map { ($0.alias, $0.devices) }) == counted.mapValues(\.count))
      var (paged, cursor): ([String], String?) = ([], nil)
      repeat {
        let page = try AliasCount.list(database, app: app.id, prefix: "usr_1", cursor: cursor, limit: 2)
        paged += page.items.map(\.alias)
        cursor = page.next
      } while cursor != nil
      #expect(paged == counted.keys.sorted())
    }
  }

  @Test("aliases that begin with a letter are listed to the end, also after one whose letter has an accent of its own")
  func combiningAliases() throws {
    try withApp { database, app in
      let names = ["eva", "e\u{301}lan", "e\u{302}tre", "f"]
      try register(database, app, names.enumerated().map { registration($0.offset, alias: $0.element) })
      let page = try AliasCount.list(database, app: app.id, prefix: "e", limit: 10)
      #expect(page.items.map(\.alias) == Array(names[..<3]) && page.next == nil)
    }
  }

  @Test("segments, tags and aliases of an app are counted, as far as there is a use for it")
  func counts() throws {
    try withDevices { database, app, _ in
      for name in ["a", "b"] {
        let rule = try SegmentRule(json: ["language": ["zh"]])
        _ = try Segment.add(database, app: app.id, name: name, rule, by: "ada", now: noon)
      }
      let devices = try Device.list(database, DeviceFilter(app: app.id), limit: 1000).items
      let aliases = Set(devices.compactMap(\.alias)).count
      let tags = try Tag.list(database, app: app.id, limit: 1000).items.count
      let counts = try AudienceCounts(database, app: app.id)
      #expect(counts.segments == AudienceCounts.Count(number: 2, isMore: false))
      #expect(counts.tags == AudienceCounts.Count(number: tags, isMore: false) && tags > 0)
      #expect(counts.aliases == AudienceCounts.Count(number: aliases, isMore: false) && aliases > 1)
      let some = try AliasCount.names(database, app: app.id, most: aliases - 1)
      #expect(some == AudienceCounts.Count(number: aliases - 1, isMore: true))
      #expect(try AliasCount.names(database, app: app.id, most: aliases).isMore == false)
    }
  }

  @Test("members are listed in pages, newest first, in every state")
  func paging() throws {
    try withDevices { database, app, all in
      let rule = try SegmentRule(json: ["language": ["zh"]])
      let segment = try Segment.add(database, app: app.id, name: "zh", rule, by: "ada", now: noon)
      let expected = all.filter { $0.device.appID == app.id && fits($0, rule) }.map(\.device.id).sorted(by: >)
      var (found, cursor): ([Int64], String?) = ([], nil)
      repeat {
        let page = try segment.members(database, cursor: cursor, limit: 7, now: noon)
        found += page.items.map(\.id)
        cursor = page.next
      } while cursor != nil
      #expect(found == expected && found.count > 14)
      #expect(try segment.counts(database, now: noon).reduce(0) { $0 + $1.count.total } == expected.count)
    }
  }

  @Test("a push keeps the rule that it began with, and a retry takes it over")
  func kept() throws {
    try withDevices { database, app, _ in
      let rule = try SegmentRule(json: ["tag": ["a"]])
      let segment = try Segment.add(database, app: app.id, name: "s", rule, by: "ada", now: noon)
      let audience = query(app, .production) { $0.segment = ["s"] }.audience
      let push = try Push.create(database, newPush(app), now: noon)
      let child = try Push.create(database, newPush(app, uid: "p2"), now: noon)
      #expect(try UsedSegment.kept(database, push: push.id, parent: nil) == nil)
      let used = try UsedSegment.current(database, audience, app: app.id, now: noon)
      try UsedSegment.keep(database, used, push: push.id)
      try segment.delete(database)
      #expect(try UsedSegment.kept(database, push: push.id, parent: nil) == used)
      #expect(try UsedSegment.kept(database, push: child.id, parent: push.id) == used)
      #expect(try UsedSegment.current(database, audience, app: app.id, now: noon).map(\.rule) == [nil])
      #expect(try Segment.missing(database, ["s", "t"], app: app.id).keys.sorted() == ["s", "t"])
    }
  }
}
