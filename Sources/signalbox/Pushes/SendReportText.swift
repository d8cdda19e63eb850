import Delivery
import Foundation
import JSON
import Model
import Store
import Text

/// What `send` prints about a push: the counts, and each reason with its remedy.
struct SendReportText: JSONObject {
  private let push: Push
  private let app: App
  private let reasons: [Delivery.ReasonCount]
  private let providers: [Delivery.ProviderCounts]
  private let progress: PushProgress
  private let isServed: Bool
  private let left: Int
  private let data: String
  private let isDryRun: Bool

  /// - Parameters:
  ///   - expected: the number of devices counted when the push was created.
  ///   - data: the data folder to start a server with.
  init(_ store: Store, _ sent: Sending.Left, expected: Int, data: String, isDryRun: Bool) throws {
    let push = sent.push
    (self.push, isServed, self.data, self.isDryRun) = (push, sent.isServed, data, isDryRun)
    left = push.pending ?? expected
    (app, reasons, providers, progress) = try store.readSync { database in
      let reasons = try Delivery.reasonCounts(database, push: push.id)
      return (
        try App.get(database, id: push.appID), reasons,
        try Delivery.providerCounts(database, push: push.id, reasons),
        try PushProgress.find(database, push: push.id)
      )
    }
  }

  /// 0 only if nothing failed and nothing is left: every device was accepted or, without `--wait`, a server has the
  /// push.
  func exitCode(isWaited: Bool, now: Date) -> Int32 {
    switch push.state {
    case .finished:
      let counts = push.counts
      return counts.accepted + (isDryRun ? counts.skipped : 0) == counts.total ? ExitCode.done : ExitCode.failed
    case .needsApproval: return isWaited ? ExitCode.unfinished : ExitCode.done
    case .queued, .sending, .paused:
      let isLaters = isServed || push.waits(now: now) != nil
      return isLaters && !isWaited ? ExitCode.done : ExitCode.unfinished
    case .cancelled, .failed: return ExitCode.failed
    }
  }

  /// What is left to send and who continues it; nil if nothing is left.
  func rest(now: Date) -> Message? {
    guard !push.state.isOver else { return nil }
    if push.state == .needsApproval {
      return "the push waits for a second person's approval: in the console, or signalbox pushes approve \(push.uid)"
    }
    let start = "signalbox serve --data \(data)"
    if push.waits(now: now) != nil {
      return isServed ? nil : "no server is running with this data folder; start one by then: \(start)"
    }
    let devices = Message(
      count: left, one: "1 device is left", other: "\(left) of \(push.target ?? left) devices are left")
    if push.state == .paused { return "\(devices) until someone resumes the push in the console" }
    if isServed { return "\(devices); the running server continues" }
    return isDryRun
      ? "\(devices) to check; the dry run continues when a server is started: \(start)"
      : "\(devices)\(waitingText); sending continues when a server is started: \(start)"
  }

  func lines(_ io: CommandIO) -> [String] {
    let subject = "\(push.uid)  \(app.bundleID) \(io.word(push.environment))"
    var lines = [io.text("\(subject): \(headline(io))")]
    if let error = push.error { lines.append("  \(singleLine(io.recorded(error)))") }
    for part in providers where providers.count > 1 {
      let (name, accepted) = (part.provider.name, part.counts.accepted)
      let devices = Message(
        count: part.target, one: "\(name): accepted for \(accepted) of 1 device",
        other: "\(name): accepted for \(accepted) of \(part.target) devices")
      lines.append("  " + io.text(devices))
    }
    for reason in outcomes {
      let count = "\(reason.count)"
      let padded = String(repeating: " ", count: max(0, 8 - count.count)) + count
      var line = "\(padded)  \(word(reason.outcome, io))"
      if let word = reason.reason { line += "  \(io.line(Reason.of(word)))" }
      lines.append(singleLine(line))
    }
    return lines
  }

  /// The reasons of all services together: those of each are above.
  private var outcomes: [(outcome: OutcomeKind, reason: String?, count: Int)] {
    reasons.reduce(into: []) { sums, reason in
      if let place = sums.firstIndex(where: { $0.outcome == reason.outcome && $0.reason == reason.reason }) {
        sums[place].count += reason.count
      } else {
        sums.append((reason.outcome, reason.reason, reason.count))
      }
    }
  }

