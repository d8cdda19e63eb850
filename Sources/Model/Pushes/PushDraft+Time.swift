import Calendar
package import Foundation

extension PushDraft {
  /// Until when a push that was due at `due` may still begin: as long as it lives, or ``PushLimits/grace`` if it has no
  /// time to live, or 0.
  ///
  /// A server that was down does not send the news of yesterday.
  package func latestStart(due: Date) -> Date {
    let text = APNsPayload(self).expiration(sentAt: due)
    if let seconds = text.flatMap(Double.init), seconds > 0 { return Date(timeIntervalSince1970: seconds) }
    return due.addingTimeInterval(PushLimits.grace)
  }

  /// One occurrence of a draft that repeats: a push for once.
  package func occurrence(at date: Date) -> PushDraft {
    var draft = self
    draft.timeZone = draft.recurrence?.zone ?? draft.timeZone
    draft.recurrence = nil
    draft.sendAt = date
    return draft
  }

  /// The devices a second at which a push to `target` devices takes the time that was asked for; nil: as fast as it
  /// goes.
  package func rate(target: Int) -> Double? {
    if let rate = options.rate { return Double(rate) }
    guard let minutes = options.spreadMinutes else { return nil }
    return Double(max(1, target)) / Double(minutes * 60)
  }
}
