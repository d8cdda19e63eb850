import Foundation
import HTTPServer
import Reactor
import Push
import Store

/// One call of the JSON API: who asks, with what.
struct APIContext: Sendable {
  let console: Console
  let request: Request
  let principal: Principal
  let now: Date

  var store: Store { console.store }

  /// A line of the audit for what is done here.
  func audit(_ action: String, _ subject: String, _ detail: JSONValue? = nil) -> NewAuditEntry {
    NewAuditEntry(
      actor: principal.name, action: action, subject: subject, detail: detail, address: request.remoteAddress?.host)
  }

  /// The request's body.
  ///
  /// - Throws: 415 for another content type; `Problem` with line and column for what is no JSON.
  func body(upTo limit: Int = 1 << 20) async throws -> JSONValue {
    guard request.mediaType == "application/json" else {
      throw HTTPError(.unsupportedMediaType, "The body must be application/json.")
    }
    return try JSONValue(parsing: Data(try await request.body.collect(upTo: limit)))
  }

  /// An answer.
  static func answer(_ json: JSONValue, status: Status = .ok, location: String? = nil) -> Response {
    var response = Response.json(Array(json.data()), status: status)
    response.headers.append("Cache-Control", "no-store")
    if let location { response.headers.append("Location", location) }
    return response
  }
}
