import Foundation
import JSON
import Model
import SQLite
import TestSupport
import Testing

@testable import Store

@Suite("Pushes that need approval: states and who wins")
struct ApprovalTests {
  private static let anna = ApprovalRule.Actor("anna", person: 7)
  private static let root = ApprovalRule.Actor("cli root", person: nil, isCommandLine: true)

  private func asked(
    _ database: Database, _ app: App, uid: String = "p1", sendAt: Date? = nil, undo: Int = 0
  ) throws -> Push {
    var new = newPush(app, uid: uid)
    new.sendAt = sendAt
    new.approval = NewApproval(asker: Self.anna, reach: 12, undoSeconds: undo, from: "192.0.2.1")
    return try Push.create(database, new, now: noon)
  }

  private func codes(_ body: () throws -> Void) -> [String] {
    do { try body() } catch let problems as Problems { return problems.all.map(\.code) } catch { return ["\(error)"] }
    return []
  }

  @Test("what waits is neither due nor unfinished, whatever the time, and cannot be started, paused or resumed")
  func neverPickedUp() throws {
    try withApp { database, app in
      let push = try asked(database, app)
      #expect(push.state == .needsApproval && !push.state.isOver)
      for now in [noon, noon + 86_400 * 30] {
        #expect(try Push.due(database, now: now) == [])
        #expect(try Push.unfinished(database) == [])
      }
      #expect(try WaitingDelivery.leftBehind(database) == [])
      for state in [PushState.sending, .paused, .queued] {
        #expect(try !Push.move(database, id: push.id, from: [.queued, .sending, .paused], to: state, now: noon))
      }
      #expect(try PlannedPush.all(database, after: noon - 1) == [])
      #expect(try Push.states(database) == [.needsApproval: 1])
      let approval = try #require(try Approval.find(database, .push(push.id)))
      #expect(approval.asker == Self.anna && approval.reach == 12 && approval.decision == nil)
      #expect(approval.expiresAt == noon + 86_400)
      #expect(try AuditEntry.list(database, limit: 9).items.map(\.entry.action) == ["push.ask_approval"])
    }
  }

  @Test("approved, it is queued, its undo window and its time to live begin then, and a time that has passed is now")
  func approved() throws {
    try withApp { database, app in
      let later = noon + 7200
      let push = try asked(database, app, sendAt: noon + 60, undo: 30)
      try Approval.decide(database, .push(push.id), isApproved: true, by: Self.root, remark: "Fine", now: later)
      let approved = try Push.get(database, id: push.id)
      #expect(approved.state == .queued && approved.approvedAt == later && approved.sentAt == later)
      #expect(approved.approvalDecision == .approved && approved.refusal == nil && push.approvalDecision == nil)
      #expect(approved.holdUntil == later + 30 && approved.plannedAt == later + 30)
      #expect(try Push.due(database, now: later + 29) == [] && Push.due(database, now: later + 30) == [push.id])
      let entry = try #require(try AuditEntry.list(database, limit: 1).items.first?.entry)
      #expect(entry.action == "push.approve" && entry.actor == "cli root" && entry.detail?["remark"] == "Fine")

      let other = try asked(database, app, uid: "p2", sendAt: noon + 9000)
      try Approval.decide(database, .push(other.id), isApproved: true, by: Self.root, now: later)
      #expect(try Push.due(database, now: noon + 8999) == [push.id])
      #expect(try Push.due(database, now: noon + 9000) == [push.id, other.id], "its own time is still to come")
      #expect(try Push.get(database, id: other.id).sentAt == noon + 9000)
    }
  }

