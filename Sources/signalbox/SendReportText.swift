import Foundation
import Push
import Store

/// What `send` says of a push: counts, and every reason with its remedy.
struct SendReportText {
  private let push: PushRecord
  private let app: App
  private let reasons: [Delivery.ReasonCount]
  private let nextDue: Date?
  private let isServed: Bool
  private let left: Int
  private let data: String

  /// - Parameters:
  ///   - expected: how many devices it was for when it was made.
  ///   - data: the folder that a server has to be started with.
  init(_ store: Store, _ sent: Sending.Left, expected: Int, data: String) throws {
    let push = sent.push
    (self.push, isServed, self.data) = (push, sent.isServed, data)
    left = push.pending ?? expected
    (app, reasons, nextDue) = try store.readSync { database in
      (
        try App.get(database, id: push.appID), try Delivery.reasonCounts(database, push: push.id),
        push.waiting == 0 ? nil : try WaitingDelivery.nextDue(database, push: push.id)
      )
    }
  }

  /// 0 only if nothing failed and nothing is left: every device was accepted, or, without `--wait`, a server has it.
  func exitCode(isDryRun: Bool, isWaited: Bool, now: Date) -> Int32 {
    switch push.state {
    case .finished:
      let counts = push.counts
      return counts.accepted + (isDryRun ? counts.skipped : 0) == counts.total ? ExitCode.done : ExitCode.failed
    case .queued, .sending, .paused:
      let isLaters = isServed || push.waits(now: now) != nil
      return isLaters && !isWaited ? ExitCode.done : ExitCode.unfinished
    case .cancelled, .failed: return ExitCode.failed
    }
  }

  /// What is left, and who goes on with it; nil if nothing is.
  func rest(now: Date) -> String? {
    guard !push.state.isOver else { return nil }
    let start = "signalbox serve --data \(data)"
    if push.waits(now: now) != nil {
      return isServed ? nil : "no server runs with this data folder now; one has to run then: \(start)"
    }
    let devices = "\(left) of \(push.target ?? left) devices are left"
    if push.state == .paused { return "\(devices), until somebody resumes the push in the console" }
    return isServed
      ? "\(devices); the running server goes on with them"
      : "\(devices)\(waitingText); nobody goes on with them until a server is started: \(start)"
  }

  var lines: [String] {
    var lines = ["\(push.uid)  \(app.bundleID) \(push.environment.rawValue): \(headline)"]
    if let error = push.error { lines.append("  \(singleLine(error))") }
    for reason in reasons {
      let count = "\(reason.count)"
      let padded = String(repeating: " ", count: max(0, 8 - count.count)) + count
      var line = "\(padded)  \(reason.outcome.name)"
      if let word = reason.reason {
        let known = Reason.of(word)
        line += "  \(word): \(known.cause) \(known.remedy)"
      }
      lines.append(singleLine(line))
    }
    return lines
  }

  private var headline: String {
    switch push.state {
    case .queued:
      push.plannedAt.map { "kept for \($0.text); a running server sends it then" }
        ?? "queued; the running server delivers it"
    case .sending: "under way, \(push.counts.total) of \(push.target ?? 0) devices\(waitingText)"
    case .paused: "paused, \(push.counts.total) of \(push.target ?? 0) devices\(waitingText)"
    case .finished, .cancelled, .failed: "\(push.state.rawValue), \(push.counts.total) of \(push.target ?? 0) devices"
    }
  }

  /// As “, 3 wait to be sent to again, the first at 2026-11-20T12:15:00Z”.
  private var waitingText: String {
    guard push.waiting > 0 else { return "" }
    return ", \(push.waiting) to be sent to again" + (nextDue.map { ", the first at \($0.text)" } ?? "")
  }

  /// Members of the API's schema `Push`.
  var json: JSONValue {
    let counts = push.counts
    return [
      "id": .string(push.uid), "state": .string(push.state.rawValue), "error": .optional(push.error),
      "app": .string(app.bundleID), "environment": .string(push.environment.rawValue),
      "counts": [
        "target": .number(push.target ?? 0), "accepted": .number(counts.accepted), "failed": .number(counts.failed),
        "dead_token": .number(counts.deadToken), "skipped": .number(counts.skipped),
        "unknown": .number(counts.unknown), "pending": .number(push.pending ?? 0),
      ],
      "reasons": .array(
        reasons.compactMap { reason in
          guard let word = reason.reason else { return nil }
          let known = Reason.of(word)
          return [
            "outcome": .string(reason.outcome.name), "reason": .string(word), "count": .number(reason.count),
            "cause": .string(known.cause), "remedy": .string(known.remedy), "who": .string(known.actor.rawValue),
          ]
        }),
      "source": .string(push.source), "created_at": .string(push.createdAt.text),
      "started_at": .optional(push.startedAt), "finished_at": .optional(push.finishedAt),
    ]
  }
}
