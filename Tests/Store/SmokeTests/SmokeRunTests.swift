import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("Smoke tests: runs and how they end")
struct SmokeRunTests {
  private static let entry = NewAuditEntry(actor: "anna", action: "", subject: "")

  private static func draft(_ app: App) -> PushDraft {
    var draft = PushDraft(
      app: app.bundleID, environment: .production, platforms: [.ios], audience: .all, notification: PushNotification())
    draft.notification.title = "Shipped"
    return draft
  }

  private func withRun(
    _ expected: SmokeExpectation = SmokeExpectation(), devices count: Int = 3,
    _ body: (Database, SmokeRun, Push, [Int64]) throws -> Void
  ) throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<count).map { registration($0) })
      let content = SmokeTestContent(name: "Order shipped", draft: Self.draft(app), expected: expected)
      let test = try SmokeTest.create(database, content, by: Self.entry, now: noon)
      let push = try Push.create(database, newPush(app, uid: "p1"), now: noon)
      let run = try SmokeRun.start(database, test, push: push, source: .api, by: Self.entry, now: noon)
      try body(database, run, push, ids)
    }
  }

  private func finish(_ database: Database, _ push: Push, _ outcomes: [Int64: Outcome]) throws {
    _ = try Push.move(database, id: push.id, from: [.queued], to: .sending, now: noon + 1)
    _ = try Delivery.record(
      database, push: push.id,
      outcomes.map { DeliveryResult(deviceID: $0, platform: .ios, outcome: $1, at: noon + 2) }, now: noon + 2)
    _ = try Push.move(database, id: push.id, from: [.sending], to: .finished, now: noon + 2)
  }

  @Test("goes on while the push does, then names each device that differs; a second look changes nothing")
  func settled() throws {
    try withRun { database, run, push, ids in
      #expect(try SmokeRun.endIfDone(database, id: run.id, now: noon + 1).state == .running)
      #expect(try SmokeRun.quietTime(database).contains(noon + 1))
      let bad = Outcome.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)
      try finish(database, push, [ids[0]: .accepted, ids[1]: bad, ids[2]: .accepted])
      #expect(try !SmokeRun.quietTime(database).contains(noon + 3))
      let ended = try SmokeRun.endIfDone(database, id: run.id, now: noon + 3)
      #expect(ended.state == .failed && ended.error == nil && ended.devices == 3 && ended.endedAt == noon + 3)
      #expect(ended.differences.map(\.device) == [ids[1]] && ended.differences.map(\.got) == ["BadDeviceToken"])
      #expect(try SmokeRun.endIfDone(database, id: run.id, now: noon + 9) == ended)
      #expect(try SmokeTest.red(database).map(\.name) == ["Order shipped"])
      #expect(try SmokeRun.running(database).isEmpty && SmokeRun.quietTime(database).contains(noon + 9))
    }
  }

  @Test("receipts are waited for as long as the test says")
  func receipts() throws {
    var expected = SmokeExpectation()
    expected.displayedWithin = 20
    try withRun(expected, devices: 1) { database, run, push, ids in
      try finish(database, push, [ids[0]: .accepted])
      #expect(try SmokeRun.endIfDone(database, id: run.id, now: noon + 10).state == .running)
      let quiet = try SmokeRun.quietTime(database)
      #expect(quiet.contains(noon + 23.999) && !quiet.contains(noon + 24))
      let ended = try SmokeRun.endIfDone(database, id: run.id, now: noon + 25)
      #expect(ended.state == .failed && ended.differences.map(\.got) == ["not_displayed"])
    }
  }

  @Test("the next process ends what the one before left, and says so")
  func interrupted() throws {
    try withRun { database, run, _, _ in
      #expect(try SmokeRun.interrupt(database, now: noon + 60) == 1)
      let ended = try SmokeRun.get(database, id: run.id)
      #expect(ended.state == .failed && ended.error == .interrupted && ended.endedAt == noon + 60)
    }
  }

  @Test("without outcomes in time, canceled, given up, or with nobody, it fails with that reason")
  func failed() throws {
    try withRun { database, run, _, _ in
      let late = noon.addingTimeInterval(SmokeRun.patience)
      let ended = try SmokeRun.endIfDone(database, id: run.id, now: late)
      #expect(ended.error == .timedOut)
    }
    for (state, error) in [(PushState.cancelled, SmokeRunError.canceled), (.failed, .notSent), (.finished, .nobody)] {
      try withRun { database, run, push, _ in
        _ = try Push.move(database, id: push.id, from: [.queued], to: state, error: "Why", now: noon + 1)
        #expect(try !SmokeRun.quietTime(database).contains(noon + 2))
        let ended = try SmokeRun.endIfDone(database, id: run.id, now: noon + 2)
        #expect(ended.state == .failed && ended.error == error && ended.detail == (error == .notSent ? "Why" : nil))
      }
    }
  }

  @Test("a name is taken once, old runs go, and the app takes its tests along")
  func kept() throws {
    try withApp { database, app in
      let content = SmokeTestContent(name: "Hello", draft: Self.draft(app), expected: SmokeExpectation())
      let test = try SmokeTest.create(database, content, by: Self.entry, now: noon)
      var other = content
      other.name = "HELLO"
      let twice = other
      #expect(throws: Problems.self) { try SmokeTest.create(database, twice, by: Self.entry, now: noon) }
      other.draft.sendAt = noon
      let later = other
      #expect(throws: Problems.self) { try SmokeTest.create(database, later, by: Self.entry, now: noon) }
      for _ in 0..<SmokeRun.kept + 2 {
        _ = try SmokeRun.start(
          database, test, push: nil, detail: "No", source: .cli, by: Self.entry, now: noon)
      }
      #expect(try database.int("SELECT count(*) FROM smoke_runs") == SmokeRun.kept)
      try App.delete(database, id: app.id)
      #expect(try database.int("SELECT count(*) FROM smoke_tests") == 0)
      #expect(try database.int("SELECT count(*) FROM smoke_runs") == 0)
    }
  }
}