  @Test("each end: rejected with the remark, withdrawn, expired; and nothing after it changes anything")
  func ends() throws {
    try withApp { database, app in
      let rejected = try asked(database, app, uid: "r")
      try Approval.decide(
        database, .push(rejected.id), isApproved: false, by: Self.root, remark: "Wrong text", now: noon + 1)
      #expect(try Push.get(database, id: rejected.id).error == "cli root rejected it: Wrong text")
      let withdrawn = try asked(database, app, uid: "w")
      #expect(try Push.cancel(database, id: withdrawn.id, by: "anna", now: noon + 1))
      let expired = try asked(database, app, uid: "e")
      #expect(try Approval.overdue(database, now: noon + 86_399) == [])
      let overdue = try Approval.overdue(database, now: noon + 86_400)
      #expect(overdue.map(\.subject) == [.push(expired.id)])
      #expect(
        codes { try Approval.decide(database, .push(expired.id), isApproved: true, by: Self.root, now: noon + 86_400) }
          == ["approval.expired"], "also before the expiry is written")
      for approval in overdue {
        #expect(try approval.expire(database, now: noon + 86_400))
        #expect(try !approval.expire(database, now: noon + 86_401))
      }
      for (push, decision) in [
        (rejected, Approval.Decision.rejected), (withdrawn, .withdrawn), (expired, .expired),
      ] {
        let found = try Push.get(database, id: push.id)
        #expect(found.state == .cancelled && found.startedAt == nil && !found.isSettling, "\(push.uid)")
        #expect(try Approval.find(database, .push(push.id))?.decision == decision)
        for isApproved in [true, false] {
          let code = codes {
            try Approval.decide(database, .push(push.id), isApproved: isApproved, by: Self.root, now: noon + 2)
          }
          #expect(code == [decision == .expired ? "approval.expired" : "approval.decided"], "\(push.uid)")
        }
        #expect(try !Push.cancel(database, id: push.id, by: "anna", now: noon + 3))
      }
      #expect(try Push.due(database, now: noon + 99_999) == [] && Approval.open(database, limit: 9) == [])
      let actions = try AuditEntry.list(database, limit: 99).items.map(\.entry.action)
      #expect(actions.filter { $0.hasSuffix("reject") || $0.hasSuffix("approval_expired") }.count == 2)
      #expect(!actions.contains("push.approve"))
    }
  }

  @Test("of many who approve and reject at the same time, exactly one wins; the push is as that one said")
  func concurrency() async throws {
    let folder = try temporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
    // Two processes: the server and a command.
    let stores = try (0..<2).map { _ in
      try Store.open(path: folder + "/signalbox.sqlite", sealer: TestSealer(), now: noon)
    }
    defer { for store in stores { store.close() } }
    let app = try await stores[0].write { try App.add($0, bundleID: "com.example.shop", name: "Shop", now: noon) }
    for round in 0..<20 {
      let push = try await stores[0].write { try asked($0, app, uid: "p\(round)") }
      let wins: [Bool] = try await withThrowingTaskGroup(of: Bool?.self) { group in
        for number in 0..<8 {
          let (store, isApproved) = (stores[number / 2 % 2], number % 2 == 0)
          group.addTask {
            do {
              try await store.write {
                try Approval.decide(
                  $0, .push(push.id), isApproved: isApproved,
                  by: ApprovalRule.Actor("cli \(number)", person: nil, isCommandLine: true), now: noon + 1)
              }
              return isApproved
            } catch let problems as Problems {
              #expect(problems.all.map(\.code) == ["approval.decided"])
              return nil
            }
          }
        }
        return try await group.reduce(into: []) { if let win = $1 { $0.append(win) } }
      }
      let found = try await stores[1].read { try Push.get($0, id: push.id) }
      #expect(wins.count == 1 && found.state == (wins[0] ? .queued : .cancelled))
    }
  }

  @Test("a schedule is approved once, and again when it is changed; an approval of the former one is worth nothing")
  func schedule() throws {
    try withApp { database, app in
      let json: JSONValue = [
        "app": "com.example.shop", "environment": "production", "audience": "all", "notification": ["body": "hello"],
        "repeat": ["every": "day", "at": "13:00", "time_zone": "UTC"],
      ]
      var new = NewSchedule(
        uid: "s1", appID: app.id, draft: try PushDraft(json: json), source: .web, createdBy: "anna")
      new.approval = NewApproval(asker: Self.anna, reach: 3)
      let schedule = try Schedule.create(database, new, now: noon)
      #expect(schedule.state == .needsApproval && schedule.nextAt == nil)
      #expect(try Schedule.due(database, now: noon + 86_400 * 3) == [])
      #expect(try !Schedule.resume(database, id: schedule.id, now: noon))
      try Approval.decide(database, .schedule(schedule.id), isApproved: true, by: Self.root, now: noon + 1)
      let active = try Schedule.get(database, id: schedule.id)
      #expect(active.state == .active && active.nextAt == noon + 3600)
      let made = try Schedule.carryOn(database, id: schedule.id, now: noon + 3600) { _, _, _ in
        newPush(app, uid: "run")
      }
      #expect(made?.state == .queued, "a run of an approved schedule goes out")

      #expect(try Schedule.pause(database, id: schedule.id))
      #expect(try Schedule.replace(database, id: schedule.id, with: new, now: noon + 3900))
      #expect(try Schedule.replace(database, id: schedule.id, with: new, now: noon + 3901))
      try Approval.decide(database, .schedule(schedule.id), isApproved: true, by: Self.root, now: noon + 3902)
      let paused = try Schedule.get(database, id: schedule.id)
      #expect(paused.state == .paused && paused.nextAt == nil, "approval resumes nothing")
      #expect(try Schedule.replace(database, id: schedule.id, with: new, now: noon + 3903))
      var free = new
      free.approval = nil
      #expect(try Schedule.replace(database, id: schedule.id, with: free, now: noon + 3904))
      let still = try Schedule.get(database, id: schedule.id)
      #expect(still.state == .paused && still.nextAt == nil, "nor does a change that needs no approval")
      #expect(try Schedule.resume(database, id: schedule.id, now: noon + 3905))

      #expect(try Schedule.replace(database, id: schedule.id, with: new, now: noon + 4000))
      #expect(try Schedule.get(database, id: schedule.id).state == .needsApproval)
      #expect(try Schedule.replace(database, id: schedule.id, with: new, now: noon + 4001))
      #expect(try Approval.open(database, limit: 9).count == 1, "the former request is closed")
      try Approval.decide(database, .schedule(schedule.id), isApproved: false, by: Self.root, now: noon + 4002)
      let ended = try Schedule.get(database, id: schedule.id)
      #expect(ended.state == .ended && ended.error == "cli root rejected it.")
      #expect(try Approval.find(database, .schedule(schedule.id))?.decision == .rejected)
    }
  }

  @Test("a schedule whose last run passed before its approval ends, and says why")
  func approvedLate() throws {
    try withApp { database, app in
      let json: JSONValue = [
        "app": "com.example.shop", "environment": "production", "audience": "all", "notification": ["body": "hello"],
        "repeat": ["every": "day", "at": "13:00", "time_zone": "UTC", "count": 1],
      ]
      var new = NewSchedule(
        uid: "s1", appID: app.id, draft: try PushDraft(json: json), source: .web, createdBy: "anna")
      new.approval = NewApproval(asker: Self.anna, reach: 3)
      let schedule = try Schedule.create(database, new, now: noon)
      try Approval.decide(database, .schedule(schedule.id), isApproved: true, by: Self.root, now: noon + 3601)
      let ended = try Schedule.get(database, id: schedule.id)
      #expect(ended.state == .ended)
      #expect(ended.error == "Its last run had passed before it was approved, so it does not run.")
    }
  }

  @Test("a new rule of its segment lets a push wait for another approval, also one that waits or is paused")
  func segment() throws {
    try withApp { database, app in
      let entry = NewAuditEntry(actor: "anna", action: "", subject: "")
      _ = try App.setApproval(database, id: app.id, true, by: entry, now: noon)
      let segment = try Segment.add(
        database, app: app.id, name: "few", SegmentRule(json: ["tag": ["a"]]), by: "anna", now: noon)
      let pushes = try ["approved", "paused", "waiting", "begun"].map { uid in
        var new = newPush(app, uid: uid)
        new.draftJSON = #"{"platforms":["ios"],"audience":{"segment":["few"]}}"#
        (new.searchTerms, new.sendAt) = (["few"], noon + 7200)
        new.approval = NewApproval(asker: Self.anna, reach: 12)
        return try Push.create(database, new, now: noon)
      }
      for push in pushes where push.uid != "waiting" {
        try Approval.decide(database, .push(push.id), isApproved: true, by: Self.root, now: noon + 1)
      }
      #expect(try Push.move(database, id: pushes[1].id, from: [.queued], to: .paused, now: noon + 2))
      #expect(try Push.move(database, id: pushes[3].id, from: [.queued], to: .sending, now: noon + 2))
      let problems = codes { _ = try segment.change(database, name: "many", segment.rule, now: noon + 3) }
      #expect(problems == ["segment.in_use"])
      #expect(try segment.uses(database).pushes.map(\.uid) == ["approved", "paused", "waiting"])

      let changed = try segment.change(database, name: "few", SegmentRule(json: ["tag": ["b"]]), now: noon + 3)
      let ben = ApprovalRule.Actor("ben", person: nil)
      // Changed twice: what was paused is still known.
      for _ in 0..<2 { try changed.askAgain(database, by: ben, from: nil, now: noon + 3) }
      for push in pushes[..<3] {
        #expect(try Push.get(database, id: push.id).state == .needsApproval, "\(push.uid)")
        let approval = try #require(try Approval.find(database, .push(push.id)))
        #expect(approval.decision == nil && approval.asker == ben, "\(push.uid)")
        try Approval.decide(database, .push(push.id), isApproved: true, by: Self.root, now: noon + 4)
        let expected = push.uid == "paused" ? PushState.paused : .queued
        #expect(try Push.get(database, id: push.id).state == expected, "\(push.uid)")
      }
      #expect(try Push.move(database, id: pushes[1].id, from: [.paused], to: .queued, now: noon + 5))
      #expect(try Push.due(database, now: noon + 7200).contains(pushes[1].id), "once somebody resumes it")
      #expect(try Push.get(database, id: pushes[3].id).state == .sending)
      #expect(try Approval.open(database, limit: 9) == [])
    }
  }

  @Test("whether a person may send to production is asked again when the person decides")
  func permission() throws {
    try withApp { database, app in
      let ben = try User.add(database, name: "ben@example.com", role: .operator, now: noon)
      #expect(ben.sendsToProduction)
      let push = try asked(database, app)
      let entry = NewAuditEntry(actor: "anna", action: "", subject: "")
      try PersonChange.production(false).apply(database, to: ben.id, by: nil, audit: entry, now: noon)
      #expect(try !User.get(database, id: ben.id).sendsToProduction && !Approval.maySend(database, person: ben.id))
      let actor = ApprovalRule.Actor(ben.name, person: ben.id)
      let decide = { try Approval.decide(database, .push(push.id), isApproved: true, by: actor, now: noon) }
      #expect(codes(decide) == ["production.not_permitted"])
      #expect(try Push.get(database, id: push.id).state == .needsApproval)
      try PersonChange.production(true).apply(database, to: ben.id, by: nil, audit: entry, now: noon)
      #expect(codes(decide) == [])
      let detail = try AuditEntry.list(database, .init(action: "user.production"), limit: 9).items.last?.entry.detail
      #expect(detail?["before"]?["sends_to_production"] == true && detail?["after"]?["sends_to_production"] == false)
      #expect(try Approval.maySend(database, person: nil) && !Approval.maySend(database, person: 999))
    }
  }
}
