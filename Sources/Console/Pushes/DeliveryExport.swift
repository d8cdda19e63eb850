import Calendar
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Text

/// Exports the devices of a push, with the page's filters, one page at a time.
struct DeliveryExport: Sendable {
  private static let pageSize = 1000
  private static let columns = [
    "device_id", "token", "alias", "registration_id", "outcome", "status", "reason", "at", "duration_ms", "attempts",
    "apns_id", "displayed_at", "opened_at", "dismissed_at",
  ]

  private let store: Store
  private let push: Push
  private let filter: DeliveryFilter

  init(_ page: PageContext, _ push: Push) {
    store = page.store
    self.push = push
    filter = DeliverySearch.filter(page)
  }

  func csv() -> Response {
    answer("text/csv; charset=utf-8", "csv", before: CSV.line(Self.columns), after: "") { rows, _ in
      rows.map { CSV.line(cells($0)) }.joined()
    }
  }

  func json() -> Response {
    answer("application/json", "json", before: "[", after: "\n]\n") { rows, isFirst in
      var json = JSONWriter(capacity: rows.count * 384)
      for (index, row) in rows.enumerated() {
        if index > 0 { json.separate() }
        json.endLine()
        write(row, to: &json)
      }
      return (isFirst || rows.isEmpty ? "" : ",") + json.text
    }
  }

  private func write(_ row: Delivery.WithDevice, to json: inout JSONWriter) {
    let delivery = row.delivery
    json.object { json in
      json.member("device_id", delivery.deviceID)
      json.member("token", row.device?.token.hexadecimal)
      json.member("alias", row.device?.alias)
      json.member("registration_id", row.device?.registrationID)
      json.member("outcome", delivery.outcome.name)
      json.member("status", Int(delivery.status))
      json.member("reason", delivery.reason)
      json.member("at", delivery.at)
      json.member("duration_ms", Int(delivery.durationMilliseconds))
      json.member("attempts", Int(delivery.attempts))
      json.member("apns_id", APNsID(seed: push.seed, device: delivery.deviceID).description)
      json.member("displayed_at", row.receipt?.displayedAt)
      json.member("opened_at", row.receipt?.openedAt)
      json.member("dismissed_at", row.receipt?.dismissedAt)
    }
  }

  private func cells(_ row: Delivery.WithDevice) -> [String] {
    let delivery = row.delivery
    return [
      String(delivery.deviceID), row.device?.token.hexadecimal ?? "", row.device?.alias ?? "",
      row.device?.registrationID ?? "", delivery.outcome.name, String(delivery.status), delivery.reason ?? "",
      Timestamp.text(delivery.at), String(delivery.durationMilliseconds), String(delivery.attempts),
      APNsID(seed: push.seed, device: delivery.deviceID).description,
    ] + ReceiptKind.allCases.map { row.receipt?[$0].map { Timestamp.text($0) } ?? "" }
  }

  private func answer(
    _ type: String, _ ending: String, before: String, after: String,
    _ write: @escaping @Sendable ([Delivery.WithDevice], Bool) -> String
  ) -> Response {
    // Rows are read and written on the reader's thread, page by page, so an export blocks neither the server's event
    // loop nor other readers.
    let (store, push, filter) = (store, push, filter)
    return Response(
      headers: [
        "Content-Type": type, "Content-Disposition": "attachment; filename=\"push-\(push.uid).\(ending)\"",
        "Cache-Control": "no-store",
      ],
      body: .stream(length: nil) { writer in
        try await writer.write(Array(before.utf8))
        var cursor: String?
        var isFirst = true
        repeat {
          let (from, begins) = (cursor, isFirst)
          let (bytes, next) = try await store.read(lane: .exports) { database in
            let page = try Delivery.list(database, push: push.id, filter, cursor: from, limit: Self.pageSize)
            return (Array(write(page.items, begins).utf8), page.next)
          }
          if !bytes.isEmpty { try await writer.write(bytes) }
          isFirst = false
          cursor = next
        } while cursor != nil
        if !after.isEmpty { try await writer.write(Array(after.utf8)) }
      })
  }
}

/// Writes RFC 4180 lines; values that a spreadsheet would run as a formula are made harmless.
enum CSV {
  static func line(_ fields: [String]) -> String { fields.map(field).joined(separator: ",") + "\r\n" }

  // Compares scalars, not characters: a combining mark after a quote, or the single character CR LF, would hide the
  // special one.
  private static let special: Set<Unicode.Scalar> = [",", "\"", "\n", "\r"]

  private static func field(_ text: String) -> String {
    let scalars = SpreadsheetText.guarded(text).unicodeScalars
    guard scalars.contains(where: special.contains) else { return String(scalars) }
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in scalars {
      if scalar == "\"" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }
}
