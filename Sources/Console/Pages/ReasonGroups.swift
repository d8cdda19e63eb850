import Mustache
import Push
import Store

/// Failures by reason, each with cause, who must act, and the remedy: one cause, not 200 rows.
struct ReasonGroups {
  let push: PushRecord
  /// Nil: it was removed.
  let app: App?
  let counts: [Delivery.ReasonCount]
  /// Why devices are to be sent to again.
  var waiting: [(reason: String, count: Int)] = []
  /// Devices that may belong to the other environment; nil: the viewer may move none.
  var tokens: MovedTokens?

  func values(_ texts: Texts) -> [Value] {
    var totals: [String: (count: Int, outcome: OutcomeKind)] = [:]
    var order: [String] = []
    for count in counts {
      guard let reason = count.reason else { continue }
      if totals[reason] == nil { order.append(reason) }
      totals[reason] = ((totals[reason]?.count ?? 0) + count.count, count.outcome)
    }
    let ended = order.map { code in
      let (count, outcome) = totals[code] ?? (0, .failed)
      return value(Reason.of(code), count, isFailed: outcome == .failed, word: outcome.name, texts)
    }
    return ended + waiting.map { value(Reason.of($0.reason), $0.count, isFailed: false, word: "waiting", texts) }
  }

  private func value(_ reason: Reason, _ count: Int, isFailed: Bool, word: String, _ texts: Texts) -> Value {
    let words = ReasonWords(reason, texts)
    let move = tokens.flatMap { reason.code == MovedTokens.reason ? MoveWords(push, $0, texts) : nil }
    let action: (String, String)? =
      switch true {
      case move != nil && tokens?.parked.isEmpty == false:
        ("/pushes/\(push.uid)/move", move?.label(back: false) ?? "")
      case move != nil && tokens?.moved.isEmpty == false:
        ("/pushes/\(push.uid)/move?back=1", move?.label(back: true) ?? "")
      case reason.suspectsEnvironment:
        (
          "/devices?app=\(ConsoleRouter.escaped(app?.bundleID ?? ""))&state=quarantined",
          texts("push.action_devices")
        )
      case reason.retry == .afterCredential: ("/apps/\(push.appID)", texts("push.action_app"))
      default: nil
      }
    return [
      "code": .string(reason.code), "failed": .bool(isFailed),
      "text": .string(texts("words.\(word)")),
      "devices": .string(texts("push.device_count", count: count)),
      "href": .string("/pushes/\(push.uid)?reason=\(ConsoleRouter.escaped(reason.code))#devices"),
      "cause": .string([words.cause, evidence(move)].compactMap { $0 }.joined(separator: " ")),
      "who_acts": .string(words.actor), "remedy": .string(words.remedy),
      "action": action.map { ["href": .string($0.0), "label": .string($0.1)] } ?? .null,
    ]
  }

  private func evidence(_ move: MoveWords?) -> String? { tokens?.proven ?? 0 > 0 ? move?.evidence : nil }
}

/// A reason's sentences in a language.
struct ReasonWords {
  let cause: String
  let remedy: String
  let actor: String

  init(_ reason: Reason, _ texts: Texts) {
    cause = texts.known("messages." + reason.causeCode) ?? reason.cause
    remedy = texts.known("messages." + reason.remedyCode) ?? reason.remedy
    actor = texts("actor.\(reason.actor.rawValue)")
  }
}
