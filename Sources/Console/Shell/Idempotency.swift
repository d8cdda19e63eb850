import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The header `Idempotency-Key`.
extension Idempotency {
  private static let longestKey = 255

  /// - Parameters:
  ///   - content: what makes two requests the same.
  ///   - isSecret: whether the answer has a secret, and is kept encrypted.
  /// - Throws: `Problems` for an invalid key.
  init(_ call: APIContext, content: [UInt8], isSecret: Bool = false) throws {
    let key = try Self.key(of: call.request)
    // Names of tokens need not differ, and the key of one client is none of another's.
    let actor =
      switch call.principal {
      case .token(let token): "token \(token.id)"
      case .user(let user, _): "user \(user.id)"
      }
    // With the ids in the path: what was done to one certificate does not answer a request about another.
    self.init(
      actor: actor, key: key, route: "\(call.request.method) \(call.request.path)", content: content,
      now: call.now, sealer: isSecret ? call.store.sealer : nil)
  }

  /// Nil: the client gave none.
  ///
  /// - Throws: `Problems` for an invalid key.
  static func key(of request: Request) throws -> String? {
    let keys = request.headers.values(of: "Idempotency-Key")
    guard keys.count <= 1, keys.allSatisfy({ (1...longestKey).contains($0.utf8.count) }) else {
      throw Problems([
        Problem(
          "Idempotency-Key", code: "idempotency.form",
          "An Idempotency-Key must have 1 to {limit} characters and appear once.", ["limit": String(longestKey)])
      ])
    }
    return keys.first
  }

  /// Answers as the first time, or carries the request out, in one transaction.
  func response(
    _ store: Store, _ body: @escaping @Sendable (Database) throws -> Answer
  ) async throws -> Response {
    try await store.write { database in try answer(database) { try body(database) } }.response
  }
}

extension Idempotency.Answer {
  init<Body: JSONWritable>(status: Status, json: Body, location: String? = nil) {
    self.init(status: status.code, body: JSONWriter.bytes(of: json), location: location)
  }

  var response: Response { APIContext.answer(written: body, status: Status(status), location: location) }
}
