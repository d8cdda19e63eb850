import HTTPServer
package import JSON
import Model
import SQLite
package import Store

enum AudienceAPI {
  /// Enough to count about ten million devices.
  private static let patience = Duration.seconds(10)

  static func add(to routes: inout ConsoleRouter) {
    routes.call(.post, "/audience/count", role: .viewer) { call in
      let (bundleID, query) = try read(try await call.body())
      let count = try await counted(call) { database in
        guard let app = try App.find(database, bundleID: bundleID) else { throw APIError.noApp(bundleID) }
        var query = query
        (query.app, query.now) = (app.id, call.now)
        return query
      }
      return APIContext.answer(count)
    }
  }

  /// The app's ID in the query is filled in later.
  private static func read(_ json: JSONValue) throws -> (app: String, query: AudienceQuery) {
    let fields = JSONFields(json)
    let app = fields.string(
      "app", required: true, limit: .characters(AppName.bundleIDLimit), check: AppName.problem(withBundleID:))
    let environment = fields.choice("environment", required: true, as: Environment.self)
    let platforms = PushDraft.readPlatforms(fields)
    let audience = Audience.read(fields, platforms: platforms)
    try fields.finish()
    guard let app, let environment, let audience else {
      // Unreachable: each of the three is nil only if a problem was reported, and finish() then threw.
      throw Problems([Problem("", FieldMessage.required)])
    }
    return (app, AudienceQuery(app: 0, environment: environment, platforms: platforms, audience: audience))
  }

  /// Counts the audience, with a time limit.
  /// - Throws: 503 if counting takes longer than `patience`.
  private static func counted(
    _ call: APIContext, _ query: @escaping @Sendable (Database) throws -> AudienceQuery
  ) async throws -> AudienceCount {
    do {
      return try await call.store.read(limit: patience) { try query($0).count($0) }
    } catch let error as SQLiteError where error.code == .interrupt {
      throw tookTooLong
    }
  }

  static let tookTooLong = HTTPError(
    .serviceUnavailable, "Counting took more than 10 seconds and was stopped. Try a narrower audience.",
    headers: ["Retry-After": "60"])
}

extension AudienceCount: JSONWritable {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("reachable", reachable)
      json.member("unreachable", unreachable)
      json.object("platforms") { json in
        for platform in Platform.allCases {
          json.key(dynamic: platform.rawValue)
          json.integer(Int64(reachable(platform)))
        }
      }
    }
  }
}
