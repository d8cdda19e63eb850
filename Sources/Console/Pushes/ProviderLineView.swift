import Foundation
import JSON
import Model
import Mustache
import Store

/// How a push went on each platform, and with each of its push services where a platform has several. Outcomes that no
/// device has get no column.
struct ProviderTableView: View {
  let lines: [ProviderLineView]

  /// Nil: one service reaches all devices, and the progress says it all.
  init?(
    push uid: String, _ targets: [Reach: Int], _ reasons: [Delivery.ReasonCount], _ reports: [ReceiptCounts.Line],
    _ texts: Texts
  ) {
    guard targets.count > 1 else { return nil }
    func line(
      _ label: String, _ query: String, _ receipts: ReceiptCounts?, _ isPart: (Reach) -> Bool
    ) -> ProviderLineView {
      var counts = OutcomeCounts()
      for reason in reasons where isPart(Reach(reason.platform, reason.provider)) {
        counts[reason.outcome] += reason.count
      }
      let target = targets.reduce(0) { isPart($1.key) ? $0 + $1.value : $0 }
      return ProviderLineView(
        label: label, href: "/pushes/\(uid)?\(query)", target: target, counts: counts, receipts: receipts)
    }
    func reported(on platform: Platform, by provider: ProviderKind? = nil) -> ReceiptCounts? {
      let own = reports.filter { $0.platform == platform }
      if provider != nil, own.contains(where: { $0.provider == nil }) { return nil }
      return own.reduce(ReceiptCounts()) { provider == nil || provider == $1.provider ? $0 + $1.counts : $0 }
    }
    lines = Platform.allCases.flatMap { platform -> [ProviderLineView] in
      let services = platform.providers.filter { targets[Reach(platform, $0)] != nil }
      guard let first = services.first else { return [] }
      let (name, query) = (texts("platform.\(platform.rawValue)"), "platform=\(platform.rawValue)")
      let whole = line(
        services.count == 1 ? "\(name) · \(first.name)" : name, query, reported(on: platform)
      ) { $0.platform == platform }
      guard services.count > 1 else { return [whole] }
      let parts = services.map { provider in
        line(
          "\(name) · \(provider.name)", "\(query)&provider=\(provider.rawValue)", reported(on: platform, by: provider)
        ) { $0 == Reach(platform, provider) }
      }
      return [whole] + parts
    }
  }

  static let fields: [Field<Self>] = [
    .list("lines") { $0.lines },
    .flag("any_failed") { $0.any(.failed) },
    .flag("any_dead") { $0.any(.deadToken) },
    .flag("any_skipped") { $0.any(.skipped) },
    .flag("any_unknown") { $0.any(.unknown) },
    .flag("any_reported") { view in view.lines.contains { $0.receipts?.devices ?? 0 > 0 } },
  ]

  private func any(_ kind: OutcomeKind) -> Bool { lines.contains { $0.counts[kind] > 0 } }
}

/// A platform's part of a push, or a push service's.
struct ProviderLineView: View {
  let label: String
  /// The list of its devices.
  let href: String
  let target: Int
  let counts: OutcomeCounts
  /// Nil: counted by a version that did not tell services apart.
  let receipts: ReceiptCounts?

  static let fields: [Field<Self>] = [
    .text("label") { $0.label },
    .text("href") { $0.href },
    .number("target") { $0.target },
    .number("accepted") { $0.counts.accepted },
    .number("failed") { $0.counts.failed },
    .number("dead") { $0.counts.deadToken },
    .number("skipped") { $0.counts.skipped },
    .number("unknown") { $0.counts.unknown },
    .flag("has_receipts") { $0.receipts != nil },
    .number("displayed") { $0.receipts?.displayed ?? 0 },
    .number("opened") { $0.receipts?.opened ?? 0 },
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
