/// Contradictions between the sources of the callback table, and how they are resolved: docs/protocols.md §5 names them.
package enum CallbackContradiction: String, MessageSet {
  case c1 = "callback.C1"
  case c2 = "callback.C2"
  case c3 = "callback.C3"
  case c4 = "callback.C4"
  case c5 = "callback.C5"
  case c6 = "callback.C6"
  case c7 = "callback.C7"
  case c8 = "callback.C8"
  case c9 = "callback.C9"
  case c10 = "callback.C10"

  /// As `C1`.
  package var name: String { String(rawValue.dropFirst("callback.".count)) }

  package var english: String {
    switch self {
    case .c1:
      """
      Some guides say that a push in the foreground does not change the badge. Apple hands the payload to the app, \
      which sets the badge itself: the effect is the same.
      """
    case .c2:
      """
      A guide from 2017 says that, with the background mode on, a background push is not kept in Notification Center \
      and does not change the badge. Apple says that the system displays it as usual: follow Apple.
      """
    case .c3:
      """
      Some guides ask for background mode and content-available in every state. Apple calls the fetch method in the \
      foreground without either. The condition applies only to waking in the background.
      """
    case .c4:
      """
      One guide says that the background mode alone is enough for a call of the fetch method on arrival, in the \
      foreground too. Apple asks for content-available as well. Both are needed.
      """
    case .c5:
      """
      No guide mentions a call on arrival while the app is not running. Apple starts the app in the background if it \
      has the background mode, unless the person has force-quit it.
      """
    case .c6:
      """
      One guide names didReceiveNotificationResponse for the foreground on iOS 10. Apple names \
      willPresentNotification: follow Apple.
      """
    case .c7:
      """
      In the foreground, one guide asks for content-available only, another for the background mode too, and Apple \
      does not say. The fetch method may be called: be ready for it.
      """
    case .c8:
      """
      When a tap starts the app on iOS 10, one guide names only the launch, another the launch and \
      didReceiveNotificationResponse. Both are called if the delegate is set before the launch ends: drop the repeat.
      """
    case .c9:
      """
      One guide says that both methods are called at the same times in foreground and background. Apple calls the \
      older one only in the foreground, and in the background only after a tap: follow Apple.
      """
    case .c10:
      """
      One guide says that nothing is processed on arrival in any state, and also that the foreground handler asks the \
      server and updates unread counts. Read this as: without a tap, the app does not change pages.
      """
    }
  }
}

/// Remarks about cells of the callback table.
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
  case actionButtons = "callback.note.action_buttons"
  case remoteTrigger = "callback.note.remote_trigger"

  /// As `N1`.
  package var name: String { "N\((Self.allCases.firstIndex(of: self) ?? 0) + 1)" }

  package var english: String {
    switch self {
    case .modeIsNew: "Background mode and content-available do not exist before iOS 7."
    case .callHandlerYourself: "The app must pass the push from the launch options to its own handler."
    case .receiveIfNoFetch:
      """
      If the app lacks the method with fetchCompletionHandler, iOS calls the older one: in the foreground on arrival, in \
      the background after the tap, and not at a cold start, where the app must read the push from the launch options. \
      If it has both, iOS calls only the newer one.
      """
    case .needsBoth:
      "content-available alone does not wake the app. It also needs the remote-notification background mode."
    case .notAfterForceQuit: "After a force quit, iOS does not launch the app for a push."
    case .silentThrottled: "iOS throttles silent pushes to two or three per hour (Apple)."
    case .noAlert: "Without an alert there is no banner to tap."
    case .nothingHappens: "This push never calls the app's code."
    case .dropRepeats: "This push may call the app's code more than once. Store the ID in sbid and drop repeats."
    case .actionButtons:
      """
      A button of a notification with a category calls handleActionWithIdentifier on iOS 8, and the method of that name \
      with responseInfo on iOS 9 if the app has it. From iOS 10 on, it calls didReceiveNotificationResponse with the \
      button's identifier.
      """
    case .remoteTrigger:
      """
      iOS calls willPresent and didReceive for local notifications too. It was a push if the trigger of \
      notification.request is a UNPushNotificationTrigger.
      """
    }
  }
}
