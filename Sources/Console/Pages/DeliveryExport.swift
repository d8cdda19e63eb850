import Foundation
import HTTPServer
import Push
import SQLite
import Store

/// The devices of a push with the same filters as the page, written out page by page.
struct DeliveryExport: Sendable {
  private static let pageSize = 1000
  private static let columns = [
    "device_id", "token", "alias", "registration_id", "outcome", "status", "reason", "at", "duration_ms", "attempts",
    "apns_id",
  ]

  private let store: Store
  private let push: PushRecord
  private let filter: DeliveryFilter

  init(_ page: PageContext, _ push: PushRecord) {
    store = page.store
    self.push = push
    filter = DeliverySearch.filter(page)
  }

  func csv() -> Response {
    answer("text/csv; charset=utf-8", "csv", before: CSV.line(Self.columns), after: "") { rows, _ in
      rows.map { CSV.line(fields($0).map { $0.text }) }.joined()
    }
  }

  func json() -> Response {
    answer("application/json", "json", before: "[", after: "\n]\n") { rows, isFirst in
      let texts = rows.map { row in
        "\n" + JSONValue.object(Dictionary(zip(Self.columns, fields(row).map(\.json))) { $1 }).text()
      }
      return (isFirst || texts.isEmpty ? "" : ",") + texts.joined(separator: ",")
    }
  }

  private struct Field {
    let json: JSONValue
    var text: String { json.string ?? json.integer.map(String.init) ?? "" }
  }

  private func fields(_ row: Delivery.WithDevice) -> [Field] {
    let delivery = row.delivery
    func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
    let values: [JSONValue] = [
      .integer(delivery.deviceID), text(row.device?.token.hexadecimal), text(row.device?.alias),
      text(row.device?.registrationID), .string(delivery.outcome.name), .integer(Int64(delivery.status)),
      text(delivery.reason), .string(Timestamp.text(delivery.at)), .integer(Int64(delivery.durationMilliseconds)),
      .integer(Int64(delivery.attempts)), .string(APNsID(seed: push.seed, device: delivery.deviceID).description),
    ]
    return values.map(Field.init)
  }

  private func answer(
    _ type: String, _ ending: String, before: String, after: String,
    _ write: @escaping @Sendable ([Delivery.WithDevice], Bool) -> String
  ) -> Response {
    // Rows are read and written out on the reader's thread, page by page: neither the server's loop nor those who read
    // pages of the console wait for them.
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

/// RFC 4180, with what a spreadsheet would take for a formula made harmless.
enum CSV {
  static func line(_ fields: [String]) -> String { fields.map(field).joined(separator: ",") + "\r\n" }

  // Scalars, not characters: a combining mark behind a quote, or the two of CR LF, would hide it.
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
