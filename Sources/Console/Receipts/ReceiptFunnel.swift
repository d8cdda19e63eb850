import Foundation
import HTTPServer
package import JSON
import Model
import Mustache
package import Store

/// How far a push came: from the devices it was meant for to those whose owners opened it. The last steps are what apps
/// reported, which no provider tells.
struct ReceiptFunnel {
  struct Step: View {
    /// As in events.
    let key: String
    /// The CSS class of the color.
    let colour: String
    let label: String
    /// The list of its devices.
    let href: String
    let number: Int
    let share: String
    /// Of the step's bar, such as `62.5%`: all targeted devices fill the chart.
    let width: String

    static let fields: [Field<Self>] = [
      .text("key") { $0.key },
      .text("colour") { $0.colour },
      .text("label") { $0.label },
      .text("href") { $0.href },
      .number("number") { $0.number },
      .text("share") { $0.share },
      .text("width") { $0.width },
    ]
  }

  let steps: [Step]
  /// “Reported by 3 of 10 devices”.
  let reported: String

  init(_ push: Push, _ counts: ReceiptCounts, _ texts: Texts) {
    let (target, accepted) = (push.target ?? 0, push.counts.accepted)
    let rows: [(String, String, String, Int)] =
      [("target", "skip", "", target), ("accepted", "acc", "?outcome=accepted", accepted)]
      + ReceiptKind.allCases.map { ($0.name, $0.colour, "?receipt=\($0.name)", counts[$0]) }
    steps = rows.map { key, colour, query, number in
      let isReported = key != "target" && key != "accepted" && number > 0
      let share = isReported && accepted > 0 ? Self.percent(number, of: accepted) : ""
      return Step(
        key: key, colour: colour, label: texts("receipts.\(key)"), href: "/pushes/\(push.uid)\(query)#devices",
        number: number, share: share, width: "\(Double(min(10_000, 10_000 * number / max(1, target))) / 100)%")
    }
    let reach = max(accepted, counts.devices)
    reported =
      reach == 0
      ? texts("receipts.reported_none")
      : texts("receipts.reported_by", count: reach, ["reported": counts.devices.grouped])
  }

  /// The numbers as texts, and the bars' widths, for the page's script: members are named like `data-receipt` elements.
  var json: JSONValue {
    var members: [String: JSONValue] = ["reported_text": .string(reported)]
    for step in steps {
      members[step.key] = .string(step.number.grouped)
      members[step.key + "_share"] = .string(step.share)
      members[step.key + "_width"] = .string(step.width)
    }
    return .object(members)
  }

  private static func percent(_ part: Int, of whole: Int) -> String {
    "\(Int((Double(part) * 100 / Double(whole)).rounded()))%"
  }
}

extension ReceiptKind {
  fileprivate var colour: String {
    switch self {
    case .displayed: "del"
    case .opened: "open"
    // No step on the way.
    case .dismissed: "skip"
    }
  }
}

/// For `receipts/_funnel`.
struct ReceiptFunnelView: View {
  let push: Push
  let funnel: ReceiptFunnel
  /// Whether more may come, and the page listens for it.
  let isFollowed: Bool
  /// Whether no app can have shown the push yet: then the page's script shows the numbers later.
  let isEmpty: Bool

  init(_ push: Push, _ counts: ReceiptCounts, _ texts: Texts, now: Date) {
    self.push = push
    funnel = ReceiptFunnel(push, counts, texts)
    isEmpty = push.counts.accepted + push.counts.unknown + counts.devices == 0
    isFollowed = now.timeIntervalSince(push.startedAt ?? push.createdAt) < Double(ReceiptRule.days) * 86_400
  }

  static let fields: [Field<Self>] = [
    .text("events") { "/pushes/\($0.push.uid)/receipts/events" },
    .flag("followed") { $0.isFollowed },
    .flag("empty") { $0.isEmpty },
    .list("steps") { $0.funnel.steps },
    .text("reported_text") { $0.funnel.reported },
    .text("app_href") { "/apps/\($0.push.appID)#app-code" },
  ]
}

extension ReceiptCounts: JSONObject {
  /// The schema `Receipts`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("devices", devices)
    json.member("displayed", displayed)
    json.member("opened", opened)
    json.member("dismissed", dismissed)
  }
}

/// The receipts of a push as they come in.
struct ReceiptEvents {
  private static let pause = Duration.milliseconds(250)

  private let push: Push
  private let console: Console

  init(_ push: Push, _ console: Console) { (self.push, self.console) = (push, console) }

  /// Sends the present numbers, then each change, some a second at most. Returns when the client is gone.
  func send<Answer: JSONWritable>(to stream: EventStream, _ answer: (Push, ReceiptCounts) -> Answer) async throws {
    // Subscribes before the first read, so that no change is missed.
    var news = console.receiptNews.watch(push.id).makeAsyncIterator()
    var last: ReceiptCounts?
    repeat {
      let (push, counts) = try await console.store.read { [id = push.id] in
        (try Push.get($0, id: id), try ReceiptCounts.find($0, push: id))
      }
      if counts != last {
        try await stream.send(ServerSentEvent(data: JSONWriter.text(of: answer(push, counts)), event: "receipts"))
      }
      last = counts
      try await Task.sleep(for: Self.pause)
    } while await news.next() != nil
  }
}
