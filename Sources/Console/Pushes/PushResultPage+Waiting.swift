import Calendar
import Foundation
import JSON
import Model
import Store

/// Texts for a push that has not started: in its undo window, or scheduled.
extension PushResultPage {
  /// Whether the send time is too far off for the page to reload every few seconds.
  static func isFarOff(_ push: Push, now: Date) -> Bool {
    guard push.state == .queued, let date = push.waits(now: now) else { return false }
    return date.timeIntervalSince(now) > 2 * Push.longestHold
  }

  /// Whether the push is in its undo window, or scheduled for a time equally near.
  static func isHeld(_ push: Push, now: Date) -> Bool {
    push.state == .queued && push.waits(now: now) != nil && !isFarOff(push, now: now)
  }

  /// The seconds left to undo the push; nil if it is not held.
  static func held(_ push: Push, _ page: PageContext) -> HeldPushView? {
    guard isHeld(push, now: page.now), let date = push.waits(now: page.now) else { return nil }
    let seconds = Int(date.timeIntervalSince(page.now).rounded(.up))
    return HeldPushView(
      seconds: seconds, text: page.texts("when.held", count: seconds), pattern: page.texts("when.held_pattern"),
      mayUndo: page.may(.operator))
  }

  /// What the page says of a push that nothing was sent of: its heading, and the sentence below. Nil once it has started.
  ///
  /// - Parameter isPaused: whether it stays paused once it is approved.
  static func waiting(_ push: Push, isPaused: Bool, _ page: PageContext) -> (heading: String, lead: String)? {
    let texts = page.texts
    if push.state == .needsApproval, isPaused {
      return (texts("approval.nothing_sent"), [texts("approval.needs_second"), texts("approval.was_paused")].sentences)
    }
    if push.state == .needsApproval {
      // Whoever decides has to know when it would be sent.
      let planned = push.sendAt.map { time in
        texts(
          time > page.now ? "approval.planned" : "approval.passed",
          ["time": texts.moment(time, push.draft?.timeZone ?? .utc)])
      }
      return (texts("approval.nothing_sent"), [texts("approval.needs_second"), planned].compactMap { $0 }.sentences)
    }
    if push.state == .cancelled, push.startedAt == nil {
      return (texts(push.refusal == nil ? "when.undone" : push.stateKey(now: nil)), texts("when.undone_means"))
    }
    guard push.state == .queued, let date = push.waits(now: page.now) else { return nil }
    // The countdown shows the seconds.
    if isHeld(push, now: page.now) { return (texts("when.nothing_yet"), "") }
    return (
      texts("when.scheduled_for", ["time": texts.moment(date, push.draft?.timeZone ?? .utc)]),
      texts("when.waits", ["ahead": texts.ahead(date, now: page.now)])
    )
  }
}
