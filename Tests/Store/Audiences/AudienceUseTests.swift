import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite struct AudienceUseTests {
  private func audience(_ json: JSONValue) throws -> Audience {
    try #require(Audience(draft: ["audience": json]))
  }

  private func last(
    _ database: Database, _ app: App, _ kind: AudienceUse.Kind, _ names: [String]
  ) throws -> [String: Date] {
    try AudienceUse.last(database, app: app.id, kind, names)
  }

  @Test("names that a push is sent to are noted with their last time; not those that it leaves out")
  func names() throws {
    try withApp { database, app in
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      let first = try audience(["tag": ["vip", "a"], "tag_and": ["b"], "tag_not": ["c"], "segment": ["New"]])
      try AudienceUse.note(database, app: app.id, first, now: noon)
      try AudienceUse.note(database, app: app.id, try audience(["tag": ["vip"], "alias": ["vip"]]), now: noon + 60)
      // A push that began before ends its count later.
      try AudienceUse.note(database, app: app.id, try audience(["tag": ["vip"]]), now: noon + 30)
      try AudienceUse.note(database, app: app.id, .all, now: noon + 90)
      let found = try last(database, app, .tag, ["vip", "a", "b", "c", "none"])
      #expect(found == ["vip": noon + 60, "a": noon, "b": noon])
      #expect(try last(database, app, .alias, ["vip", "a"]) == ["vip": noon + 60])
      #expect(try last(database, app, .segment, ["New", "vip"]) == ["New": noon])
      #expect(try last(database, other, .tag, ["vip"]) == [:])
      let search = "SELECT sent_at FROM audience_uses WHERE app_id = ? AND kind = ? AND name = ?"
      #expect(
        try plan(database, of: search) == ["SEARCH audience_uses USING PRIMARY KEY (app_id=? AND kind=? AND name=?)"])
      try App.delete(database, id: app.id)
      #expect(try database.int("SELECT count(*) FROM audience_uses") == 0)
    }
  }

  @Test("a segment takes its history to its new name, and ends it when it is deleted")
  func segments() throws {
    try withApp { database, app in
      let rule = try SegmentRule(json: ["tag": ["vip"]])
      let segment = try Segment.add(database, app: app.id, name: "New", rule, by: "anna", now: noon)
      try AudienceUse.note(database, app: app.id, try audience(["segment": ["New"]]), now: noon)
      try AudienceUse.note(database, app: app.id, try audience(["segment": ["Former"]]), now: noon + 60)
      let renamed = try segment.change(database, name: "Former", rule, now: noon + 90)
      #expect(try last(database, app, .segment, ["New", "Former"]) == ["Former": noon])
      try renamed.delete(database)
      #expect(try last(database, app, .segment, ["Former"]) == [:])
    }
  }

  @Test("it goes with the pushes of that time, in small steps")
  func trimmed() throws {
    try withApp { database, app in
      for number in 0..<10 {
        let date = noon + Double(number)
        try AudienceUse.note(database, app: app.id, try audience(["alias": [.string("usr_\(number)")]]), now: date)
      }
      let later = noon + 730 * 86_400 + 7
      for left in [6, 3, 3] {
        let step = try Trim.step(database, .pushes, RetentionPolicy(), limit: 4, now: later)
        #expect(step.removed == 0 && step.isDone == (left == 3))
        #expect(try database.int("SELECT count(*) FROM audience_uses") == left)
      }
      var forever = RetentionPolicy()
      forever.pushes = 0
      #expect(try Trim.step(database, .pushes, forever, limit: 4, now: later + 1e9).isDone)
      #expect(try database.int("SELECT count(*) FROM audience_uses") == 3)
    }
  }

  @Test("an upgrade reads the names of the pushes that are there")
  func upgrade() throws {
    let database = try Database(path: ":memory:")
    defer { database.close() }
    let steps = Schema.migrator.migrations
    let place = try #require(steps.firstIndex { $0.id == Schema.audienceUses.id })
    try Migrator(applicationID: Schema.applicationID, Array(steps[..<place])).migrate(database, at: 0)
    // Not with the program's own statements, which know later columns.
    try database.run("INSERT INTO apps(id, bundle_id, name, created_at) VALUES (1, 'com.example.shop', 'Shop', 0)")
    let drafts: [(json: String, started: Date?, target: Int)] = [
      (#"{"audience":{"tag":["a","b"],"tag_not":["c"]}}"#, noon, 2),
      (#"{"audience":{"tag_and":["a"],"alias":["x"],"segment":["S"]}}"#, noon + 60, 1),
      (#"{"audience":"all"}"#, noon + 90, 5), (#"{"audience":{"tag":["waits"]}}"#, nil, 0),
      (#"{"audience":{"tag":["nobody"]}}"#, noon, 0), ("not JSON", noon, 1),
    ]
    for (number, draft) in drafts.enumerated() {
      try database.run(
        """
        INSERT INTO pushes(uid, seed, app_id, environment, draft, search, state, source, created_by, created_at,
          started_at, target) VALUES (?, 1, 1, 'production', ?, '', 'finished', 'api', 'test', 0, ?, ?)
        """, "p\(number)", draft.json, draft.started, draft.target)
    }
    try Schema.migrator.migrate(database, at: 1)
    #expect(
      try AudienceUse.last(database, app: 1, .tag, ["a", "b", "c", "waits", "nobody"]) == ["a": noon + 60, "b": noon])
    #expect(try AudienceUse.last(database, app: 1, .alias, ["x"]) == ["x": noon + 60])
    #expect(try AudienceUse.last(database, app: 1, .segment, ["S"]) == ["S": noon + 60])
    #expect(try database.int("SELECT count(*) FROM audience_uses") == 4)
  }
}
