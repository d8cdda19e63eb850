import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("Incidents: opened, counted and healed with the results")
struct IncidentStoreTests {
  private static let bad = Outcome.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)
  private static let gone = Outcome.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: nil)
  private static let forged = Outcome.rejected(status: 403, reason: "InvalidProviderToken", tokenInvalidSince: nil)
  private static let large = Outcome.rejected(status: 413, reason: "PayloadTooLarge", tokenInvalidSince: nil)

  private func all(_ database: Database, _ state: IncidentState? = nil, now: Date = noon) throws -> [Incident] {
    try Incident.list(database, IncidentFilter(state: state, now: now), limit: 100).items
  }

  @discardableResult
  private func push(_ database: Database, _ app: App, _ uid: String, _ change: (inout NewPush) -> Void = { _ in })
    throws -> Push
  {
    var new = newPush(app, uid: uid)
    change(&new)
    return try Push.create(database, new, now: noon)
  }

  private func record(
    _ database: Database, _ push: Push, _ ids: some Sequence<Int64>, _ outcome: Outcome, at: Double
  ) throws {
    _ = try Delivery.record(
      database, push: push.id,
      ids.map { DeliveryResult(deviceID: $0, platform: .ios, outcome: outcome, at: noon + at) }, now: noon + at)
  }

  private func actions(_ database: Database) throws -> [String] {
    try AuditEntry.list(database, limit: 100).items.map(\.entry.action).filter { $0.hasPrefix("incident.") }.reversed()
  }

  @Test("842 of 845 fail in batches: one incident, which more pushes do not hide")
  func wrongEnvironment() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<845).map { registration($0) })
      let moved = try push(database, app, "moved")
      for start in stride(from: 0, to: 842, by: 100) {
        try record(database, moved, ids[start..<min(start + 100, 842)], Self.bad, at: 10)
      }
      try record(database, moved, ids[842...], .accepted, at: 10)
      let found = try #require(try all(database).first)
      #expect(try all(database).count == 1)
      #expect(found.cause == IncidentCause(.parked, "BadDeviceToken") && found.devices == 842 && found.pushes == 1)
      #expect(found.place == IncidentPlace(app: app.id, environment: .production, provider: .apns))
      // Far more than the last 10 pushes later, all of them accepted.
      for number in 0..<30 { try record(database, push(database, app, "p\(number)"), [ids[844]], .accepted, at: 60) }
      #expect(try all(database, .open) == [found])
      // A batch that comes again after a kill changes nothing.
      try record(database, moved, ids[0..<842], Self.bad, at: 90)
      #expect(try all(database).first?.devices == 842)
      #expect(try actions(database) == ["incident.open"])
    }
  }

  @Test("961 of 964 devices parked: said although no push says so, and over when none is parked")
  func parkedInNumber() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<964).map { registration($0) })
      let verdicts = ids[0..<961].map {
        TokenVerdict(deviceID: $0, state: .quarantined, reason: "BadDeviceToken", since: noon + 5, push: nil)
      }
      #expect(try all(database).isEmpty)
      try TokenVerdict.carryOut(database, Array(verdicts[0..<19]), now: noon + 6)
      #expect(try all(database).isEmpty, "19 are not many")
      try TokenVerdict.carryOut(database, Array(verdicts[19...]), now: noon + 6)
      let found = try #require(try all(database, .open).first)
      #expect(found.cause.kind == .parked && found.devices == 961 && found.pushes == 0)
      _ = try register(database, app, (0..<960).map { registration($0) }, now: noon + 60)
      #expect(try all(database, .open).count == 1, "one is parked still")
      _ = try register(database, app, [registration(960)], now: noon + 60)
      let healed = try #require(try all(database, .closed).first)
      #expect(healed.id == found.id && healed.hasHealed)
      #expect(try actions(database) == ["incident.open", "incident.heal"])
    }
  }

  @Test("a few unregistered devices are no incident, many are; a closed one is not news before they are a fifth more")
  func unregistered() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<200).map { registration($0) })
      let first = try push(database, app, "first")
      try record(database, first, ids[0..<40], Self.gone, at: 10)
      #expect(try all(database).isEmpty, "40 of 200 are a fifth")
      try record(database, first, ids[40..<60], Self.gone, at: 11)
      let found = try #require(try all(database, .open).first)
      #expect(found.cause == IncidentCause(.unregistered, "Unregistered") && found.devices == 60)
      let entry = NewAuditEntry(actor: "anna", action: "", subject: "")
      try IncidentChange(event: .close, remark: "Known").carryOut(database, id: found.id, by: entry, now: noon + 12)
      try record(database, first, ids[60..<79], Self.gone, at: 13)
      #expect(try all(database, .open).isEmpty)
      try record(database, first, ids[79..<81], Self.gone, at: 14)
      #expect(try all(database, .open).first?.devices == 81)
      #expect(try actions(database) == ["incident.open", "incident.close", "incident.return"])
      _ = try register(database, app, (0..<60).map { registration($0) }, now: noon + 60)
      #expect(try all(database, .open).isEmpty)
    }
  }

  @Test("a missing credential is over as soon as one is assigned, in its place alone")
  func missingCredential() throws {
    try withApp { database, app in
      let ids = try register(database, app, [registration(0)])
      try record(database, push(database, app, "bare"), ids, .skipped(reason: "NoCredential"), at: 10)
      func bind(_ environment: Environment) throws {
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: environment, certificate: nil, endpoint: "simulator",
          now: noon + 20)
      }
      try bind(.development)
      #expect(try all(database, .open).map(\.cause) == [IncidentCause(.credential, "NoCredential")])
      try bind(.production)
      #expect(try all(database, .closed).first?.hasHealed == true)
      #expect(try all(database, .open).isEmpty)
    }
  }

  @Test("a refused credential heals at the next accepted push, not by answers from before; what waited belongs to it")
  func credential() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<10).map { registration($0) })
      let first = try push(database, app, "first")
      try record(database, first, [ids[0]], Self.forged, at: 10)
      try record(database, first, ids[1..<5], .skipped(reason: "CredentialRefused"), at: 11)
      let found = try #require(try all(database).first)
      #expect(try all(database).count == 1)
      #expect(found.cause == IncidentCause(.credential, "InvalidProviderToken") && found.devices == 5)
      // Asked before the refusal, answered after it.
      var late = DeliveryResult(deviceID: ids[5], platform: .ios, outcome: .accepted, at: noon + 12)
      late.durationMilliseconds = 5000
      _ = try Delivery.record(database, push: first.id, [late], now: noon + 12)
      #expect(try all(database, .open).count == 1)
      // Another service of the same app proves nothing.
      let other = DeliveryResult(deviceID: ids[6], platform: .android, outcome: .accepted, at: noon + 13)
      _ = try Delivery.record(database, push: first.id, [other], now: noon + 13)
      #expect(try all(database, .open).count == 1)
      let second = try push(database, app, "second")
      try record(database, second, [ids[0]], .accepted, at: 20)
      #expect(try all(database, .closed).first?.hasHealed == true)
      try record(database, push(database, app, "third"), [ids[0]], Self.forged, at: 30)
      let back = try #require(try all(database, .open).first)
      #expect(back.id == found.id && back.devices == 6 && back.pushes == 2 && back.closedAt == nil)
      #expect(back.openedAt == noon + 30 && back.firstAt == noon + 10 && back.lastAt == noon + 30)
      #expect(try actions(database) == ["incident.open", "incident.heal", "incident.return"])
    }
  }

  @Test("a refused credential is one incident, whatever the provider calls the refusal, and whichever batch is first")
  func oneRefusal() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<4).map { registration($0) })
      let first = try push(database, app, "first")
      try record(database, first, [ids[0]], .skipped(reason: "CredentialRefused"), at: 10)
      try record(database, first, [ids[1]], Self.forged, at: 11)
      let expired = Outcome.rejected(status: 403, reason: "ExpiredProviderToken", tokenInvalidSince: nil)
      try record(database, first, [ids[2]], expired, at: 12)
      let found = try all(database)
      #expect(found.map(\.cause) == [IncidentCause(.credential, "InvalidProviderToken")])
      #expect(found.first?.devices == 3)
      // What is refused for another cause is another incident.
      try record(database, first, [ids[3]], Self.large, at: 13)
      #expect(try all(database).count == 2)
    }
  }

  @Test("a refused push heals by its retry alone")
  func request() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<3).map { registration($0) })
      let first = try push(database, app, "first")
      try record(database, first, ids, Self.large, at: 10)
      try record(database, push(database, app, "other"), ids, .accepted, at: 20)
      #expect(try all(database, .open).first?.cause == IncidentCause(.request, "PayloadTooLarge"))
      try record(database, push(database, app, "retry") { $0.parentID = first.id }, ids, .accepted, at: 30)
      #expect(try all(database, .open).isEmpty)
    }
  }

  @Test("a provider out of reach opens before any device has an outcome, and heals by the first that gets through")
  func heldUp() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<3).map { registration($0) })
      let first = try push(database, app, "first")
      let skipped = Outcome.skipped(reason: "Unreachable")
      for at in [10.0, 40] {
        let waiting = ids.map {
          WaitingDelivery(deviceID: $0, dueAt: noon + at + 30, attempts: 0, firstAt: noon, last: skipped)
        }
        _ = try Delivery.record(
          database, push: first.id, [], waiting: waiting, holdUps: [(.apns, "Unreachable")], now: noon + at)
      }
      let found = try #require(try all(database, .open).first)
      #expect(found.cause == IncidentCause(.service, "Unreachable") && found.devices == 0 && found.pushes == 1)
      #expect(found.lastAt == noon + 40 && found.holdsUp)
      // Nothing is held up by it once the push is over, though the provider has not answered yet.
      try database.run("UPDATE pushes SET state = 'cancelled' WHERE id = ?", first.id)
      #expect(try all(database, .open).map(\.holdsUp) == [false])
      try database.run("UPDATE pushes SET state = 'sending' WHERE id = ?", first.id)
      try record(database, first, ids, .accepted, at: 80)
      #expect(try all(database, .closed).first?.hasHealed == true)
      // One slow answer beside others that are accepted is no incident.
      let second = try push(database, app, "second")
      _ = try Delivery.record(
        database, push: second.id,
        [DeliveryResult(deviceID: ids[0], platform: .ios, outcome: .accepted, at: noon + 90)],
        holdUps: [(.apns, "ServiceUnavailable")], now: noon + 90)
      #expect(try all(database).count == 1)
    }
  }

  @Test("a batch that is rolled back leaves neither outcomes nor counts")
  func rolledBack() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<50).map { registration($0) })
      let first = try push(database, app, "first")
      struct Killed: Error {}
      for isKilled in [true, false] {
        do {
          try database.transaction {
            try record(database, first, ids, Self.bad, at: 10)
            if isKilled { throw Killed() }
          }
        } catch is Killed {
          #expect(try all(database).isEmpty && Push.get(database, id: first.id).counts.failed == 0)
        }
      }
      #expect(try all(database).map(\.devices) == [50])
      #expect(try Push.get(database, id: first.id).counts.failed == 50)
      #expect(try Incident.pushes(database, id: 1, limit: 9).map(\.devices) == [50])
    }
  }

  private func act(_ database: Database, _ change: IncidentChange, at: Double = 1) throws -> Incident {
    let entry = NewAuditEntry(actor: "anna", action: "", subject: "")
    return try change.carryOut(database, id: 1, by: entry, now: noon + at)
  }

  /// The code of the refusal; nil: it was carried out.
  private func code(_ database: Database, _ change: IncidentChange) throws -> String? {
    do {
      _ = try act(database, change)
      return nil
    } catch let problems as Problems {
      return problems.all.first?.code
    }
  }

  @Test("people assign, snooze, close with a remark, and reopen; the log says so; what cannot be is refused")
  func acts() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<3).map { registration($0) })
      try record(database, push(database, app, "first"), ids, Self.large, at: 0)
      _ = try User.add(database, name: "lin", role: .operator, now: noon)
      #expect(try act(database, IncidentChange(assignee: "lin")).assignee == "lin")
      #expect(try code(database, IncidentChange(assignee: "eve")) == "incident.nobody")
      #expect(try code(database, IncidentChange(event: .close)) == "incident.remark")
      #expect(try code(database, IncidentChange(event: .snooze(until: noon))) == "incident.until")
      let snoozed = try act(database, IncidentChange(event: .snooze(until: noon + 3600)))
      #expect(snoozed.state(at: noon + 3599) == .snoozed && snoozed.state(at: noon + 3600) == .open)
      #expect(try Incident.counts(database, now: noon + 2) == Incident.Counts(snoozed: 1))
      #expect(try Incident.counts(database, now: noon + 3600) == Incident.Counts(open: 1))
      #expect(try all(database, .open, now: noon + 3600).count == 1)
      let closed = try act(database, IncidentChange(event: .close, remark: "Shortened"), at: 9)
      #expect(closed.closedBy == "anna" && closed.remark == "Shortened" && closed.closedAt == noon + 9)
      #expect(try code(database, IncidentChange(event: .snooze(until: noon + 3600))) == "incident.closed")
      #expect(try act(database, IncidentChange(event: .reopen, assignee: .some(nil)), at: 10).assignee == nil)
      #expect(
        try actions(database) == [
          "incident.open", "incident.assign", "incident.snooze", "incident.close", "incident.assign", "incident.reopen",
        ])
      try App.delete(database, id: app.id)
      #expect(try all(database).isEmpty)
    }
  }

  @Test("pages of the list: the last opened first, each once")
  func paging() throws {
    try withApp { database, app in
      let ids = try register(database, app, (0..<1).map { registration($0) })
      for number in 0..<7 {
        let refused = Outcome.rejected(status: 400, reason: "Odd\(number)", tokenInvalidSince: nil)
        try record(database, push(database, app, "p\(number)"), ids, refused, at: Double(number))
      }
      var seen: [String] = []
      var cursor: String?
      repeat {
        let page = try Incident.list(database, IncidentFilter(app: app.id, now: noon), cursor: cursor, limit: 3)
        seen += page.items.map(\.cause.reason)
        cursor = page.next
      } while cursor != nil
      #expect(seen == (0..<7).reversed().map { "Odd\($0)" })
    }
  }
}
