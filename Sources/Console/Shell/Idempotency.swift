import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import SQLite
import Store

/// `Idempotency-Key`: a request that is sent again, because its answer was lost, is answered as the first time.
struct Idempotency: Sendable {
  static let lifetime: TimeInterval = 86_400
  private static let longest = 255

  /// What a call answers that creates something.
  struct Answer: Sendable {
    var status: Status
    /// The JSON of the body.
    var body: [UInt8]
    var location: String?

    init(status: Status, body: [UInt8], location: String? = nil) {
      self.status = status
      self.body = body
      self.location = location
    }

    init<Body: JSONWritable>(status: Status, json: Body, location: String? = nil) {
      self.init(status: status, body: JSONWriter.bytes(of: json), location: location)
    }
  }

  private let key: String?
  private let actor: String
  private let route: String
  private let hash: [UInt8]
  private let now: Date

  /// - Parameter content: what makes a request the same as another one.
  /// - Throws: `Problems` for a key that is none.
  init(_ call: APIContext, content: [UInt8]) throws {
    let keys = call.request.headers.values(of: "Idempotency-Key")
    guard keys.count <= 1, keys.allSatisfy({ (1...Self.longest).contains($0.utf8.count) }) else {
      throw Problems([
        Problem(
          "Idempotency-Key", code: "idempotency.form",
          "An Idempotency-Key must have 1 to {limit} characters and appear once.",
          ["limit": String(Self.longest)])
      ])
    }
    key = keys.first
    // Names of tokens need not differ, and the key of one client is none of another's.
    switch call.principal {
    case .token(let token): actor = "token \(token.id)"
    case .user(let user, _): actor = "user \(user.id)"
    }
    // With the ids in it: what was done to one certificate is no answer to what is asked for another.
    route = "\(call.request.method) \(call.request.path)"
    hash = Digest.sha256(content)
    now = call.now
  }

  /// Whether there is a key.
  var isAsked: Bool { key != nil }

  /// What the request was answered the first time; nil: it is new.
  ///
  /// - Throws: 409 if the key was used for another request.
  func known(_ database: Database) throws -> Answer? {
    guard let key else { return nil }
    switch try IdempotentAnswer.find(
      database, actor: actor, key: key, route: route, requestHash: hash, now: now)
    {
    case .answered(let known):
      return Answer(status: Status(known.status), body: known.body, location: known.location)
    case .mismatch:
      throw APIError(
        .conflict,
        Problem(
          "Idempotency-Key", code: "idempotency.mismatch",
          "This Idempotency-Key was used for a different request. Use a new key."))
    case .fresh: return nil
    }
  }

  /// Answers from memory, or carries the request out and keeps its answer, in the transaction around it.
  ///
  /// - Returns: the answer, and what `body` gave beside it; nil if it was not called.
  /// - Throws: 409 if the key was used for another request.
  func once<Value>(
    _ database: Database, _ body: () throws -> (Answer, Value)
  ) throws -> (answer: Answer, value: Value?) {
    guard let key else {
      let (answer, value) = try body()
      return (answer, value)
    }
    if let known = try known(database) { return (known, nil) }
    let (answer, value) = try body()
    try IdempotentAnswer(
      actor: actor, key: key, route: route, requestHash: hash, status: answer.status.code, location: answer.location,
      body: answer.body, expiresAt: now.addingTimeInterval(Self.lifetime)
    ).keep(database, now: now)
    return (answer, value)
  }
}

extension Idempotency.Answer {
  var response: Response { APIContext.answer(written: body, status: status, location: location) }
}
