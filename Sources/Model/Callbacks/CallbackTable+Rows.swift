extension CallbackTable {
  /// One row of docs/protocols.md §5; its number is its index, from 1.
  struct Row: Sendable {
    var arrival: [Call] = []
    var banner = Banner.yes
    var tap: [Call] = []
    var icon = IconTap.nothing
    var calls: ClosedRange<Int>
    var sources: [Source]
    var contradictions: [CallbackContradiction] = []
    var notes: [CallbackNote] = []
  }

  private static func call(_ method: Method, _ condition: Call.Condition = .always) -> Call {
    Call(method: method, condition: condition)
  }

  private static let launchWithPush = call(.launch, .withPush)
  static let backgroundLaunch = [call(.launch, .unlessForceQuit), call(.fetch, .unlessForceQuit)]
  /// After it, a tap finds the app running; an app that was force-quit heard nothing on arrival, and is launched now.
  private static let launchAfterForceQuit = call(.launch, .withPushAfterForceQuit)

  static let rows: [Row] =
    before7 + from7to9 + from10 + [
      // 19
      Row(
        arrival: [call(.fetch)], banner: .no, icon: .nothingNew, calls: 1...1, sources: [.apple],
        notes: [.silentThrottled, .notAfterForceQuit])
    ]

  private static let before7: [Row] = [
    // 1
    Row(arrival: [call(.receive)], banner: .no, icon: .notApplicable, calls: 1...1, sources: [.s003, .s004]),
    // 2
    Row(tap: [call(.receive)], calls: 1...1, sources: [.s003], contradictions: [.c9], notes: [.modeIsNew]),
    // 3
    Row(tap: [launchWithPush], icon: .pushLost, calls: 1...1, sources: [.s001, .s004], notes: [.callHandlerYourself]),
  ]

  /// Where a notification is shown on iOS 7 to 9.
  private static let withButtons: [CallbackNote] = [.receiveIfNoFetch, .actionButtons]

  private static let from7to9: [Row] = [
    // 4
    Row(
      arrival: [call(.fetch)], banner: .no, icon: .notApplicable, calls: 1...1, sources: [.s001, .s004],
      contradictions: [.c1], notes: [.receiveIfNoFetch]),
    // 5
    Row(
      arrival: [call(.fetch)], tap: [call(.fetch)], icon: .nothingNew, calls: 2...2,
      sources: [.s001, .s003, .s004], contradictions: [.c2, .c3], notes: withButtons),
    // 6
    Row(tap: [call(.fetch)], calls: 1...1, sources: [.s001], notes: [.needsBoth] + withButtons),
    // 7
    Row(tap: [call(.fetch)], calls: 1...1, sources: [.s001, .s003, .s004], contradictions: [.c4], notes: withButtons),
    // 8
    Row(tap: [call(.fetch)], calls: 1...1, sources: [.s001, .s004], notes: withButtons),
    // 9
    Row(
      tap: [launchWithPush, call(.fetch)], icon: .pushLost, calls: 2...2, sources: [.s001, .s004], notes: withButtons),
    // 10
    Row(
      arrival: backgroundLaunch, tap: [launchAfterForceQuit, call(.fetch)], icon: .lostAfterForceQuit, calls: 2...3,
      sources: [.s001, .apple], contradictions: [.c5], notes: [.notAfterForceQuit] + withButtons),
  ]

  private static let from10: [Row] = [
    // 11
    Row(
      arrival: [call(.present)], banner: .appDecides, tap: [call(.respond, .ifShown)], icon: .notApplicable,
      calls: 1...2, sources: [.s000, .s001, .s004], contradictions: [.c6, .c10], notes: [.remoteTrigger]),
    // 12
    Row(
      arrival: [call(.fetch), call(.present)], banner: .appDecides, tap: [call(.respond, .ifShown)],
      icon: .notApplicable, calls: 2...3, sources: [.s001, .s004], contradictions: [.c6], notes: [.remoteTrigger]),
    // 13
    Row(
      arrival: [call(.fetch, .disputed), call(.present)], banner: .appDecides, tap: [call(.respond, .ifShown)],
      icon: .notApplicable, calls: 1...3, sources: [.s001, .s004], contradictions: [.c7], notes: [.remoteTrigger]),
    // 14
    Row(
      arrival: [call(.fetch)], tap: [call(.respond)], icon: .nothingNew, calls: 2...2, sources: [.s001, .s004],
      notes: [.remoteTrigger]),
    // 15
    Row(
      tap: [call(.respond)], calls: 1...1, sources: [.s000, .s001, .s004], contradictions: [.c4],
      notes: [.remoteTrigger]),
    // 16
    Row(tap: [call(.respond)], calls: 1...1, sources: [.s001], notes: [.remoteTrigger]),
    // 17
    Row(
      tap: [launchWithPush, call(.respond)], icon: .pushLost, calls: 2...2, sources: [.s001, .s000],
      contradictions: [.c8], notes: [.remoteTrigger]),
    // 18
    Row(
      arrival: backgroundLaunch, tap: [launchAfterForceQuit, call(.respond)], icon: .lostAfterForceQuit, calls: 2...3,
      sources: [.s001, .apple], contradictions: [.c5, .c8], notes: [.notAfterForceQuit, .remoteTrigger]),
  ]
}
