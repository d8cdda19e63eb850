import Calendar
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/receipts`: apps report what became of a push (docs/protocols.md §8.2).
///
/// Open to everybody on the Internet: without the signature that the push's payload carried and a token of the app,
/// nothing is recorded, and the answer does not tell which of the two was wrong.
enum ReceiptRoutes {
  private static let bodyLimit = 256 << 10
  private static let full = HTTPError(
    .serviceUnavailable, "Too many receipts. Send them again later.", headers: ["Retry-After": "60"])

  static func add(to routes: inout ConsoleRouter) {
    let console = routes.console
    routes.app(.post, "/receipts", bodyLimit: bodyLimit) { request in
      try await APIError.telling { try await record(console, request) }
    }
  }

  private static func record(_ console: Console, _ request: Request) async throws -> Response {
    if let address = ClientLimits.address(request),
      let wait = console.clientLimits.wait(.receipts(address), now: console.clock())
    {
      throw HTTPError(.tooManyRequests, "Too many requests from this address.", headers: ["Retry-After": String(wait)])
    }
    let report = try ReceiptReport(try await APIContext.body(of: request, upTo: bodyLimit))
    var outcome = ReceiptOutcome()
    if !report.batch.items.isEmpty {
      do {
        outcome = try await console.receipts.write(report.batch)
      } catch is WriteGroupFull {
        throw full
      }
      console.receiptNews.tell(outcome.changed)
    }
    return APIContext.answer { json in
      var results = outcome.results.makeIterator()
      json.array("results", report.isValid) { json, isValid in
        json.string(isValid ? results.next()?.rawValue ?? "" : "invalid")
      }
    }
  }
}

/// The body of a request with receipts.
struct ReceiptReport {
  let batch: ReceiptBatch
  /// For each entry, whether it can be read and is part of ``batch``.
  let isValid: [Bool]

  /// - Throws: `Problems` if the device or the list cannot be read; single entries that cannot be read are left out.
  init(_ json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    let limit = TextLimit.characters(DeviceToken.firebaseCharacters.upperBound)
    let text = fields.string("token", limit: limit, lines: true)
    let id = fields.string("registration_id", limit: .characters(RegistrationID.limit))
    var sender: ReceiptBatch.Sender?
    if let text {
      do throws(Problem) {
        sender = .token(try DeviceToken(parsing: text, platforms: Set(Platform.allCases)))
      } catch {
        fields.report("token", error)
      }
    } else if let id {
      sender = .registrationID(id)
    } else {
      fields.report("token", Problem("", FieldMessage.required))
    }
    let entries = fields.value("receipts")?.array ?? []
    if !(1...ReceiptRule.batch).contains(entries.count) {
      fields.report(
        "receipts",
        Problem(
          "", code: "receipts.count", "Must be a list of 1 to {limit} receipts.",
          ["limit": String(ReceiptRule.batch)]))
    }
    try fields.finish()
    guard let sender else { throw Problems([Problem("token", FieldMessage.required)]) }
    let items = entries.map(Self.item)
    isValid = items.map { $0 != nil }
    batch = ReceiptBatch(sender, items.compactMap { $0 })
  }

  private static func item(_ json: JSONValue) -> ReceiptBatch.Item? {
    guard let push = json[APNsPayload.idKey]?.string, let signature = json[APNsPayload.signatureKey]?.string,
      let kind = json["event"]?.string.flatMap(ReceiptKind.init(name:)), push.utf8.count <= 64,
      signature.utf8.count <= 64
    else { return nil }
    var at: Date?
    if let time = json["at"], time != .null {
      guard let date = time.string.flatMap(Timestamp.parse) else { return nil }
      at = date
    }
    return ReceiptBatch.Item(push: push, signature: signature, kind: kind, at: at)
  }
}
