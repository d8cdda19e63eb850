import Foundation

extension Lint {
  /// When it is sent, and how long that takes.
  static func times(_ draft: PushDraft, _ context: Context) -> [Finding] {
    moments(draft, context) + speed(draft)
  }

  private static func moments(_ draft: PushDraft, _ context: Context) -> [Finding] {
    var findings: [Finding] = []
    let isLater = draft.sendAt != nil || draft.recurrence != nil
    if isLater, draft.options.timeToLive == 0 {
      let fix = changing(draft) { $0.options.timeToLive = nil }
      findings.append(finding(.warning, "options.time_to_live", .scheduledOnce, fix: fix))
    }
    if let late = credentialEnd(draft, context) { findings.append(late) }
    guard let now = context.now else { return findings }
    if let rule = draft.recurrence {
      let start = draft.sendAt ?? now
      if Recurrence(rule, from: start).first(from: now) == nil {
        findings.append(finding(.error, "repeat", .repeatNever))
      } else if start < now {
        findings.append(finding(.hint, "send_at", .repeatStartPast))
      }
    } else if let sendAt = draft.sendAt, sendAt <= now {
      let fix = changing(draft) { $0.sendAt = nil }
      let latest = draft.latestStart(due: sendAt)
      findings.append(
        latest <= now
          ? finding(.error, "send_at", .sendAtTooLate, ["limit": Timestamp.text(latest)], fix: fix)
          : finding(.hint, "send_at", .sendAtPast, fix: fix))
    }
    return findings
  }

  /// A time to come at which what sends to iOS has ended.
  private static func credentialEnd(_ draft: PushDraft, _ context: Context) -> Finding? {
    // RFC 5280 §4.1.2.5: the last second is still good.
    guard let sendAt = draft.sendAt, let scope = context.credential, let ends = scope.notAfter,
      sendAt >= ends.addingTimeInterval(1), draft.platforms.contains(.ios)
    else { return nil }
    return finding(
      .warning, "send_at", .credentialEnds,
      ["name": scope.name, "date": String(Timestamp.text(ends).prefix(10))])
  }

  private static func speed(_ draft: PushDraft) -> [Finding] {
    guard let minutes = draft.options.spreadMinutes, let seconds = draft.options.timeToLive, seconds > 0,
      minutes * 60 > seconds
    else { return [] }
    let arguments = ["minutes": String(minutes), "seconds": String(seconds)]
    return [finding(.warning, "options.spread_minutes", .spreadOutlives, arguments)]
  }
}
