import Foundation
import HTTPServer
package import JSON
import Model
import SQLite
package import Store

/// One call of the JSON API: the request and its principal.
struct APIContext: ActorContext {
  let console: Console
  let request: Request
  let principal: Principal
  let now: Date

  var store: Store { console.store }

  var actor: String { principal.name }

  /// Reads the body.
  ///
  /// - Throws: 415 for another content type; 400 with line and column if the body is not JSON.
  func body() async throws -> JSONValue { try await Self.body(of: request) }

  /// The media type of every body.
  static let bodyType = "application/json"

  static func body(of request: Request, upTo limit: Int = 1 << 20) async throws -> JSONValue {
    guard request.mediaType == bodyType else {
      // RFC 5789 §2.2
      let headers: Headers = request.method == .patch ? ["Accept-Patch": bodyType] : [:]
      throw HTTPError(.unsupportedMediaType, "The body must be \(bodyType).", headers: headers)
    }
    let bytes = try await request.body.collect(upTo: limit)
    do {
      return try JSONValue(checking: bytes)
    } catch {
      throw APIError(.badRequest, error)
    }
  }

  /// Reads a body that may be left out; nil: there is none. Some clients name a type even then.
  func optionalBody() async throws -> JSONValue? {
    // One of another type is not read.
    let isThere = request.header("Content-Length").map { $0 != "0" } ?? (request.header("Transfer-Encoding") != nil)
    if isThere, request.mediaType != Self.bodyType { return try await body() }
    return try await request.body.collect(upTo: 1 << 20).isEmpty ? nil : try await body()
  }

  /// Refuses the fields of a body where the call has none: who asks to retry two devices must not retry all.
  func refuseFields() async throws {
    // Some clients always name a type, or send {}.
    guard request.mediaType == Self.bodyType, try await !request.body.collect(upTo: 1 << 20).isEmpty else { return }
    try JSONFields(try await body()).finish()
  }

  static func answer<Answer: JSONWritable>(
    _ answer: Answer, status: Status = .ok, location: String? = nil
  ) -> Response {
    self.answer(written: JSONWriter.bytes(of: answer), status: status, location: location)
  }

  /// Answers with one object; `members` writes its members.
  static func answer(
    status: Status = .ok, location: String? = nil, members: (inout JSONWriter) throws -> Void
  ) rethrows -> Response {
    var json = JSONWriter()
    try json.object(members)
    return answer(written: json.bytes, status: status, location: location)
  }

  /// Answers with JSON that is already written.
  static func answer(written json: [UInt8], status: Status = .ok, location: String? = nil) -> Response {
    var response = Response.json(json, status: status)
    response.headers.append("Cache-Control", "no-store")
    if let location { response.headers.append("Location", location) }
    return response
  }

  /// Answers with what a query finds.
  func read<Answer: JSONWritable & Sendable>(
    limit: Duration? = nil, _ query: @escaping @Sendable (Database) throws -> Answer
  ) async throws -> Response { Self.answer(try await store.read(limit: limit, query)) }

  /// Answers with what a change makes, in one transaction.
  func write<Answer: JSONWritable & Sendable>(
    _ change: @escaping @Sendable (Database) throws -> Answer
  ) async throws -> Response { Self.answer(try await store.write(change)) }

  /// Answers with what a query finds, from memory if nothing has changed since the same request.
  ///
  /// - Parameter query: depends on the database, on the request's target and on the apps that the token sees: neither
  ///   on the principal nor on the time.
  func kept<Answer: JSONWritable & SendableMetatype>(
    _ query: @escaping @Sendable (Database) throws -> Answer
  ) async throws -> Response {
    let key = apps.map { "\($0.sorted()) \(request.target)" } ?? request.target
    return Self.answer(
      written: try await store.read(keptAs: key, bytes: \.count) { JSONWriter.bytes(of: try query($0)) })
  }

  /// The answer to a deletion.
  static var nothing: Response { Response(.noContent) }

  /// The app named in the path.
  ///
  /// - Throws: `StoreError.notFound`.
  func app(_ database: Database) throws -> App { try Self.app(database, request.parameters["app"] ?? "") }

  static func app(_ database: Database, _ bundleID: String) throws -> App {
    guard let app = try App.find(database, bundleID: bundleID) else {
      throw StoreError.notFound(noun: "app", id: String(bundleID.prefix(AppName.bundleIDLimit)))
    }
    return app
  }
}

extension Page: JSONWritable where Item: JSONWritable {
  /// An object with the items and the cursor of the next page.
  package func write(to json: inout JSONWriter) { json.object(writeMembers) }

  func writeMembers(to json: inout JSONWriter) {
    json.array("items", items) { json, item in item.write(to: &json) }
    json.member("next", next)
  }
}
