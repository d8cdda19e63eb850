import Foundation
import JSON
import Model
import Mustache
import Store

/// How a push went with each of its push services. Outcomes that no device has get no column.
struct ProviderTableView: View {
  private let lines: [Delivery.ProviderCounts]

  init(_ lines: [Delivery.ProviderCounts]) { self.lines = lines }

  static let fields: [Field<Self>] = [
    .list("lines") { $0.lines.map { ProviderLineView($0) } },
    .flag("any_failed") { $0.any(.failed) },
    .flag("any_dead") { $0.any(.deadToken) },
    .flag("any_skipped") { $0.any(.skipped) },
    .flag("any_unknown") { $0.any(.unknown) },
  ]

  private func any(_ kind: OutcomeKind) -> Bool { lines.contains { $0.counts[kind] > 0 } }
}

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
/// devices what its own channel and the other services did (docs/protocols.md §4.5). Figures that it gives for no
/// message get no column.
struct JPushResultView: View {
  let messages: [SentJPushMessage]
  let now: Date

  static let fields: [Field<Self>] = [
    .list("messages") { view in view.messages.map { JPushMessageRow(message: $0, now: view.now) } },
    .flag("any_jpush") { $0.any("jpush_received") },
    .flag("any_services") { $0.any("android_pns_sent") },
    .flag("any_apns") { $0.any("ios_apns_sent") },
    .flag("any_ios") { $0.any("ios_apns_received") },
    .flag("any_dash") { view in
      ["jpush_received", "android_pns_sent", "ios_apns_sent", "ios_apns_received"].contains { name in
        view.any(name) && view.messages.contains { $0.result.map { $0[name]?.integer == nil } ?? false }
      }
    },
  ]

  private func any(_ name: String) -> Bool { messages.contains { $0.result?[name]?.integer != nil } }
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

  /// Empty for a message that was not asked about yet: its row says so.
  private func figure(_ name: String) -> String {
    guard let result = message.result else { return "" }
    return result[name]?.integer.map { Int($0).grouped } ?? "–"
  }
}
