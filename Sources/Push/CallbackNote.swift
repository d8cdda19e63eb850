/// What else to know of a cell of the callback table.
public enum CallbackNote: String, MessageSet {
  case modeIsNew = "callback.note.mode_is_new"
  case callHandlerYourself = "callback.note.call_handler_yourself"
  case receiveIfNoFetch = "callback.note.receive_if_no_fetch"
  case needsBoth = "callback.note.needs_both"
  case notAfterForceQuit = "callback.note.not_after_force_quit"
  case silentThrottled = "callback.note.silent_throttled"
  case noAlert = "callback.note.no_alert"
  case nothingHappens = "callback.note.nothing_happens"
  case dropRepeats = "callback.note.drop_repeats"

  /// The English sentence.
  public var english: String {
    switch self {
    case .modeIsNew: "Background mode and content-available do not exist before iOS 7."
    case .callHandlerYourself: "The app must hand the push from the launch options to its handler itself."
    case .receiveIfNoFetch:
      "If the app has no method with fetchCompletionHandler, the older one is called; of both, only the newer."
    case .needsBoth: "content-available alone wakes nobody: the app needs the background mode as well."
    case .notAfterForceQuit: "After the person has force-quit the app, iOS does not start it for a push."
    case .silentThrottled: "iOS throttles silent pushes: not more than two or three an hour (Apple)."
    case .noAlert: "Without an alert there is no banner to tap."
    case .nothingHappens: "The app's code never hears of this push."
    case .dropRepeats: "The app's code may hear of this push more than once: keep the id in sbid, and drop repeats."
    }
  }
}
