import Foundation
import JSON
import Model
import Mustache
import Store

/// A push service's part of a push.
struct ProviderLineView: View {
  private let line: Delivery.ProviderCounts

  init(_ line: Delivery.ProviderCounts) { self.line = line }

  static let fields: [Field<Self>] = [
    .text("provider") { $0.line.provider.name },
    .number("target") { $0.line.target },
    .number("accepted") { $0.line.counts.accepted },
    .number("failed") { $0.line.counts.failed },
    .number("dead") { $0.line.counts.deadToken },
    .number("skipped") { $0.line.counts.skipped },
    .number("unknown") { $0.line.counts.unknown },
  ]
}

/// What JPush itself says of a push, which is not the same as our own counts: it counts for each message of up to 1000
/// devices what its own channel and the other services did (docs/protocols.md §4.5).
struct JPushResultView: View {
  let messages: [SentJPushMessage]
  let now: Date

  static let fields: [Field<Self>] = [
    .list("messages") { view in view.messages.map { JPushMessageRow(message: $0, now: view.now) } }
  ]
}

struct JPushMessageRow: View {
  let message: SentJPushMessage
  let now: Date

  static let fields: [Field<Self>] = [
    .text("id") { $0.message.id },
    .number("devices") { $0.message.devices },
    .view("at") { row in row.message.resultAt.map { MomentView(date: $0, now: row.now) } },
    .text("jpush") { $0.figure("jpush_received") },
    .text("android_services") { $0.figure("android_pns_sent") },
    .text("apns") { $0.figure("ios_apns_sent") },
    .text("ios") { $0.figure("ios_apns_received") },
  ]

  private func figure(_ name: String) -> String { message.result?[name]?.integer.map { Int($0).grouped } ?? "–" }
}
