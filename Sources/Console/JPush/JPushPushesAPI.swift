import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Synchronization

/// `/v3/push`, `/v3/push/validate`, `/v3/push/cid`, the batches, and the end of a push.
enum JPushPushesAPI {
  /// Pushes of one batch.
  private static let batchLimit = 1000
  private static let cids = 1...1000

  static func add(to routes: inout ConsoleRouter) {
    routes.jpush(.post, "/v3/push") { call in try await send(call) }
    routes.jpush(.post, "/v3/push/validate") { call in try await validate(call) }
    routes.jpush(.get, "/v3/push/cid") { call in try cidList(call) }
    routes.jpush(.delete, "/v3/push/:id") { call in try await cancel(call) }
    for target in JPushRequest.Target.allCases {
      routes.jpush(.post, "/v3/push/batch/\(target.rawValue)/single") { call in try await batch(call, target) }
    }
  }

  /// Milliseconds since 1970 and three random digits: the number of a push that is not stored. Numbers of stored ones
  /// are row IDs, which are far below.
  static func unusedID() -> Int64 {
    Int64(Date().timeIntervalSince1970 * 1000) * 1000 + Int64.random(in: 0..<1000)
  }

  /// The first of a draft's problems in JPush's terms.
  static func error(of problems: Problems) -> JPushError {
    guard let problem = problems.all.first else { return JPushError(.internalError, "Server internal error") }
    switch problem.code {
    case let code where DraftMessage.empty.contains(code):
      return JPushError(.noTarget, "cannot find user by this audience")
    case PayloadMessage.tooLarge.code, FCMMessageProblem.tooLarge.code, JPushMessageProblem.tooLarge.code:
      return JPushError(.tooLarge, problem.description)
    default: return JPushError(.invalid, problem.description)
    }
  }

  /// Names the fields of JPush's request in what is wrong with its draft.
  static func naming<Value>(_ draft: PushDraft, _ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let problems as Problems {
      throw error(of: Problems(problems.all.map(draft.jpushProblem)))
    }
  }

  /// What the intake counted, which a repetition does not count again.
  private final class Reached: Sendable {
    private let counted = Mutex<[Reach]?>(nil)
    var all: [Reach]? { counted.withLock { $0 } }
    func note(_ check: PushCheck) { counted.withLock { $0 = check.count?.reached } }
  }

  /// Sends a push through the intake, once for each `cid`.
  ///
  /// - Returns: the answer as it was given the first time, and the keys that were of no use.
  private static func take(
    _ call: JPushCall, _ request: JPushRequest, cid: String?
  ) async throws -> (answer: Idempotency.Answer, unused: [String]) {
    let draft = try await draft(call, request)
    let order = PushIntake.Order(draft, source: .jpush, by: call.actor, from: call.clientAddress, now: call.now)
    // As at JPush, the cid alone decides: another body with the same one is not sent either.
    let idempotency = Idempotency(actor: call.actor, key: cid, route: "POST /v3/push", content: [], now: call.now)
    let reached = Reached()
    let answer = try await naming(draft) {
      try await call.console.intake.take(order, once: idempotency) { _, kept, check in
        reached.note(check)
        guard case .push(let push) = kept else { throw JPushError(.internalError, "Server internal error") }
        return Idempotency.Answer(status: .ok, json: accepted(request, String(push.id)))
      }
    }
    return (answer, draft.unusedKeys(reached.all))
  }

  private static func accepted(_ request: JPushRequest, _ id: String) -> JSONValue {
    ["sendno": .string(String(request.sendno)), "msg_id": .string(id)]
  }

  /// The draft of a request, with what `override_msg_id` takes from an earlier push.
  static func draft(_ call: JPushCall, _ request: JPushRequest) async throws -> PushDraft {
    guard let id = request.replaces else { return request.draft }
    let earlier = try await call.store.read { database -> PushDraft? in
      guard let push = try Push.find(database, id: id), push.appID == call.app.id,
        push.createdAt > call.now.addingTimeInterval(-86_400)
      else { return nil }
      return try PushDraft(json: try JSONValue(checking: Array(push.draftJSON.utf8)))
    }
    var request = request
    try request.replace(earlier)
    return request.draft
  }

