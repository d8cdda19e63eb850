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
  private static let backgroundLaunch = [call(.launch, .unlessForceQuit), call(.fetch, .unlessForceQuit)]

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

  private static let from7to9: [Row] = [
    // 4
    Row(
      arrival: [call(.fetch)], banner: .no, icon: .notApplicable, calls: 1...1, sources: [.s001, .s004],
      contradictions: [.c1], notes: [.receiveIfNoFetch]),
    // 5
    Row(
      arrival: [call(.fetch)], tap: [call(.fetch)], icon: .nothingNew, calls: 2...2,
      sources: [.s001, .s003, .s004], contradictions: [.c2, .c3]),
    // 6
    Row(tap: [call(.fetch)], calls: 1...1, sources: [.s001], notes: [.needsBoth]),
    // 7
    Row(tap: [call(.fetch)], calls: 1...1, sources: [.s001, .s003, .s004], contradictions: [.c4]),
    // 8
    Row(tap: [call(.fetch)], calls: 1...1, sources: [.s001, .s004]),
    // 9
    Row(tap: [launchWithPush, call(.fetch)], icon: .pushLost, calls: 2...2, sources: [.s001, .s004]),
    // 10
    Row(
      arrival: backgroundLaunch, tap: [launchWithPush, call(.fetch)], icon: .pushLost, calls: 2...3,
      sources: [.s001, .apple], contradictions: [.c5], notes: [.notAfterForceQuit]),
  ]

  private static let from10: [Row] = [
    // 11
    Row(
      arrival: [call(.present)], banner: .appDecides, tap: [call(.respond, .ifShown)], icon: .notApplicable,
      calls: 1...2, sources: [.s000, .s001, .s004], contradictions: [.c6, .c10]),
    // 12
    Row(
      arrival: [call(.fetch), call(.present)], banner: .appDecides, tap: [call(.respond, .ifShown)],
      icon: .notApplicable, calls: 2...3, sources: [.s001, .s004], contradictions: [.c6]),
    // 13
    Row(
      arrival: [call(.fetch, .disputed), call(.present)], banner: .appDecides, tap: [call(.respond, .ifShown)],
      icon: .notApplicable, calls: 1...3, sources: [.s001, .s004], contradictions: [.c7]),
    // 14
    Row(arrival: [call(.fetch)], tap: [call(.respond)], icon: .nothingNew, calls: 2...2, sources: [.s001, .s004]),
    // 15
    Row(tap: [call(.respond)], calls: 1...1, sources: [.s000, .s001, .s004], contradictions: [.c4]),
    // 16
    Row(tap: [call(.respond)], calls: 1...1, sources: [.s001]),
    // 17
    Row(
      tap: [launchWithPush, call(.respond)], icon: .pushLost, calls: 2...2, sources: [.s001, .s000],
      contradictions: [.c8]),
    // 18
    Row(
      arrival: backgroundLaunch, tap: [launchWithPush, call(.respond)], icon: .pushLost, calls: 2...3,
      sources: [.s001, .apple], contradictions: [.c5, .c8], notes: [.notAfterForceQuit]),
  ]
}
