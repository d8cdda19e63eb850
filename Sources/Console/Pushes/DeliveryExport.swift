import Calendar
import Foundation
import HTTPServer
import JSON
import Model
import Store

/// Exports the devices of a push, with the page's filters.
struct DeliveryExport: Sendable {
  private static let columns = [
    "device_id", "token", "alias", "registration_id", "outcome", "status", "reason", "at", "duration_ms", "attempts",
    "apns_id", "displayed_at", "opened_at", "dismissed_at", "language",
  ]

  private let push: Push
  /// Nil: it cannot be read.
  private let draft: PushDraft?
  /// The channel, topic or condition that it went to, with its kind; nil: it went to devices.
  private let subscribers: (kind: String, name: String)?
  private let pages: PagedExport<Delivery.WithDevice>

  init(_ page: PageContext, _ push: Push) throws {
    self.push = push
    let draft = push.draft
    self.draft = draft
    if let audience = draft?.audience, audience.subscribers != nil, let target = audience.json.object?.first {
      subscribers = (kind: target.key, name: target.value.string ?? "")
    } else {
      subscribers = nil
    }
    let filter = try DeliverySearch.filter(page)
    pages = PagedExport(store: page.store, name: "push-\(push.uid)") { database, cursor, limit in
      try Delivery.list(
        database, push: push.id, filter, isLocalized: draft?.languages != nil, cursor: cursor, limit: limit)
    }
  }

  func csv() -> Response {
    pages.csv(columns: Self.columns + (subscribers.map { [$0.kind] } ?? [])) { row in cells(row) }
  }

  func json() -> Response {
    pages.json { json, row in write(row, to: &json) }
  }

  private func write(_ row: Delivery.WithDevice, to json: inout JSONWriter) {
    let delivery = row.delivery
    json.object { json in
      json.member("device_id", subscribers == nil ? delivery.deviceID : nil)
      json.member("token", row.device?.token.text)
      json.member("alias", row.device?.alias)
      json.member("registration_id", row.device?.registrationID)
      json.member("outcome", delivery.outcome.name)
      json.member("status", delivery.status)
      json.member("reason", delivery.reason)
      json.member("at", delivery.at)
      json.member("duration_ms", delivery.durationMilliseconds)
      json.member("attempts", delivery.attempts)
      json.member("apns_id", row.apnsID(push, draft))
      json.member("displayed_at", row.receipt?.displayedAt)
      json.member("opened_at", row.receipt?.openedAt)
      json.member("dismissed_at", row.receipt?.dismissedAt)
      json.member("language", draft?.language(of: row.variant)?.text)
      guard let subscribers else { return }
      json.key(dynamic: subscribers.kind)
      json.string(subscribers.name)
    }
  }

  private func cells(_ row: Delivery.WithDevice) -> [String] {
    let delivery = row.delivery
    return [
      subscribers == nil ? String(delivery.deviceID) : "", row.device?.token.text ?? "", row.device?.alias ?? "",
      row.device?.registrationID ?? "", delivery.outcome.name, String(delivery.status), delivery.reason ?? "",
      Timestamp.text(delivery.at), String(delivery.durationMilliseconds), String(delivery.attempts),
      row.apnsID(push, draft) ?? "",
    ] + ReceiptKind.allCases.map { row.receipt?[$0].map { Timestamp.text($0) } ?? "" } + [
      draft?.language(of: row.variant)?.text ?? ""
    ] + (subscribers.map { [$0.name] } ?? [])
  }
}
