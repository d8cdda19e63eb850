import Foundation
import Model
import SQLite
import Testing

@testable import Store

@Suite struct PushTests {
  @Test("a push is kept whole, with its audit line")
  func create() throws {
    try withApp { database, app in
      var new = newPush(app)
      new.title = "Hello"
      new.body = "World"
      new.sendAt = noon + 3600
      let push = try Push.create(
        database, new,
        audit: NewAuditEntry(actor: "anna", action: "push.create", subject: "push p1", address: "::1"), now: noon)
      #expect(push.uid == "p1")
      #expect(push.seed == 0xfeed_face_cafe_beef)
      #expect(push.state == .queued)
      #expect(push.draftJSON == #"{"app":"x"}"#)
      #expect(push.title == "Hello")
      #expect(push.sendAt == noon + 3600)
      #expect(push.target == nil)
      #expect(push.pending == nil)
      #expect(push.counts == OutcomeCounts())
      #expect(try Push.find(database, uid: "p1") == push)
      #expect(try Push.find(database, id: push.id) == push)
      #expect(try Push.find(database, uid: "p2") == nil)
      #expect(try AuditEntry.list(database, limit: 10).items.map(\.entry.action) == ["push.create"])
    }
  }

  @Test("a push moves only from where the caller thinks it is")
  func move() throws {
    try withApp { database, app in
      let id = try Push.create(database, newPush(app), now: noon).id
      #expect(try Push.move(database, id: id, from: [.queued], to: .sending, now: noon + 1))
      #expect(try !Push.move(database, id: id, from: [.queued], to: .sending, now: noon + 2))
      #expect(try Push.get(database, id: id).startedAt == noon + 1)
      #expect(try Push.move(database, id: id, from: [.queued, .sending], to: .finished, now: noon + 3))
      let push = try Push.get(database, id: id)
      #expect(push.state == .finished)
      #expect(push.startedAt == noon + 1)
      #expect(push.finishedAt == noon + 3)
      #expect(try !Push.move(database, id: id, from: [.queued, .sending], to: .cancelled, now: noon + 4))
      let failed = try Push.create(database, newPush(app, uid: "p2"), now: noon).id
      #expect(
        try Push.move(database, id: failed, from: [.queued], to: .failed, error: "no credential", now: noon + 1))
      #expect(try Push.get(database, id: failed).error == "no credential")
    }
  }

  @Test("unfinished pushes are found by their index, oldest first")
  func unfinished() throws {
    try withApp { database, app in
      let ids = try (0..<5).map { try Push.create(database, newPush(app, uid: "p\($0)"), now: noon).id }
      _ = try Push.move(database, id: ids[1], from: [.queued], to: .sending, now: noon)
      _ = try Push.move(database, id: ids[2], from: [.queued], to: .cancelled, now: noon)
      _ = try Push.move(database, id: ids[3], from: [.queued], to: .finished, now: noon)
      #expect(try Push.unfinished(database).map(\.id) == [ids[0], ids[1], ids[4]])
    }
  }

  @Test("due are those that wait and whose time has come")
  func due() throws {
    try withApp { database, app in
      let ids = try [nil, noon, noon + 1, nil, nil].enumerated().map { index, sendAt in
        var new = newPush(app, uid: "p\(index)")
        new.sendAt = sendAt
        return try Push.create(database, new, now: noon).id
      }
      _ = try Push.move(database, id: ids[3], from: [.queued], to: .sending, now: noon)
      _ = try Push.move(database, id: ids[4], from: [.queued], to: .cancelled, now: noon)
      #expect(try Push.due(database, now: noon) == [ids[0], ids[1]])
      #expect(try Push.due(database, now: noon + 1) == [ids[0], ids[1], ids[2]])
    }
  }

  @Test("the target is kept by platform")
  func target() throws {
    try withApp { database, app in
      let id = try Push.create(database, newPush(app), now: noon).id
      try Push.setTarget(database, id: id, [Reach(.ios, .apns): 10, Reach(.android, .fcm): 4], lastDeviceID: 77)
      try Push.setTarget(database, id: id, [Reach(.ios, .apns): 11], lastDeviceID: 78)
      let push = try Push.get(database, id: id)
      #expect(push.target == 11)
      #expect(push.pending == 11)
      #expect(push.lastDeviceID == 78)
    }
  }

  @Test("the history is filtered, searched, and paged newest first")
  func list() throws {
    try withApp { database, app in
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      for number in 0..<20 {
        var new = newPush(number.isMultiple(of: 4) ? other : app, uid: "p\(number)")
        new.title = "Sale \(number)%"
        new.body = number == 7 ? "限时 100_percent" : "body"
        new.searchTerms = number.isMultiple(of: 5) ? ["vip", "usr_\(number)"] : []
        new.source = number.isMultiple(of: 2) ? .api : .web
        if number == 3 { new.environment = .development }
        if number == 6 { new.pushType = .background }
        let id = try Push.create(database, new, now: noon + Double(number * 60)).id
        if number > 15 { _ = try Push.move(database, id: id, from: [.queued], to: .sending, now: noon) }
        let outcome: OutcomeKind = number == 4 || number == 9 ? .failed : .accepted
        try database.run(
          "INSERT INTO push_reasons(push_id, platform, provider, outcome, reason_id, count) VALUES (?, 1, 1, ?, 0, 3)",
          id, outcome.rawValue)
      }
      func found(_ change: (inout PushFilter) -> Void) throws -> [Int] {
        var filter = PushFilter()
        change(&filter)
        var uids: [String] = []
        var cursor: String?
        repeat {
          let page = try Push.list(database, filter, cursor: cursor, limit: 3)
          uids += page.items.map(\.uid)
          cursor = page.next
        } while cursor != nil
        return uids.compactMap { Int($0.dropFirst()) }
      }
      #expect(try found { _ in } == (0..<20).reversed())
      #expect(try found { $0.app = other.id } == [16, 12, 8, 4, 0])
      #expect(try found { $0.environment = .development } == [3])
      #expect(try found { $0.states = [.sending, .failed] } == [19, 18, 17, 16])
      #expect(try found { $0.source = .web }.count == 10)
      #expect(try found { $0.pushType = .background } == [6])
      #expect(try found { ($0.from, $0.before) = (noon + 120, noon + 240) } == [3, 2])
      #expect(try found { $0.outcome = .failed } == [9, 4])
      #expect(try found { ($0.outcome, $0.app) = (.failed, other.id) } == [4])
      #expect(try found { $0.outcome = .deadToken } == [])
      #expect(try found { $0.search = "SALE 1" }.count == 11)
      #expect(try found { $0.search = "限时" } == [7])
      #expect(try found { $0.search = "100_p" } == [7])
      #expect(try found { $0.search = "7%" } == [17, 7])
      #expect(try found { $0.search = "%" }.count == 20)
      #expect(try found { $0.search = "usr_15" } == [15])
      #expect(try found { $0.search = "\\" } == [])
      #expect(try found { ($0.search, $0.app) = ("vip", app.id) } == [15, 10, 5])
    }
  }

  @Test("pushes since a time are counted without those that are scheduled for later")
  func count() throws {
    try withApp { database, app in
      _ = try Push.create(database, newPush(app, uid: "now"), now: noon)
      var later = newPush(app, uid: "later")
      later.sendAt = noon + 3600
      _ = try Push.create(database, later, now: noon)
      func count(at now: Date, most: Int = 10) throws -> Int {
        try Push.count(database, since: noon - 60, now: now, most: most)
      }
      #expect(try count(at: noon) == 1)
      #expect(try count(at: noon + 3601) == 2)
      #expect(try count(at: noon, most: 1) == 2, "more than are counted")
    }
  }

  @Test("sums by day are what the chart shows")
  func sums() throws {
    try withApp { database, app in
      for (day, accepted) in [(0, 1), (0, 2), (2, 4)] {
        let id = try Push.create(
          database, newPush(app, uid: "\(day)-\(accepted)"), now: noon + Double(day * 86_400)
        ).id
        let results = (1...accepted).map {
          DeliveryResult(deviceID: Int64($0), platform: .ios, outcome: .accepted, at: noon)
        }
        _ = try Delivery.record(database, push: id, results, now: noon)
      }
      let midnight = noon - 43_200
      let sums = try Push.sums(database, from: midnight, before: midnight + 10 * 86_400)
      #expect(sums.map(\.from) == [midnight, midnight + 2 * 86_400])
      #expect(sums.map(\.pushes) == [2, 1])
      #expect(sums.map(\.counts.accepted) == [3, 4])
    }
  }
}
