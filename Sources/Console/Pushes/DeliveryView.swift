import Foundation
import Model
import Mustache
import Store

struct DeliveryView: PageView {
  static let template = "pushes/delivery"
  static let section: Section? = .pushes

  let push: LinkView
  /// Its name, or else its token.
  let device: String
  /// Nil: it was deleted.
  let deviceHref: String?
  let isProduction: Bool
  let tone: String
  let outcome: String
  /// The meaning of the outcome.
  let heading: String
  let cause: DeliveryCauseView?
  let facts: [FactView]
  /// Nil: nothing was sent, or it is not over.
  let steps: DeliverySteps?
  let attempt: DeliveryAttemptView?
  let curl: String?
  /// Where the command leads, or why there is none; nil: it needs no word.
  let curlNote: String?
  /// That the request named other devices too; nil: it did not.
  let shared: String?

  static let fields: [Field<Self>] = [
    .view("push") { $0.push },
    .text("device") { $0.device },
    .optional("device_href") { $0.deviceHref },
    .flag("production") { $0.isProduction },
    .text("tone") { $0.tone },
    .text("outcome") { $0.outcome },
    .text("heading") { $0.heading },
    .view("cause") { $0.cause },
    .list("facts") { $0.facts },
    .view("steps") { $0.steps },
    .view("attempt") { $0.attempt },
    .optional("curl") { $0.curl },
    .optional("curl_note") { $0.curlNote },
    .optional("shared") { $0.shared },
  ]
}

/// The cause of the outcome, and the remedy.
struct DeliveryCauseView: View {
  let code: String
  let isFailed: Bool
  let words: ReasonWords
  /// Whether the provider refused the token or what was sent: then it matters whether it ever took the token.
  let isRefused: Bool
  let last: LastSuccessView?
  /// How the service's clock stood to ours; empty: not told.
  let clock: String
  /// Whether the device is active, though the provider called its token invalid: its app has registered again.
  let isActiveAgain: Bool
  /// The button that fixes the cause.
  let action: LinkView?

  static let fields: [Field<Self>] = [
    .view("action") { $0.action },
    .flag("active_again") { $0.isActiveAgain },
    .text("code") { $0.code },
    .flag("failed") { $0.isFailed },
    .view("words") { $0.words },
    .flag("refused") { $0.isRefused },
    .view("last") { $0.last },
    .optional("clock") { $0.clock.isEmpty ? nil : $0.clock },
  ]
}

/// The last push before that was accepted for the same device.
struct LastSuccessView: View {
  let item: Delivery.WithPush
  let now: Date

  static let fields: [Field<Self>] = [
    .text("href") { "/pushes/\($0.item.uid)" },
    .text("push") { $0.item.title ?? $0.item.body ?? $0.item.uid },
    .view("at") { MomentView(date: $0.item.delivery.at, now: $0.now) },
  ]
}

/// One request with its response.
struct DeliveryAttemptView: View {
  let number: Int
  /// Nil: another attempt follows, and only the first one's time is known.
  let at: MomentView?
  let duration: String
  let request: String
  /// Nil if there was no response.
  let answer: String?
  /// What it was reconstructed from.
  let rebuilt: String

  /// - Parameter isWhole: whether the response is shown as it came.
  static func rebuilt(_ push: Push, isWhole: Bool, _ texts: Texts) -> String {
    let isMessage = push.draft?.audience.subscribers != nil
    if isWhole { return texts(isMessage ? "delivery.rebuilt_message_sent" : "delivery.rebuilt_sent") }
    return texts(isMessage ? "delivery.rebuilt_message" : "delivery.rebuilt")
  }

  static let fields: [Field<Self>] = [
    .number("number") { $0.number },
    .view("at") { $0.at },
    .text("duration") { $0.duration },
    .text("request") { $0.request },
    .optional("answer") { $0.answer },
    .text("rebuilt") { $0.rebuilt },
  ]
}
