import Arguments
import Foundation
import JSON
import Model
import SQLite
import Store
import Text

/// `signalbox pushes …`: what waits for a second person's approval.
enum PushesCommand {
  private static let id = Argument<String>("id", "The push's or schedule's ID, as shown by waiting.")
  private static let remark = Option<String?>("remark", "text", "The reason, shown to the person who asked.")
  private static let parameters = [id.parameter, remark.parameter, CommonOptions.data.parameter]

  static let command = Command<Action>(
    "pushes", "List, approve, and reject pushes and schedules that need a second person's approval.",
    discussion: """
      Anyone who can run this command owns the database, so it may approve what other people asked for, but not what \
      the same system user asked for on the command line. The server sends an approved push.
      """,
    subcommands: [
      Command(
        "waiting", "List pushes and schedules that need approval.",
        parameters: [CommonOptions.data.parameter, CommonOptions.json.parameter], action: list),
      Command("approve", "Approve a push or schedule.", parameters: parameters) { values, io in
        try decide(isApproved: true, values, io)
      },
      Command("reject", "Reject a push, or end a schedule.", parameters: parameters) { values, io in
        try decide(isApproved: false, values, io)
      },
    ])

  private static let limit = 500

  /// What waits, with its ID and app.
  private struct Waiting: JSONObject, Sendable {
    let approval: Approval
    let uid: String
    let app: String
    let text: String
    /// Nil: at once, or a schedule.
    let sendAt: Date?

    init(_ database: Database, _ approval: Approval) throws {
      self.approval = approval
      let (uid, appID, texts, sendAt): (String, Int64, [String?], Date?)
      switch approval.subject {
      case .push(let id):
        let push = try Push.get(database, id: id)
        (uid, appID, texts, sendAt) = (push.uid, push.appID, [push.title, push.body], push.sendAt)
      case .schedule(let id):
        let schedule = try Schedule.get(database, id: id)
        (uid, appID, texts, sendAt) = (schedule.uid, schedule.appID, [schedule.title, schedule.body], nil)
      }
      (self.uid, self.sendAt, app) = (uid, sendAt, try App.get(database, id: appID).bundleID)
      text = texts.compactMap { $0 }.first ?? ""
    }

    func writeMembers(to json: inout JSONWriter) {
      json.member("kind", approval.subject.noun)
      json.member("id", uid)
      json.member("app", app)
      json.member("asked_by", approval.asker.name)
      json.member("asked_at", approval.askedAt)
      json.member("expires_at", approval.expiresAt)
      json.member("reach", approval.reach)
      json.member("send_at", sendAt)
    }
  }

  private static let list: Action = { values, io in
    let waiting = try readStore(values, io) { database in
      try Approval.open(database, limit: limit).map { try Waiting(database, $0) }
    }
    let table = io.table("ID", "KIND", "APP", "DEVICES", "SENDS AT", "ASKED BY", "EXPIRES", "TEXT")
    io.print(waiting, values, in: table) { one in
      [
        one.uid, kind(one.approval.subject, io), one.app, one.approval.reach.map { "\($0)" } ?? "-",
        one.sendAt?.text ?? "-", one.approval.asker.name, one.approval.expiresAt.text, one.text,
      ]
    }
    return ExitCode.done
  }

  private static func kind(_ subject: Approval.Subject, _ io: CommandIO) -> String {
    switch subject {
    case .push: io.text("push")
    case .schedule: io.text("schedule")
    }
  }

  private static func decide(isApproved: Bool, _ values: Parsed, _ io: CommandIO) throws -> Int32 {
    let uid = values[id]
    guard values[remark].map({ $0.count <= Approval.remarkLimit }) ?? true else {
      throw CommandFailure("The remark has more than \(Approval.remarkLimit) characters.")
    }
    var (hasEnded, isPaused) = (false, false)
    do {
      (hasEnded, isPaused) = try writeStore(values, io) { database in
        let subject: Approval.Subject
        if let push = try Push.find(database, uid: uid) {
          subject = .push(push.id)
        } else if let schedule = try Schedule.find(database, uid: uid) {
          subject = .schedule(schedule.id)
        } else {
          throw CommandFailure("Push \(uid) not found. See: signalbox pushes waiting")
        }
        try Approval.decide(
          database, subject, isApproved: isApproved,
          by: ApprovalRule.Actor(commandActor, person: nil, isCommandLine: true), remark: values[remark],
          now: io.now())
        let isPaused = try Approval.find(database, subject)?.isPaused ?? false
        // A schedule whose last run passed while it waited.
        if case .schedule(let id) = subject { return (try Schedule.get(database, id: id).state == .ended, isPaused) }
        return (false, isPaused)
      }
    } catch let problems as Problems {
      throw CommandFailure("\(uid): \(io.sentences(problems.all.map { io.text("\($0.withoutField)") }))")
    }
    if isApproved, hasEnded {
      io.say("Approved \(uid), but its last run has passed: nothing will be sent.")
    } else if isApproved, isPaused {
      io.say("Approved \(uid). It stays paused until someone resumes it.")
    } else {
      io.say(isApproved ? "Approved \(uid). The running server sends it." : "Rejected \(uid).")
    }
    return ExitCode.done
  }
}