  /// An outcome for people; the API's name of a token that is gone is no word.
  private func word(_ outcome: OutcomeKind, _ io: CommandIO) -> String {
    let word = io.word(outcome.name, "words.")
    return word == OutcomeKind.deadToken.name ? "unregistered" : word
  }

  /// How many of the devices have their outcome.
  private var done: Message {
    let (total, target) = (push.counts.total, push.target ?? 0)
    return Message(count: target, one: "\(total) of 1 device", other: "\(total) of \(target) devices")
  }

  private func headline(_ io: CommandIO) -> Message { isDryRun ? dryHeadline(io) : sendingHeadline(io) }

  private func dryHeadline(_ io: CommandIO) -> Message {
    switch push.state {
    case .needsApproval: "dry run, needs approval; nothing is sent"
    case .queued:
      push.plannedAt.map { "dry run, scheduled for \($0.text); nothing is sent then" }
        ?? "dry run, queued; the running server checks each device, and nothing is sent"
    case .sending, .paused, .finished, .cancelled, .failed:
      "dry run, \(io.word(push.state.rawValue, "words.")), \(done); nothing is sent"
    }
  }

  private func sendingHeadline(_ io: CommandIO) -> Message {
    switch push.state {
    case .needsApproval: "needs approval; nothing is sent until a second person approves it"
    case .queued:
      push.plannedAt.map { "scheduled for \($0.text); the server sends it then if it is running" }
        ?? "queued; the running server delivers it"
    case .sending: "sending, \(done)\(waitingText)"
    case .paused: "paused, \(done)\(waitingText)"
    case .finished, .cancelled, .failed:
      push.result == .nobody && push.target ?? 0 > 0
        ? "\(io.word(push.state.rawValue, "words.")), \(done); no device was reached"
        : "\(io.word(push.state.rawValue, "words.")), \(done)"
    }
  }

  /// For example “, 3 to be retried, the first at 2026-11-20T12:15:00Z, 1 inactive and not retried”.
  private var waitingText: Message {
    let inactive = progress.outlook.inactiveCount
    let retried = retriedText(push.waiting - inactive)
    return inactive > 0 ? "\(retried), \(inactive) inactive and not retried" : retried
  }

  private func retriedText(_ count: Int) -> Message {
    guard count > 0 else { return "" }
    guard let nextDue = progress.nextDue else { return ", \(count) to be retried" }
    return ", \(count) to be retried, the first at \(nextDue.text)"
  }

  /// Members of the API's schema `Push`.
  func writeMembers(to json: inout JSONWriter) {
    let counts = push.counts
    json.member("id", push.uid)
    json.member("state", push.state.rawValue)
    json.member("error", push.error)
    json.member("app", app.bundleID)
    json.member("environment", push.environment.rawValue)
    json.object("counts") { json in
      json.member("target", push.target ?? 0)
      json.member("accepted", counts.accepted)
      json.member("failed", counts.failed)
      json.member("dead_token", counts.deadToken)
      json.member("skipped", counts.skipped)
      json.member("unknown", counts.unknown)
      json.member("pending", push.pending ?? 0)
    }
    json.objects("providers", providers) { json, part in
      json.member("provider", part.provider.rawValue)
      json.member("target", part.target)
      json.member("accepted", part.counts.accepted)
    }
    json.array("reasons", reasons.filter { $0.reason != nil }) { json, reason in
      let word = reason.reason ?? ""
      let known = Reason.of(word)
      json.object { json in
        json.member("outcome", reason.outcome.name)
        json.member("reason", word)
        json.member("count", reason.count)
        json.member("cause", known.cause)
        json.member("remedy", known.remedy)
        json.member("who", known.actor.rawValue)
      }
    }
    json.member("source", push.source.rawValue)
    json.member("created_at", push.createdAt)
    json.member("started_at", push.startedAt)
    json.member("finished_at", push.finishedAt)
  }
}
