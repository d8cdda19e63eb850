import JSON
import Mustache
import Model
import Store

/// Failures grouped by reason, each with cause, who acts, and remedy: one cause, not 200 rows.
struct ReasonGroups {
  let push: Push
  /// Nil if the app was removed.
  let app: App?
  let counts: [Delivery.ReasonCount]
  /// Why devices are waiting for a retry.
  var waiting: [(reason: String, count: Int)] = []
  /// How many of them are no longer active, by reason.
  var inactive: [String: Int] = [:]
  /// Devices that may belong to the other environment; nil if the user may not move devices.
  var tokens: MovedTokens?

  func views(_ texts: Texts) -> [ReasonGroupView] {
    var totals: [String: (count: Int, outcome: OutcomeKind)] = [:]
    var order: [String] = []
    for count in counts {
      guard let reason = count.reason else { continue }
      if totals[reason] == nil { order.append(reason) }
      totals[reason] = ((totals[reason]?.count ?? 0) + count.count, count.outcome)
    }
    let ended = order.map { code in
      let (count, outcome) = totals[code] ?? (0, .failed)
      return view(Reason.of(code), count, isFailed: outcome == .failed, word: outcome.name, texts)
    }
    return ended + waiting.map { waitingView($0.reason, $0.count, texts) }
  }

  /// Without the promise of a retry for devices that are no longer active.
  private func waitingView(_ code: String, _ count: Int, _ texts: Texts) -> ReasonGroupView {
    let (reason, gone) = (Reason.of(code), inactive[code] ?? 0)
    var group = view(reason, count, isFailed: false, word: "waiting", texts)
    group.words = ReasonWords(reason, isRetried: gone < count, texts)
    if gone >= count {
      group.text = texts("push.inactive")
    } else if gone > 0 {
      group.evidence = [group.evidence, texts("push.inactive_rest")].filter { !$0.isEmpty }.sentences
    }
    return group
  }

  private func view(
    _ reason: Reason, _ count: Int, isFailed: Bool, word: String, _ texts: Texts
  ) -> ReasonGroupView {
    let move = move(reason, texts)
    return ReasonGroupView(
      code: reason.code, isFailed: isFailed, text: texts("words.\(word)"), count: count,
      href: push.draft?.audience.subscribers == nil
        ? "/pushes/\(push.uid)?reason=\(ConsoleRouter.escaped(reason.code))#devices" : nil,
      words: ReasonWords(reason, texts), evidence: evidence(move) ?? "", action: action(reason, texts),
      mends: move != nil && tokens?.parked.isEmpty == false)
  }

  private func move(_ reason: Reason, _ texts: Texts) -> MoveWords? {
    tokens.flatMap { reason.code == MovedTokens.reason ? MoveWords(push.environment, $0, texts) : nil }
  }

  /// The button that fixes the cause.
  func action(_ reason: Reason, _ texts: Texts) -> LinkView? {
    if let link = move(reason, texts)?.link("/pushes/\(push.uid)/move") { return link }
    if reason.code == Reason.channelNotRegistered {
      return LinkView(href: "/apps/\(push.appID)/channels", label: texts("channels.title"))
    }
    if reason.suspectsEnvironment {
      return LinkView(
        href: "/devices?app=\(ConsoleRouter.escaped(app?.bundleID ?? ""))"
          + "&environment=\(push.environment.rawValue)&state=quarantined",
        label: texts("push.action_devices"))
    }
    if reason.retry == .afterCredential {
      return LinkView(href: "/apps/\(push.appID)", label: texts("push.action_app"))
    }
    return nil
  }

  private func evidence(_ move: MoveWords?) -> String? { tokens?.proven ?? 0 > 0 ? move?.evidence : nil }
}

struct ReasonGroupView: View {
  let code: String
  let isFailed: Bool
  /// The outcome of the devices.
  var text: String
  let count: Int
  /// Leads to the devices; nil: the push went to a channel or topic.
  let href: String?
  var words: ReasonWords
  /// The evidence for the cause.
  var evidence: String
  let action: LinkView?
  /// Whether the button mends the cause, and not an earlier attempt to.
  let mends: Bool

  static let fields: [Field<Self>] = [
    .text("code") { $0.code },
    // APNs’ code “Unregistered” is the outcome’s own word.
    .flag("is_word") { $0.code == $0.text },
    .flag("failed") { $0.isFailed },
    .text("text") { $0.text },
    .flag("mends") { $0.mends },
    .number("count") { $0.count },
    .optional("href") { $0.href },
    .view("words") { $0.words },
    .text("evidence") { $0.evidence },
    .view("action") { $0.action },
  ]
}

/// A reason's texts in one language.
struct ReasonWords: View {
  let cause: String
  let remedy: String
  let actor: String
  /// The page of the code; nil for an unknown one.
  let about: String?

  static let fields: [Field<Self>] = [
    .optional("about") { $0.about },
    .text("cause") { $0.cause },
    // The cause in one line, then what explains it and the remedy.
    .text("headline") { $0.cause.firstSentence.first },
    .text("explanation") { words in
      [words.cause.firstSentence.rest, words.remedy].filter { !$0.isEmpty }.sentences
    },
    .text("remedy") { $0.remedy },
    .text("actor") { $0.actor },
  ]

  /// - Parameter isRetried: whether devices that wait for a retry get one: those that are no longer active do not. Nil
  ///   for devices that do not wait.
  init(_ reason: Reason, isRetried: Bool? = nil, _ texts: Texts) {
    let remedied = isRetried == false ? Reason.of(.deviceInactive) : reason
    // Without an answer, the remedy leaves the retry to a person, who has to do nothing while Signalbox retries.
    let isRepeated = isRetried == true && reason.source == .signalbox && reason.retry == .never
    let actor = isRepeated ? Reason.Actor.nobody : remedied.actor
    cause = texts.cause(reason)
    remedy = isRepeated ? texts("push.repeated_by_itself") : texts.remedy(remedied)
    self.actor = texts("actor.\(actor.rawValue)")
    about = reason.href
  }
}
