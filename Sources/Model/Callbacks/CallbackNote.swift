/// What else to know of a cell of the callback table.
package enum CallbackNote: String, MessageSet {
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
  package var english: String {
    switch self {
    case .modeIsNew: "Background mode and content-available do not exist before iOS 7."
    case .callHandlerYourself: "The app must pass the push from the launch options to its own handler."
    case .receiveIfNoFetch:
      "If the app lacks the method with fetchCompletionHandler, iOS calls the older one. If it has both, iOS calls "
        + "only the newer one."
    case .needsBoth:
      "content-available alone does not wake the app. It also needs the remote-notification background mode."
    case .notAfterForceQuit: "After a force quit, iOS does not launch the app for a push."
    case .silentThrottled: "iOS throttles silent pushes to two or three per hour (Apple)."
    case .noAlert: "Without an alert there is no banner to tap."
    case .nothingHappens: "This push never calls the app's code."
    case .dropRepeats: "This push may call the app's code more than once. Store the ID in sbid and drop repeats."
    }
  }
}
