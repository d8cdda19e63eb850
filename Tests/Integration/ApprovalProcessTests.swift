import Foundation
import Glibc
import JSON
import Model
import SQLite
import Simulator
import Store
import TestSupport
import Testing

/// The command line and the whole program: a push waits over a crash, and is sent once it is approved.
@Suite("Approval through the whole program", .serialized, .timeLimit(.minutes(5)))
struct ApprovalProcessTests {
  private static let app = DeliveryScene.topic
  private static let colleague = ApprovalRule.Actor("cli colleague", person: nil, isCommandLine: true)

  /// Sends with the command line, to every device in production.
  private func ask(_ scene: DeliveryScene, _ words: String...) async throws -> Push {
    let sent = await scene.box.run(
      ["send", "--app", Self.app, "--environment", "production", "--broadcast", "--body", "x", "--json"] + words,
      now: Date())
    #expect(sent.code == 0 && sent.json?["state"] == "needs_approval", "\(sent)")
    #expect(sent.errors.contains("waits for a second person's approval"))
    let uid = try #require(sent.json?["id"]?.string)
    return try #require(try await scene.store.read { try Push.find($0, uid: uid) })
  }

  @Test("asked for on the command line: it waits, its asker may not approve, somebody else may")
  func commands() async throws {
    try await DeliveryScene.run { scene in
      let phones = try await scene.add(3, environment: .production)
      #expect(await scene.box.run("apps", "approval", Self.app, "on", now: Date()).code == 0)
      // Without a server, the command itself would send.
      let push = try await ask(scene)
      #expect(phones.allSatisfy { scene.simulator.phones.phone($0.id)?.received.isEmpty == true })
      let waiting = await scene.box.run("pushes", "waiting", "--json", now: Date())
      let first = waiting.json?.array?.first
      #expect(first?["id"]?.string == push.uid && first?["reach"]?.integer == 3 && first?["send_at"] == .null)
      #expect(await scene.box.run("pushes", "waiting", now: Date()).output.contains(push.uid))
      let own = await scene.box.run("pushes", "approve", push.uid, now: Date())
      #expect(own.code == 1 && own.errors.contains("You asked for this yourself"))
      _ = try await scene.store.write {
        try $0.run("UPDATE approvals SET asked_by = 'anna@example.com', asked_person = 7")
      }
      #expect(await scene.box.run("pushes", "approve", "none", now: Date()).errors.contains("Push none not found"))
      #expect(await scene.box.run("pushes", "approve", push.uid, now: Date()).code == 0)
      let late = await scene.box.run("pushes", "reject", push.uid, "--remark", "no", now: Date())
      #expect(late.code == 1 && late.errors.contains("has already decided: approved"))
      try await scene.carryOutAnew(push)
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.received == 3 && tally.doubles == 0, "\(tally)")
    }
  }

  @Test("the list says when a push would be sent; a schedule approved after its last run does not run, and says so")
  func times() async throws {
    try await DeliveryScene.run { scene in
      _ = try await scene.add(1, environment: .production)
      let minute = Int(Date().timeIntervalSince1970) / 60 - 60
      let anHourAgo = String(format: "%02d:%02d", minute / 60 % 24, minute % 60)
      try await scene.store.write { database in
        let json: JSONValue = [
          "app": .string(Self.app), "environment": "production", "audience": "all", "notification": ["body": "x"],
          "repeat": ["every": "day", "at": .string(anHourAgo), "time_zone": "UTC", "count": 1],
        ]
        let app = try #require(try App.find(database, bundleID: Self.app))
        let asked = NewApproval(asker: ApprovalRule.Actor("anna@example.com", person: nil), reach: 1)
        var schedule = NewSchedule(
          uid: "late", appID: app.id, draft: try PushDraft(json: json), source: .web, createdBy: "anna@example.com")
        schedule.approval = asked
        try Schedule.create(database, schedule, now: Date().addingTimeInterval(-7200))
        var push = NewPush(
          uid: "planned", seed: 42, appID: app.id, environment: .production, draftJSON: "{}", source: .web,
          createdBy: "anna@example.com")
        (push.sendAt, push.approval) = (Date(timeIntervalSince1970: 1_900_000_000), asked)
        _ = try Push.create(database, push, now: Date())
      }
      let waiting = await scene.box.run("pushes", "waiting", "--json", now: Date())
      let planned = waiting.json?.array?.first { $0["id"]?.string == "planned" }
      #expect(planned?["send_at"]?.string == "2030-03-17T17:46:40Z", "\(waiting)")
      let late = await scene.box.run("pushes", "approve", "late", now: Date())
      #expect(late.code == 0 && late.output.contains("its last run has passed"), "\(late)")
    }
  }

  @Test("the server is killed while it waits, and again right after the approval: it is sent, to everybody once")
  func killed() async throws {
    try await DeliveryScene.run { scene in
      let phones = try await scene.add(200, environment: .production)
      #expect(await scene.box.run("apps", "approval", Self.app, "on", now: Date()).code == 0)
      var child = try await scene.serve()
      let push = try await ask(scene, "--at-most-once")
      child.send(SIGKILL)
      _ = await child.status()
      #expect(try await scene.progress(push).state == .needsApproval)
      // Approved with no server, so the approval is all that the next one finds.
      try await scene.store.write {
        try Approval.decide($0, .push(push.id), isApproved: true, by: Self.colleague, now: Date())
      }
      child = try await scene.serve()
      try await scene.finished(push, by: child)
      let first = try await scene.tally(push, phones)
      #expect(first.isWhole && first.received == 200 && first.doubles == 0, "\(first)")

      for phone in phones { try scene.simulator.phones.clear(phone.id) }
      scene.simulator.faults(.production).set(try Faults(parsing: "delay=50ms", for: .production))
      let second = try await ask(scene)
      try await scene.store.write {
        try Approval.decide($0, .push(second.id), isApproved: true, by: Self.colleague, now: Date())
      }
      child.send(SIGKILL)
      _ = await child.status()
      let last = try await scene.serve()
      try await scene.finished(second, by: last)
      #expect(await scene.stop(last) == 0, "\(last.errorText)")
      let tally = try await scene.tally(second, phones)
      let repeats = try await scene.store.read { try Push.get($0, id: second.id).repeats }
      #expect(tally.isWhole && tally.received == 200 && tally.doubles <= repeats.total, "\(tally), told \(repeats)")
    }
  }
}
