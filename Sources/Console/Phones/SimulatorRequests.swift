import Foundation
import HTTPServer
package import JSON
import Model
package import Simulator
import Store

/// The simulator as a catcher: what reached its services, refused requests included, and what a test expects of it.
enum SimulatorRequests {
  static let operations = [
    SimulatorAPI.Operation(.get, "/requests", role: .viewer, query: queryNames) { call in try await requests(call) },
    SimulatorAPI.Operation(.delete, "/requests", role: .operator) { call in
      try call.simulator().requests.clear()
      return APIContext.nothing
    },
  ]

  private static let queryNames =
    SimulatorExpectation.names + [
      "server", "outcome", "status", "reason", "token", "phone", "push",
    ] + ContentQuery.names + ["after", "limit"]

  private static func requests(_ call: SimulatorAPI.Call) async throws -> Response {
    var query = APIQuery(call.request)
    let expectation = SimulatorExpectation(&query)
    var wanted = RequestQuery()
    wanted.server = query.choice("server")
    wanted.outcome = query.choice("outcome")
    wanted.status = query.number("status", in: 200...599)
    wanted.reason = query.text("reason")
    wanted.token = query.text("token", limit: 1024)
    wanted.phone = query.number("phone", in: 1...Int(Int32.max)).map(Int64.init)
    wanted.push = query.text("push")
    wanted.content = query.content()
    wanted.after = query.number("after", in: 0...Int(Int32.max)).map(Int64.init) ?? 0
    let limit = query.limit()
    try query.finish()
    let book = try call.simulator().requests
    let found = await book.requests(wanted, atLeast: expectation.enough, within: expectation.limit)
    var others = RequestQuery()
    others.after = wanted.after
    try expectation.check(
      found.count, call, one: "request", "\(book.requests(others).count) reached the simulator")
    return APIContext.answer { json in
      json.member("total", found.count)
      json.array("items", found.prefix(limit)) { json, request in request.write(to: &json) }
    }
  }
}

/// What a search asserts: at least so many within a time, or none.
struct SimulatorExpectation {
  static let names = ["wait", "count"]
  /// The longest `wait` that a query accepts.
  private static let longestWait = Duration.seconds(300)

  private let wait: Duration?
  private let count: Int

  init(_ query: inout APIQuery) {
    wait = query.wait(upTo: Self.longestWait)
    count = query.number("count", in: 0...10_000) ?? 1
  }

  /// The number with which waiting ends; if nothing may come, with the first.
  var enough: Int { max(1, count) }
  var limit: Duration { wait ?? .zero }

  /// - Parameters:
  ///   - one: what is looked for.
  ///   - others: what came in all.
  /// - Throws: an error status, so that `curl --fail` works as an assertion.
  func check(_ found: Int, _ call: SimulatorAPI.Call, one: String, _ others: @autoclosure () -> String) throws {
    if count == 0 {
      guard found > 0 else { return }
      let matching = found == 1 ? "A matching \(one)" : "\(found) matching \(one)s"
      throw APIError(.conflict, "\(matching) arrived, and none was to.")
    }
    guard wait != nil, found < count else { return }
    let missing = count == 1 ? "No matching \(one)" : "Only \(found) of \(count) matching \(one)s"
    throw APIError(
      .notFound, "\(missing) arrived within \(call.request.queryItems["wait"] ?? ""); \(others()).")
  }
}

extension ContentQuery {
  static let names = ["title", "body", "contains", "pointer", "value"]
}

extension APIQuery {
  /// What notifications and requests are searched for by their content.
  mutating func content() -> ContentQuery {
    var content = ContentQuery()
    let limit = 500
    content.title = text("title", limit: limit)
    content.body = text("body", limit: limit)
    content.part = text("contains", limit: limit)
    content.value = text("value", limit: limit)
    if let text = text("pointer", limit: limit) {
      content.place = JSONPointer(text)
      if content.place == nil {
        report(
          Problem(
            "pointer", code: "simulator.pointer", "Must be a JSON Pointer such as /aps/badge, not “{value}”.",
            ["value": String(text.prefix(40))]))
      }
    } else if content.value != nil {
      // The whole document.
      content.place = JSONPointer("")
    }
    return content
  }
}

/// The schema `SimulatedRequest`.
extension CaughtRequest: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    let alert = alert
    let content = self.json
    json.member("id", id)
    json.member("server", server.rawValue)
    json.member("received_at", at)
    json.member("method", method)
    json.member("target", target)
    json.array("fields", fields) { json, field in field.write(to: &json) }
    json.member("size", bodyByteCount)
    json.member("json", content)
    json.member("text", content == nil && !body.isEmpty ? String(decoding: body, as: UTF8.self) : nil)
    json.array("tokens", tokens.prefix(100)) { json, token in json.string(token) }
    json.member("push", push)
    json.member("title", alert.title)
    json.member("body", alert.body)
    json.member("outcome", outcome.rawValue)
    json.member("status", status)
    json.member("reason", reason)
    json.member("fault", isFault)
    json.array("phones", phones) { json, id in json.integer(id) }
    json.array("answer_fields", answerFields) { json, field in field.write(to: &json) }
    json.member("answer", String(decoding: answerBody, as: UTF8.self))
  }
}

extension CaughtRequest.Field: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("name", name)
    json.member("value", value)
  }
}
