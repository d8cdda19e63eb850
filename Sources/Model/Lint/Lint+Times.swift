import Calendar
import Foundation

extension Lint {
  /// The time of sending, and its duration.
  static func times(_ draft: PushDraft, _ context: Context) -> [Finding] {
    moments(draft, context) + speed(draft, context)
  }

  private static func moments(_ draft: PushDraft, _ context: Context) -> [Finding] {
    var findings: [Finding] = []
    let isLater = draft.sendAt != nil || draft.recurrence != nil
    if isLater, draft.options.timeToLive == 0 {
      let fix = changing(draft) { $0.options.timeToLive = nil }
      findings.append(finding(.warning, "options.time_to_live", .scheduledOnce, fix: fix))
    }
    if let late = credentialEnd(draft, context) { findings.append(late) }
    if draft.platforms.contains(.ios), let expiration = expiration(draft, context) { findings.append(expiration) }
    guard let now = context.now else { return findings }
    if let sendAt = draft.sendAt, sendAt > now.addingTimeInterval(PushLimits.ahead) {
      return findings + [finding(.error, "send_at", .sendAtTooFar)]
    }
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

  /// A moment in the header: one that is over before the push is sent, so that nothing is, or in milliseconds, which
  /// would be thousands of years.
  private static func expiration(_ draft: PushDraft, _ context: Context) -> Finding? {
    let field = "apns.headers.\(APNsHeader.expiration)"
    guard let text = draft.apns.headers[APNsHeader.expiration], let moment = Int64(text), moment > 0 else { return nil }
    if Double(moment) >= milliseconds {
      let fix = changing(draft) { $0.apns.headers[APNsHeader.expiration] = String(moment / 1000) }
      return finding(.error, field, .expirationMilliseconds, ["value": text], fix: fix)
    }
    guard let now = context.now else { return nil }
    if let rule = draft.recurrence { return expiration(moment, rule, draft, now) }
    guard Double(moment) <= max(now, draft.sendAt ?? now).timeIntervalSince1970 else { return nil }
    return finding(
      .error, field, .expirationPast, fix: changing(draft) { $0.apns.headers[APNsHeader.expiration] = nil })
  }

  /// A fixed expiration that is over at a run of a schedule: nothing is sent then.
  private static func expiration(_ moment: Int64, _ rule: RepeatRule, _ draft: PushDraft, _ now: Date) -> Finding? {
    let date = Date(timeIntervalSince1970: Double(moment))
    guard Recurrence(rule, from: draft.sendAt ?? now).first(from: max(now, date)) != nil else { return nil }
    let fix = changing(draft) { $0.apns.headers[APNsHeader.expiration] = nil }
    return finding(
      .warning, "apns.headers.\(APNsHeader.expiration)", .expirationRepeats, ["date": Timestamp.text(date)], fix: fix)
  }

  /// A send time after the end of the iOS credential.
  private static func credentialEnd(_ draft: PushDraft, _ context: Context) -> Finding? {
    guard let scope = context.credential, let ends = scope.notAfter, draft.platforms.contains(.ios) else { return nil }
    // The last second is still valid (RFC 5280 §4.1.2.5).
    let over = ends.addingTimeInterval(1)
    var arguments = ["name": scope.name, "date": utc(ends)]
    guard let rule = draft.recurrence else {
      guard let sendAt = draft.sendAt, sendAt >= over else { return nil }
      return finding(.warning, "send_at", .credentialEnds, arguments)
    }
    guard let now = context.now else { return nil }
    let recurrence = Recurrence(rule, from: draft.sendAt ?? now)
    guard let next = recurrence.first(from: now), let first = recurrence.first(from: max(over, now)) else { return nil }
    if next >= over { return finding(.warning, "repeat", .credentialEnds, arguments) }
    // A rule without end outlives every certificate: reported only once the end is near.
    let isEndless = rule.until == nil && rule.count == nil
    guard !isEndless || ends < now.addingTimeInterval(nearEnd) else { return nil }
    arguments["first"] = utc(first)
    return finding(.warning, "repeat", .credentialEndsBetween, arguments)
  }

  /// As `2026-11-20 23:58 UTC`: in another time zone, the day alone may be the wrong one.
  private static func utc(_ date: Date) -> String {
    let text = Timestamp.text(date)
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
  }

  /// Seconds before the end: the 30 days of the warnings.
  private static let nearEnd: TimeInterval = 30 * 86_400

  /// A time to live counts from the hand-over of each device, but a moment in the header is the same for all.
  private static func speed(_ draft: PushDraft, _ context: Context) -> [Finding] {
    guard let minutes = draft.options.spreadMinutes, draft.platforms.contains(.ios), let now = context.now,
      let end = draft.expiration(sentAt: now), draft.apns.headers[APNsHeader.expiration] != nil
    else { return [] }
    let seconds = Int(end.timeIntervalSince(max(now, draft.sendAt ?? now)))
    guard seconds > 0, minutes * 60 > seconds else { return [] }
    let arguments = ["minutes": String(minutes), "seconds": String(seconds)]
    return [finding(.warning, "options.spread_minutes", .spreadOutlives, arguments)]
  }
}
