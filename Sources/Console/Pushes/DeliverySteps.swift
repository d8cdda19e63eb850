import Foundation
import Model
import Mustache
import Store

/// What happened to a push on one device, from sending it to what the app reported: a line for each step, all on one
/// scale of time.
struct DeliverySteps: View {
  /// One line. A wait is drawn in grey.
  struct Step: View {
    let label: String
    let time: String
    /// The CSS class of the bar.
    let tone: String
    let isFailed: Bool
    let bar: OutcomeBar.Part

    static let fields: [Field<Self>] = [
      .text("label") { $0.label },
      .text("time") { $0.time },
      .text("tone") { $0.tone },
      .flag("failed") { $0.isFailed },
      .view("bar") { $0.bar },
    ]
  }

  let heading: String
  /// The whole time, in words.
  let total: String
  let steps: [Step]
  /// The page with the request and the answer; nil: this is it.
  let details: LinkView?

  static let fields: [Field<Self>] = [
    .text("heading") { $0.heading },
    .text("total") { $0.total },
    .list("steps") { $0.steps },
    .view("details") { $0.details },
  ]

  /// Hundredths of a percent of the width: all of it, where reports of the app begin, and the least of a bar.
  private static let (whole, reports, least) = (10_000, 8000, 100)

  /// Nil: nothing was sent to the device.
  ///
  /// - Parameter name: as the heading names the device; nil: the page is about it alone.
  init?(_ push: Push, _ item: Delivery.WithDevice, name: String?, _ texts: Texts) {
    let delivery = item.delivery
    guard delivery.attempts > 0, delivery.outcome != .skipped, let started = push.startedAt else { return nil }
    let asked = delivery.at.addingTimeInterval(-Double(delivery.durationMilliseconds) / 1000)
    // A clock that was set back must not turn the order around.
    let begin = min(push.sentAt, started, asked)
    let held = push.holdUntil.map { min(max($0, begin), started) } ?? begin
    let isFailed = delivery.outcome != .accepted
    // The last attempt was before the last wait, if the device was given up while it waited.
    let earlier = delivery.endedWaiting ? delivery.attempts : delivery.attempts - 1
    var spans: [(label: String, from: Date, to: Date, tone: String, isFailed: Bool)] = [
      (texts("delivery.steps.held"), begin, held, "track", false),
      (texts("delivery.steps.queued"), held, max(held, started), "skip", false),
      (
        earlier == 0 ? texts("delivery.steps.turn") : texts("delivery.steps.earlier", count: earlier),
        max(held, started), asked, "track", false
      ),
    ].filter { texts.milliseconds($0.1, $0.2) > 0 }
    let answer = Delivery.answer(delivery.status, delivery.reason)
    spans.append(
      (
        delivery.endedWaiting
          ? texts("delivery.steps.given_up", ["reason": delivery.reason ?? ""])
          : texts(
            "delivery.steps.attempt",
            ["number": "\(delivery.attempts)", "answer": answer.isEmpty ? texts("words.unknown") : answer]),
        asked, delivery.at, isFailed ? "fail" : "acc", isFailed
      ))
    let reported = [ReceiptKind.displayed, .dismissed, .opened].compactMap { kind in
      item.receipt?[kind].map { (kind, $0) }
    }.sorted { $0.1 < $1.1 }
    let width = Double(reported.isEmpty ? Self.whole : Self.reports)
    let length = max(1, Double(texts.milliseconds(begin, delivery.at)))
    func place(_ date: Date) -> Int { Int(Double(texts.milliseconds(begin, date)) / length * width) }
    steps =
      spans.map { span in
        let x = min(place(span.from), Int(width) - Self.least)
        return Step(
          label: span.label,
          // Giving up takes no time.
          time: delivery.endedWaiting && span.from == span.to
            ? "" : texts.duration(milliseconds: texts.milliseconds(span.from, span.to)),
          tone: span.tone, isFailed: span.isFailed,
          bar: OutcomeBar.Part(x: x, width: max(Self.least, place(span.to) - x)))
      }
      // Reports come seconds to weeks later: they stand in their order, behind the scale.
      + reported.enumerated().map { index, report in
        let part = (Self.whole - Self.reports) / reported.count
        return Step(
          label: texts("delivery.steps.\(report.0.name)"),
          time: "+" + texts.span(max(0, report.1.timeIntervalSince(delivery.at))),
          tone: report.0 == .opened ? "open" : "del", isFailed: false,
          bar: OutcomeBar.Part(x: Self.reports + (index + 1) * part - 2 * Self.least, width: 2 * Self.least))
      }
    details = name.map { _ in
      LinkView(href: "/pushes/\(push.uid)/deliveries/\(delivery.deviceID)", label: texts("delivery.request_and_answer"))
    }
    heading = name.map { texts("delivery.steps.title", ["device": $0]) } ?? texts("delivery.steps.this")
    total = texts.clauses([
      texts("words.\(delivery.outcome.name)"), texts.duration(milliseconds: texts.milliseconds(begin, delivery.at)),
    ])
  }
}

extension Delivery {
  /// What a service answered, as “400 BadDeviceToken”.
  static func answer(_ status: Int, _ reason: String?) -> String {
    [status == 0 ? nil : String(status), reason].compactMap { $0 }.joined(separator: " ")
  }

  /// Whether it was given up while it waited for a retry: nothing was asked at its end.
  var endedWaiting: Bool {
    guard attempts > 0, durationMilliseconds == 0, let reason else { return false }
    return [.deviceInactive, .cancelled, .expired].contains(OwnReason(rawValue: Reason.head(reason)))
  }
}

extension Texts {
  fileprivate func milliseconds(_ from: Date, _ to: Date) -> Int {
    max(0, Int((to.timeIntervalSince(from) * 1000).rounded()))
  }

  /// As “41 s” or “3 h”.
  func span(_ seconds: TimeInterval) -> String {
    switch Int(seconds) {
    case ..<90: duration(milliseconds: Int((seconds * 1000).rounded()))
    case ..<5400: self("delivery.steps.minutes", ["count": "\(Int(seconds) / 60)"])
    case ..<172_800: self("delivery.steps.hours", ["count": "\(Int(seconds) / 3600)"])
    default: self("delivery.steps.days", ["count": "\(Int(seconds) / 86_400)"])
    }
  }
}
