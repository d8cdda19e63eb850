import HTTPServer
import Model
import Mustache
import Store

/// The devices of a push, with their filters.
extension PushResultPage {
  static func devices(_ found: Found, _ pager: Pager, _ page: PageContext) -> PushDevicesView {
    let (push, texts, rows) = (found.push, page.texts, found.deliveries.items)
    let draft = push.draft
    let export = page.request.query.map { "?\($0)" } ?? ""
    let chosen = page.query["outcome"] ?? ""
    let (isWaiting, waiting) = (chosen == DeliverySearch.waiting, found.waitingDevices)
    let position =
      found.isCounted
      ? pager.position(
        rows.count, size: pageSize,
        of: OutcomeKind.allCases.first { $0.name == chosen }.map { push.counts[$0] } ?? push.counts.total, texts) : nil
    return PushDevicesView(
      search: page.filled("q") ?? "",
      outcomes: outcomes(push, chosen: chosen, texts), isCounted: push.state.isOver,
      platforms: choices("platform", Platform.allCases.filter(found.reached.contains), page) { platform in
        texts("platform.\(platform.rawValue)")
      },
      providers: choices("provider", found.providers.map(\.provider), page, \.name),
      receipts: found.receipts.devices > 0 || page.filled("receipt") != nil
        ? ChoiceView.list(
          ReceiptKind.allCases.map { ($0.name, texts("receipts.\($0.name)")) }, chosen: page.query["receipt"] ?? "")
        : [],
      isFiltered: DeliverySearch.names.contains { page.filled($0) != nil }, hasStarted: push.startedAt != nil,
      csv: "/pushes/\(push.uid)/deliveries.csv\(export)", json: "/pushes/\(push.uid)/deliveries.json\(export)",
      gone: found.detailsGone, isWaiting: isWaiting,
      waiting: waiting.items.map { WaitingRow(item: $0, push: push.uid, texts: texts, now: page.now) },
      hasMoreWaiting: !isWaiting && waiting.next != nil,
      rows: rows.map { DeliveryRow($0, push: push, draft, texts: texts) },
      shown: position ?? texts("push.shown", count: isWaiting ? waiting.items.count : rows.count),
      pager: PagerView(pager, next: isWaiting ? waiting.next : found.deliveries.next))
  }

  /// None where there is nothing to choose.
  private static func choices<Value: RawRepresentable<String>>(
    _ name: String, _ values: [Value], _ page: PageContext, _ label: (Value) -> String
  ) -> [ChoiceView] {
    guard values.count > 1 || page.filled(name) != nil else { return [] }
    return ChoiceView.list(values.map { ($0.rawValue, label($0)) }, chosen: page.query[name] ?? "")
  }

  private static func outcomes(_ push: Push, chosen: String, _ texts: Texts) -> [ChoiceView] {
    guard push.state.isOver else {
      return ChoiceView.list(
        (OutcomeKind.allCases.map(\.name) + [DeliverySearch.waiting]).map { ($0, texts("words.\($0)")) },
        chosen: chosen)
    }
    let counted = OutcomeKind.allCases.filter { push.counts[$0] > 0 || $0.name == chosen }
    return ChoiceView.list(
      [("", "\(texts("push.all_outcomes")) \(push.counts.total.grouped)")]
        + counted.map { ($0.name, "\(texts("words.\($0.name)")) \(push.counts[$0].grouped)") }, chosen: chosen)
  }
}
