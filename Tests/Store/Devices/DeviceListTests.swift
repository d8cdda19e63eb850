import Foundation
import Model
import SQLite
import Testing

@testable import Store

@Suite struct DeviceListTests {
  /// Two apps, 200 devices each, of every kind.
  private func withDevices(_ body: (Database, App) throws -> Void) throws {
    try withApp { database, app in
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      for (offset, app) in [app, other].enumerated() {
        let rows = (0..<200).map { number in
          registration(
            number << 16 | offset, number.isMultiple(of: 3) ? .development : .production,
            number.isMultiple(of: 5) ? .android : .ios, alias: number < 50 ? "usr_\(number % 10)" : nil,
            tags: number.isMultiple(of: 4) ? ["four"] : [], registrationID: number < 20 ? "r\(number)" : nil)
        }
        let ids = try register(
          database, app,
          rows.enumerated().map { number, row in
            var row = row
            // A registration ID of JPush is a token of its own kind.
            if number >= 22, number.isMultiple(of: 11) {
              row.token = DeviceToken(bytes: Array("1\(offset)a\(1_000_000 + number)".utf8))
              row.provider = .jpush
            }
            return row
          })
        let verdicts = ids.filter { $0.isMultiple(of: 7) }.map {
          TokenVerdict(deviceID: $0, state: .dead, reason: "Unregistered", since: noon + 1, push: nil)
        }
        try TokenVerdict.carryOut(database, verdicts, now: noon + 1)
      }
      try body(database, app)
    }
  }

  /// Every filter that has an effect of its own, and some together.
  private static let filters: [DeviceFilter] = {
    var filters = [DeviceFilter(), DeviceFilter(app: 1), DeviceFilter(app: 2), DeviceFilter(app: 99)]
    func add(_ app: Int64?, _ change: (inout DeviceFilter) -> Void) {
      var filter = DeviceFilter(app: app)
      change(&filter)
      filters.append(filter)
    }
    for app in [nil, 1] as [Int64?] {
      add(app) { $0.environment = .development }
      add(app) { $0.platform = .android }
      for provider in ProviderKind.allCases { add(app) { $0.provider = provider } }
      add(app) { ($0.provider, $0.platform, $0.tag) = (.jpush, .ios, "four") }
      add(app) { ($0.provider, $0.alias) = (.apns, "usr_3") }
      add(app) { $0.state = .dead }
      add(app) { ($0.environment, $0.platform, $0.state) = (.production, .ios, .active) }
      add(app) { $0.tag = "four" }
      add(app) { $0.tag = "none" }
      add(app) { ($0.tag, $0.state) = ("four", .active) }
      add(app) { $0.alias = "usr_3" }
      add(app) { ($0.alias, $0.tag, $0.environment) = ("usr_4", "four", .production) }
      add(app) { $0.registrationID = "r7" }
      add(app) { ($0.registrationID, $0.alias) = ("r7", "usr_8") }
      add(app) { $0.tokenPrefix = [0] }
      add(app) { $0.tokenPrefix = token(9 << 16).bytes }
      add(app) { ($0.tokenPrefix, $0.alias, $0.registrationID, $0.tag) = ([0, 4], "usr_4", "r4", "four") }
      add(app) { $0.tokenPrefix = [0xff] }
      add(app) { $0.tokenPrefix = [] }
    }
    return filters
  }()

  private func fits(_ device: Device, _ filter: DeviceFilter) -> Bool {
    (filter.app == nil || filter.app == device.appID)
      && (filter.environment == nil || filter.environment == device.environment)
      && (filter.platform == nil || filter.platform == device.platform)
      && (filter.provider == nil || filter.provider == device.provider)
      && (filter.state == nil || filter.state == device.state)
      && (filter.tag.map { device.tags.contains($0) } ?? true)
      && (filter.alias == nil || filter.alias == device.alias)
      && (filter.registrationID == nil || filter.registrationID == device.registrationID)
      && (filter.tokenPrefix.map { device.token.bytes.starts(with: $0) } ?? true)
  }

  @Test("each filter matches a scan of all devices, in both orders, page by page")
  func filters() throws {
    try withDevices { database, _ in
      let all = try (1...400).map { try Device.get(database, id: Int64($0)) }
      for filter in Self.filters {
        let expected = all.filter { fits($0, filter) }
        for (order, wanted) in [(Device.Order.oldestFirst, expected), (.newestFirst, expected.reversed())] {
          var found: [Device] = []
          var cursor: String?
          repeat {
            let page = try Device.list(database, filter, order: order, cursor: cursor, limit: 33)
            #expect(page.items.count <= 33)
            found += page.items
            cursor = page.next
          } while cursor != nil
          #expect(found == wanted, "\(filter)")
        }
      }
    }
  }

  @Test("a list of more apps than one query can merge is whole and in order, in both orders", arguments: [43, 81])
  func manyApps(count: Int) throws {
    try withDatabase { database in
      let apps = try (0..<count).map {
        try App.add(database, bundleID: "com.example.app\($0)", name: "App", now: noon)
      }
      var ids: [Int64] = []
      for number in 0..<(2 * count) {
        let app = apps[number * 7 % count]
        ids += try register(
          database, app, [registration(number, number.isMultiple(of: 3) ? .development : .production)])
      }
      var development = DeviceFilter()
      development.environment = .development
      let some = ids.enumerated().filter { $0.offset.isMultiple(of: 3) }.map(\.element)
      for (filter, wanted) in [(DeviceFilter(), ids), (development, some)] {
        for (order, wanted) in [(Device.Order.oldestFirst, wanted), (.newestFirst, wanted.reversed())] {
          var found: [Int64] = []
          var cursor: String?
          repeat {
            let page = try Device.list(database, filter, order: order, cursor: cursor, limit: 20)
            found += page.items.map(\.id)
            cursor = page.next
          } while cursor != nil
          #expect(found == wanted, "\(filter) \(order)")
        }
      }
    }
  }

  private func query(
    _ database: Database, _ filter: DeviceFilter, _ order: Device.Order, after: Int64? = nil
  ) throws -> (sql: String, arguments: [SQLiteValue])? {
    try Device.query(database, filter, of: filter.app.map { [$0] } ?? [1, 2], order, after, 50)
  }

  @Test("no filter looks at every device")
  func plans() throws {
    try withDevices { database, _ in
      for filter in Self.filters {
        for order in [Device.Order.oldestFirst, .newestFirst] {
          guard let query = try query(database, filter, order, after: 200) else { continue }
          let plan = try plan(database, query)
          #expect(slowSteps(plan) == [], "\(filter): \(plan)")
        }
      }
    }
  }

  @Test("a list by kind or by tag is not sorted, but merged")
  func merged() throws {
    try withDevices { database, app in
      var tagged = DeviceFilter(app: app.id)
      tagged.tag = "four"
      for filter in [DeviceFilter(app: app.id), DeviceFilter(), tagged] {
        guard let query = try query(database, filter, .newestFirst) else { continue }
        let plan = try plan(database, query)
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
      }
    }
  }

  @Test("a cursor of another list is refused", arguments: ["x", "-1", "1.5", ""])
  func badCursor(text: String) throws {
    try withDatabase { database in
      #expect(throws: StoreError.badCursor(text)) {
        try Device.list(database, DeviceFilter(), cursor: text, limit: 10)
      }
    }
  }
}
