import Foundation
import Model
import SQLite
import Testing

@testable import Store

@Suite("Badges that are counted for each device")
struct DeviceBadgeTests {
  @Test("an accepted push counts once, a refused or repeated one does not, and numbers stay within their limits")
  func counting() throws {
    try withApp { database, app in
      let ids = try register(database, app, [registration(1), registration(2)])
      var pushes = 0
      func record(_ badge: Badge, _ outcomes: Outcome..., push: Int64? = nil) throws -> Int64 {
        pushes += 1
        let push = try push ?? Push.create(database, newPush(app, uid: "p\(pushes)"), now: noon).id
        let results = zip(ids, outcomes).map { DeliveryResult(deviceID: $0, platform: .ios, outcome: $1, at: noon) }
        _ = try Delivery.record(database, push: push, results, badges: [.ios: badge], now: noon)
        return push
      }
      func numbers() throws -> [Int] { try ids.map { try database.int("SELECT badge FROM devices WHERE id = ?", $0) } }
      let refused = Outcome.rejected(status: 400, reason: "BadTopic", tokenInvalidSince: nil)
      let first = try record(.add(1), .accepted, refused)
      #expect(try numbers() == [1, 0])
      _ = try record(.add(1), .accepted, .accepted, push: first)
      #expect(try numbers() == [1, 0], "each device has one outcome, and counts once")
      _ = try record(.add(-5), .accepted, .unknown(reason: "TimedOut"))
      #expect(try numbers() == [0, 0])
      _ = try record(.set(99_999), .accepted, .accepted)
      _ = try record(.add(7), .accepted, .skipped(reason: "Expired"))
      #expect(try numbers() == [99_999, 99_999])
      _ = try record(.set(0), .accepted, .accepted)
      try DeviceBadge.set(database, device: ids[1], to: 4)
      let query = AudienceQuery(app: app.id, environment: .production, platforms: [.ios], audience: .all)
      let members = try query.page(database, after: 0, limit: 10)
      #expect(members.map(\.badge) == [0, 0])
      #expect(try DeviceBadge.fill(database, members).map(\.badge) == [0, 4])
    }
  }

  @Test("an app's numbers are kept from its first push that counts")
  func kept() throws {
    try withApp { database, app in
      #expect(try DeviceBadge.isKept(database, app: app.id) == false)
      try DeviceBadge.begin(database, app: app.id)
      #expect(try DeviceBadge.isKept(database, app: app.id))
    }
  }
}