  private static func send(_ call: JPushCall) async throws -> Response {
    let request = try JPushRequest(try await call.body(), app: call.app.bundleID)
    let (answer, unused) = try await take(call, request, cid: request.cid)
    return answer.response.naming(unused: unused)
  }

  private static func validate(_ call: JPushCall) async throws -> Response {
    let request = try JPushRequest(try await call.body(), app: call.app.bundleID)
    let draft = try await draft(call, request)
    let check = try await call.console.intake.check(draft, now: call.now, within: .seconds(10))
    guard check.problems.isEmpty else { throw error(of: Problems(check.problems.map(draft.jpushProblem))) }
    return JPushCall.answer(accepted(request, String(unusedID())))
      .naming(unused: draft.unusedKeys(check.count?.reached))
  }

  private static func cidList(_ call: JPushCall) throws -> Response {
    let query = call.request.queryItems
    let type = query["type"] ?? "push"
    guard ["push", "schedule"].contains(type) else { throw call.invalid("type must be push or schedule.") }
    guard let count = query["count"].map({ Int($0) }) ?? 1, cids.contains(count) else {
      throw call.invalid("count must be a number from 1 to 1000.")
    }
    let list = (0..<count).map { _ in JSONValue.string("\(call.key.appKey)-\(UUID().uuidString.lowercased())") }
    return JPushCall.answer(["cidlist": .array(list)])
  }

  /// Stops a push that was sent with this key: devices not reached yet get nothing.
  private static func cancel(_ call: JPushCall) async throws -> Response {
    guard let id = Int64(call.request.parameters["id"] ?? ""),
      let push = try await call.store.read({ try Push.find($0, id: id) }), push.createdBy == call.actor
    else { throw call.invalid("msgid doesn't exist") }
    guard try await call.console.engine.cancel(id, by: call.actor) else {
      throw call.invalid("This push is over. What phones have received cannot be recalled.")
    }
    let action = push.state == .needsApproval ? "push.withdraw" : "push.cancel"
    try await call.note(call.audit(action, "push \(push.uid)"))
    return JPushCall.done
  }

  /// Each push of a batch succeeds or fails by itself.
  private static func batch(_ call: JPushCall, _ target: JPushRequest.Target) async throws -> Response {
    let body = try await call.body()
    guard let pushes = body["pushlist"], pushes != .null else {
      throw JPushError(.missing, "Missing parameter: pushlist")
    }
    if let other = body.object?.keys.sorted().first(where: { $0 != "pushlist" }) {
      throw JPushError(.unknownKey, "\(other.prefix(100)) is not supported. Remove this key.")
    }
    guard let list = pushes.object else { throw call.invalid("pushlist must be a JSON object.") }
    guard list.count <= batchLimit else {
      throw call.invalid("pushlist has \(list.count) pushes; at most \(batchLimit) are allowed.")
    }
    var answers: [String: JSONValue] = [:]
    var unused: Set<String> = []
    for (cid, push) in list.sorted(by: { $0.key < $1.key }) {
      do {
        guard JPushRequest.isCID(cid) else { throw call.invalid("This key is not a cid. Get one from /v3/push/cid.") }
        let request = try JPushRequest(push, app: call.app.bundleID, target: target)
        let (taken, names) = try await take(call, request, cid: cid)
        let answer = try JSONValue(checking: taken.body)
        unused.formUnion(names)
        answers[cid] = ["msg_id": answer["msg_id"]?.string.flatMap { Int64($0) }.map(JSONValue.integer) ?? .null]
      } catch let error as JPushError {
        answers[cid] = json(error)
      } catch let problems as Problems {
        answers[cid] = json(error(of: problems))
      }
    }
    return JPushCall.answer(.object(answers)).naming(unused: unused.sorted())
  }

  private static func json(_ error: JPushError) -> JSONValue {
    var members: [String: JSONValue] = [
      "error": ["code": .integer(Int64(error.code.rawValue)), "message": .string(error.message)]
    ]
    if error.code == .noTarget { members["msg_id"] = .integer(unusedID()) }
    return .object(members)
  }
}
