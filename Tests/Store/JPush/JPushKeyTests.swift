import Calendar
import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("JPush keys")
struct JPushKeyTests {
  @Test("a pair has 24 characters each, the secret is stored as a hash, and the old one is wrong after a rotation")
  func pair() throws {
    try withDatabase { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      let (key, secret) = try JPushKey.issue(database, app: app, by: "anna", now: noon)
      #expect(key.appKey.wholeMatch(of: #/[0-9a-f]{24}/#) != nil)
      #expect(secret.wholeMatch(of: #/[A-Za-z0-9]{24}/#) != nil)
      #expect(key.isRight(secret) && !key.isRight("") && !key.isRight(secret + "x") && key.rotatedAt == nil)
      let stored = try database.fetchAll("SELECT hex(secret_hash) FROM jpush_keys") { $0.text(0) }
      #expect(stored.count == 1 && stored[0].count == 64)
      let (next, other) = try JPushKey.issue(database, app: app, by: "ben", now: noon + 5)
      #expect(next.appKey == key.appKey && next.createdBy == "anna" && next.rotatedAt == noon + 5)
      #expect(other != secret && next.isRight(other) && !next.isRight(secret))
      #expect(try JPushKey.find(database, appKey: key.appKey) == next && JPushKey.find(database, app: app.id) == next)
      try JPushKey.touch(database, app: app.id, now: noon + 100)
      try JPushKey.touch(database, app: app.id, now: noon + 130)
      #expect(try JPushKey.find(database, app: app.id)?.lastUsedAt == noon + 100, "to the minute")
      #expect(try JPushKey.remove(database, app: app, by: "ben", now: noon))
      #expect(try !JPushKey.remove(database, app: app, by: "ben", now: noon))
      let actions = try AuditEntry.list(database, limit: 10).items.map(\.entry.action)
      #expect(actions == ["jpush_key.delete", "jpush_key.rotate", "jpush_key.create"])
    }
  }

  @Test("a secret that was replaced or removed stays refused when an older database is restored")
  func restored() throws {
    func apply(_ change: (Database, App) throws -> Void) throws -> (left: Int, removed: [String]) {
      var result = (left: 0, removed: [String]())
      try withApp { older, app in
        _ = try JPushKey.issue(older, app: app, by: "anna", now: noon)
        try withDatabase { newer in
          for table in ["apps", "jpush_keys"] {
            let columns = try older.fetchAll("SELECT name FROM pragma_table_info('\(table)')") { $0.text(0) }
            let rows = try older.fetchAll(
              "SELECT \(columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")) FROM \(table)"
            ) { $0.text(0) }
            for row in rows { try newer.run("INSERT INTO \(table) VALUES (\(row))") }
          }
          try change(newer, app)
          var report = Revocations.Report()
          try Revocations(newer).apply(to: older, &report)
          result = (try older.int("SELECT count(*) FROM jpush_keys"), report.jpushKeys)
        }
      }
      return result
    }
    let same = try apply { _, _ in }
    #expect(same.left == 1 && same.removed == [])
    let replaced = try apply { _ = try JPushKey.issue($0, app: $1, by: "anna", now: noon + 1) }
    #expect(replaced.left == 0 && replaced.removed == ["com.example.shop"])
    let removed = try apply { _ = try JPushKey.remove($0, app: $1, by: "anna", now: noon + 1) }
    #expect(removed.left == 0 && removed.removed == ["com.example.shop"])
  }

  @Test("an app is deleted with its key pair and schedules")
  func deletion() throws {
    try withDatabase { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      _ = try JPushKey.issue(database, app: app, by: "anna", now: noon)
      var draft = PushDraft(
        app: app.bundleID, environment: .production, platforms: [.ios], audience: .all, notification: .init())
      draft.recurrence = .init(.daily, minute: 0, zone: .utc)
      let new = NewSchedule(uid: "s", appID: app.id, draft: draft, source: .jpush, createdBy: "x")
      let schedule = try Schedule.create(database, new, now: noon)
      try JPushSchedule(uid: "u", name: "n", trigger: ["a": 1], push: ["b": 2], schedule: schedule).save(database)
      let found = try #require(try JPushSchedule.find(database, app: app.id, uid: "u"))
      #expect(found.schedule == schedule && found.trigger == ["a": 1] && found.push == ["b": 2] && found.name == "n")
      #expect(try JPushSchedule.find(database, app: app.id + 1, uid: "u") == nil)
      #expect(try App.delete(database, id: app.id))
      for table in ["jpush_keys", "jpush_schedules"] {
        #expect(try database.int("SELECT count(*) FROM \(table)") == 0)
      }
    }
  }

  @Test("a replaced schedule goes on with its new rule; a paused one stays paused, an ended one as it is")
  func replacement() throws {
    try withDatabase { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      var draft = PushDraft(
        app: app.bundleID, environment: .production, platforms: [.ios], audience: .all, notification: .init())
      draft.recurrence = .init(.daily, minute: 0, zone: .utc)
      var new = NewSchedule(uid: "s", appID: app.id, draft: draft, source: .api, createdBy: "x")
      let id = try Schedule.create(database, new, now: noon).id
      draft.recurrence?.second += 90
      (new.draft, new.title) = (draft, "Changed")
      #expect(try Schedule.replace(database, id: id, with: new, now: noon))
      var schedule = try Schedule.get(database, id: id)
      #expect(schedule.title == "Changed" && schedule.draft?.recurrence?.time == "00:01:30")
      #expect(schedule.nextAt == schedule.recurrence?.first(from: noon) && schedule.state == .active)
      #expect(try Schedule.pause(database, id: id) && Schedule.replace(database, id: id, with: new, now: noon))
      schedule = try Schedule.get(database, id: id)
      #expect(schedule.state == .paused && schedule.nextAt == nil)
      #expect(try Schedule.end(database, id: id, now: noon))
      #expect(try !Schedule.replace(database, id: id, with: new, now: noon))
    }
  }
}
