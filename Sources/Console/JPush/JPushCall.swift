import Foundation
import HTTPServer
import JSON
import Logging
import Model
import Reactor
import SQLite
import Store

/// One call of the API that is compatible with JPush: the request and the app whose key it carries.
struct JPushCall: ActorContext {
  let console: Console
  let request: Request
  let key: JPushKey
  let app: App
  let family: JPushFamily
  let now: Date

  var store: Store { console.store }

  /// The name in the activity log and beside pushes.
  var actor: String { "jpush \(key.appKey)" }

  /// The app's own server sends to production, too.
  func leaving(_ database: Database) -> LeavingProduction { .allowed }

  func invalid(_ text: String) -> JPushError { JPushError(family.invalid, text) }

  /// Reads the body. Libraries name any type for it: JPush's for Python writes `application/json;charset:utf-8`, the one
  /// for C# `text/plain`.
  ///
  /// - Throws: ``JPushError`` if it is not JSON.
  func body() async throws -> JSONValue {
    let type = request.mediaType ?? ""
    let isJSON = type.hasSuffix("/json") || type.hasSuffix("+json")
    // A page of another site can send any other type without asking first; its browser says where it is from.
    guard isJSON || request.header("Origin") == nil && request.header("Sec-Fetch-Site") == nil else {
      throw invalid("The Content-Type must be application/json.")
    }
    let bytes = try await request.body.collect(upTo: JPushAPI.bodyLimit)
    do {
      return try JSONValue(checking: bytes)
    } catch {
      throw invalid("The request data is not JSON: \(error.text)")
    }
  }

  static func answer(_ json: JSONValue) -> Response { APIContext.answer(json) }

  /// Status 200 and no body, as JPush answers a change.
  static var done: Response { Response(headers: ["Cache-Control": "no-store"]) }
}
