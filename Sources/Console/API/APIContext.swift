import Foundation
import HTTPServer
import Push
import Reactor
import SQLite
import Store

/// One call of the JSON API: who asks, with what.
struct APIContext: Sendable {
  let console: Console
  let request: Request
  let principal: Principal
  let now: Date

  var store: Store { console.store }

  /// As it stands in timelines and beside pushes.
  var actor: String { principal.name }

  /// A line of the audit for what is done here.
  func audit(_ action: String, _ subject: String, _ detail: JSONValue? = nil) -> NewAuditEntry {
    NewAuditEntry(
      actor: principal.name, action: action, subject: subject, detail: detail, address: request.remoteAddress?.host)
  }

  /// The request's body.
  ///
  /// - Throws: 415 for another content type; 400 with line and column for what is no JSON.
  func body(upTo limit: Int = 1 << 20) async throws -> JSONValue { try await Self.body(of: request, upTo: limit) }

  static func body(of request: Request, upTo limit: Int = 1 << 20) async throws -> JSONValue {
    guard request.mediaType == "application/json" else {
      throw HTTPError(.unsupportedMediaType, "The body must be application/json.")
    }
    let bytes = try await request.body.collect(upTo: limit)
    do {
      return try JSONValue(parsing: Data(bytes))
    } catch {
      throw APIError(.badRequest, error)
    }
  }

  /// An answer.
  static func answer(_ json: JSONValue, status: Status = .ok, location: String? = nil) -> Response {
    var response = Response.json(json.bytes, status: status)
    response.headers.append("Cache-Control", "no-store")
    if let location { response.headers.append("Location", location) }
    return response
  }

  /// A page of a list.
  ///
  /// - Parameter also: what is said of the whole list.
  static func answer<Item>(
    _ page: Page<Item>, also members: [String: JSONValue] = [:], _ json: (Item) throws -> JSONValue
  ) rethrows -> Response {
    var members = members
    members["items"] = .array(try page.items.map(json))
    members["next"] = .optional(page.next)
    return answer(.object(members))
  }

  /// The answer to what is gone.
  static var nothing: Response { Response(.noContent) }

  /// The app of the address.
  ///
  /// - Throws: `StoreError.notFound`.
  func app(_ database: Database) throws -> App { try Self.app(database, request.parameters["app"] ?? "") }

  static func app(_ database: Database, _ bundleID: String) throws -> App {
    guard let app = try App.find(database, bundleID: bundleID) else {
      throw StoreError.notFound(noun: "app", id: String(bundleID.prefix(AppName.bundleIDLimit)))
    }
    return app
  }

  /// The app that a list is narrowed down to.
  ///
  /// - Throws: `Problems` at `app`: a list of nothing would hide the slip of the pen.
  static func filter(_ database: Database, app bundleID: String?) throws -> App? {
    guard let bundleID else { return nil }
    guard let app = try App.find(database, bundleID: bundleID) else { throw Problems([PushPreview.noApp(bundleID)]) }
    return app
  }
}
