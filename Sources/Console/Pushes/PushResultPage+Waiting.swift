import Calendar
import Foundation
import JSON
import Model
import Store

/// What the result page says of a push that has not begun: it is held back for a moment, or waits for its time.
extension PushResultPage {
  /// A browser asks again every few seconds only if something may happen soon.
  static func isFarOff(_ push: Push, now: Date) -> Bool {
    guard push.state == .queued, let date = push.waits(now: now) else { return false }
    return date.timeIntervalSince(now) > 2 * Push.longestHold
  }

  /// Whether it waits for the end of its undo window, or for a time that is as near.
  static func isHeld(_ push: Push, now: Date) -> Bool {
    push.state == .queued && push.waits(now: now) != nil && !isFarOff(push, now: now)
  }

  /// The seconds that are left to take it back.
  static func held(_ push: Push, _ page: PageContext) -> HeldPushView? {
    guard isHeld(push, now: page.now), let date = push.waits(now: page.now) else { return nil }
    let seconds = Int(date.timeIntervalSince(page.now).rounded(.up))
    return HeldPushView(
      seconds: seconds, text: page.texts("when.held", count: seconds), pattern: page.texts("when.held_pattern"),
      mayUndo: page.may(.operator))
  }

  /// Nil for one that has begun.
  static func waitingSentence(_ push: Push, _ page: PageContext) -> String? {
    let texts = page.texts
    if push.state == .cancelled, push.startedAt == nil { return texts("when.undone") }
    guard push.state == .queued, let date = push.waits(now: page.now) else { return nil }
    // The seconds are counted above.
    if isHeld(push, now: page.now) { return texts("when.nothing_yet") }
    return texts(
      "when.waits",
      ["ahead": texts.ahead(date, now: page.now), "time": texts.moment(date, push.draft?.timeZone ?? .utc)])
  }
}
