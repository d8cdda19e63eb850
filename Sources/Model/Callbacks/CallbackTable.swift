extension PushType {
  /// What gets a push that is no notification, and therefore calls none of the methods of ``CallbackTable``.
  package enum Receiver: String, Sendable, CaseIterable {
    case pushKit = "push_kit"
    case activityKit = "activity_kit"
    case widgetKit = "widget_kit"
    case pushToTalk = "push_to_talk"
    /// The app's location push service extension.
    case locationExtension = "location_extension"
    case deviceManagement = "device_management"
  }

  /// Nil: the app's notification methods.
  package var receiver: Receiver? {
    switch self {
    case .alert, .background: nil
    case .voip, .complication, .fileprovider: .pushKit
    case .liveactivity: .activityKit
    case .widgets, .controls: .widgetKit
    case .pushtotalk: .pushToTalk
    case .location: .locationExtension
    case .mdm: .deviceManagement
    }
  }
}

/// Which of an app's methods iOS calls for a payload, when, and how often.
///
/// The nineteen rows of docs/protocols.md §5, from the founding documents and Apple's pages.
/// Where they disagree, Apple wins; the cell is resolved as §5 says, and lists the contradiction.
package struct CallbackTable: Sendable, Hashable {
  /// Three generations × three states × background mode off and on, in this order.
  package let cells: [Cell]

  package init(_ facts: APNsPayload.Facts) {
    cells = Generation.allCases.flatMap { generation in
      State.allCases.flatMap { state in [false, true].map { Cell(facts, generation, state, backgroundMode: $0) } }
    }
  }

  package func cell(_ generation: Generation, _ state: State, backgroundMode: Bool) -> Cell {
    let states = State.allCases.count
    let index = (generation.index * states + state.index) * 2 + (backgroundMode ? 1 : 0)
    return cells[index]
  }

  /// iOS versions with equal behaviour.
  package enum Generation: String, Sendable, CaseIterable {
    case before7 = "<7"
    case from7to9 = "7–9"
    case from10 = "10+"

    var index: Int { self == .before7 ? 0 : self == .from7to9 ? 1 : 2 }
  }

  /// The app's state when the push arrives.
  package enum State: String, Sendable, CaseIterable {
    case foreground
    case background
    case notRunning = "not_running"

    var index: Int { self == .foreground ? 0 : self == .background ? 1 : 2 }
  }

  package enum Banner: String, Sendable, CaseIterable {
    case yes
    case no
    /// Only if the app passes options to the completion handler of `willPresent`.
    case appDecides = "app_decides"
  }

  /// The effect of opening the app by its icon instead of the banner.
  package enum IconTap: String, Sendable, CaseIterable {
    /// The app is already open.
    case notApplicable = "not_applicable"
    /// No method receives the push.
    case nothing
    /// No method is called, but the data was already refreshed on arrival.
    case nothingNew = "nothing_new"
    /// The app starts without the push, which it never receives.
    case pushLost = "push_lost"
    /// ``nothingNew`` if the push woke the app, ``pushLost`` if the person had force-quit it.
    case lostAfterForceQuit = "lost_after_force_quit"
  }

  /// The sources of the rows, by their names in docs/protocols.md.
  package enum Source: String, Sendable, CaseIterable {
    case s000 = "S000"
    case s001 = "S001"
    case s003 = "S003"
    case s004 = "S004"
    case apple = "Apple"
  }

  package enum Method: String, Sendable, CaseIterable {
    /// The app is started.
    case launch = "M1"
    /// Before iOS 7, or if the app has no ``fetch``.
    case receive = "M2"
    /// iOS 7 and later.
    case fetch = "M3"
    /// A tap, iOS 10 and later.
    case respond = "M4"
    /// On arrival in the foreground, iOS 10 and later.
    case present = "M5"
    /// A button of the notification, iOS 8; see ``CallbackNote/actionButtons``.
    case action = "M6"
    /// A button of the notification, iOS 9, instead of ``action``.
    case actionWithResponse = "M7"

    package var swiftName: String {
      switch self {
      case .launch: "application(_:didFinishLaunchingWithOptions:)"
      case .receive: "application(_:didReceiveRemoteNotification:)"
      case .fetch: "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)"
      case .respond: "userNotificationCenter(_:didReceive:withCompletionHandler:)"
      case .present: "userNotificationCenter(_:willPresent:withCompletionHandler:)"
      case .action: "application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)"
      case .actionWithResponse:
        "application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)"
      }
    }

    /// The method that JPush's library calls in its place (``Source/s000``); nil: Apple's own is called.
    package var jpushName: String? {
      switch self {
      case .respond: "jpushNotificationCenter(_:didReceive:withCompletionHandler:)"
      case .present: "jpushNotificationCenter(_:willPresent:withCompletionHandler:)"
      case .launch, .receive, .fetch, .action, .actionWithResponse: nil
      }
    }
  }

  package struct Call: Sendable, Hashable {
    package let method: Method
    package var condition = Condition.always

    /// The condition of a call.
    package enum Condition: String, Sendable, CaseIterable {
      case always
      /// For the launch: the options contain the push under `UIApplicationLaunchOptionsRemoteNotificationKey`.
      case withPush = "with_push"
      /// Not if the person has removed the app from the app switcher.
      case unlessForceQuit = "unless_force_quit"
      /// Only if the person has removed the app from the app switcher, and ``withPush``: otherwise it runs already.
      case withPushAfterForceQuit = "with_push_after_force_quit"
      /// Only if the app had the banner shown.
      case ifShown = "if_shown"
      /// The sources disagree whether it is called.
      case disputed
    }
  }
}
