import Foundation
package import HTTP2
import JSON
import Model

/// One request as the simulated FCM or JPush sees it, free of I/O.
package struct SimulatedCall: Sendable {
  /// In upper case.
  package let method: String
  /// Path and query as sent.
  package let target: String
  /// The path split at its slashes and then percent-decoded: a registration token has a colon in it.
  package let path: [String]
  /// The query's first value by name, decoded.
  package let query: [String: String]
  private let queryPairs: [(name: String, value: String)]
  package let authorization: String?
  /// All header fields, for those who ask what came.
  let fields: HeaderList
  /// Whether the body is announced as a form.
  let isForm: Bool
  package let body: [UInt8]
  /// The length of the whole body, of which ``body`` may hold only the beginning.
  package let bodyByteCount: Int
  /// The number of the request on its connection, from 1.
  package let number: Int

  /// - Parameters:
  ///   - target: path and query as sent.
  ///   - fields: all header fields, with names in lower case.
  package init(
    method: String, target: String, authorization: String?, contentType: String? = nil,
    fields: HeaderList = HeaderList(), body: [UInt8], bodyByteCount: Int? = nil, number: Int = 1
  ) {
    (self.method, self.target, self.fields) = (method, target, fields)
    let parts = target.split(separator: "?", maxSplits: 1)
    path = (parts.first ?? "").split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    queryPairs = parts.count > 1 ? Self.pairs(parts[1]) : []
    query = Dictionary(queryPairs.map { ($0.name, $0.value) }) { first, _ in first }
    self.authorization = authorization
    isForm = contentType?.lowercased().hasPrefix(LegacyForm.mediaType) == true
    self.body = body
    self.bodyByteCount = bodyByteCount ?? body.count
    self.number = number
  }

  /// A request over HTTP/1.1.
  ///
  /// - Parameters:
  ///   - target: path and query as sent.
  ///   - fields: all header fields, with names in lower case.
  package init(method: String, target: String, fields: [(name: String, value: String)], body: [UInt8]) {
    func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    self.init(
      method: method, target: target, authorization: first("authorization"), contentType: first("content-type"),
      fields: HeaderList(fields), body: body)
  }

  /// The body as a form, the first value by name.
  var form: [String: String] { Dictionary(formPairs.map { ($0.name, $0.value) }) { first, _ in first } }

  var formPairs: [(name: String, value: String)] { Self.pairs(String(decoding: body, as: UTF8.self)[...]) }

  /// Every value of a name in the query.
  func queryValues(_ name: String) -> [String] { queryPairs.filter { $0.name == name }.map(\.value) }

  private static func pairs(_ text: Substring) -> [(name: String, value: String)] {
    text.split(separator: "&").map { pair in
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        let spaced = String($0.replacing("+", with: " "))
        return spaced.removingPercentEncoding ?? spaced
      }
      return (halves.first ?? "", halves.count > 1 ? halves[1] : "")
    }
  }
}

/// An answer of the simulated FCM or JPush.
package struct SimulatedReply: Sendable, Hashable {
  package let status: Int
  /// JSON, or text where Google answers text; empty where JPush answers a change.
  package let body: [UInt8]
  package var contentType = "application/json; charset=UTF-8"
  /// Seconds. Clients wait and send again for as long as the field comes, so only 429 and 503 have it
  /// (docs/protocols.md §7.4).
  package var retryAfter: Int?
  /// JPush's limits; nil: none are stated.
  var limits: JPushLimits?
  /// Where a push went; nil: it was refused, or the call was none.
  var landing: Landing?
  /// The code of a refusal, also of one target within an answer 200.
  var reason: String?

  init(status: Int = 200, _ json: JSONValue) {
    self.status = status
    body = json.bytes
  }

  /// A refusal outside of the v1 API, in plain text.
  init(status: Int, text: String) {
    self.status = status
    body = Array(text.utf8)
    contentType = "text/plain; charset=UTF-8"
  }

  /// A refusal of the v1 API.
  init(_ error: FCMError) {
    status = error.status
    body = error.json.bytes
    retryAfter = error.retryAfter
  }

  /// A refusal of JPush's.
  ///
  /// - Parameters:
  ///   - message: of a push that reaches nobody.
  ///   - status: nil: that of the code.
  init(_ error: JPushError, message: Int64? = nil, status: Int? = nil) {
    self.status = status ?? error.code.status
    var members: [String: JSONValue] = [
      "error": ["code": .integer(Int64(error.code.rawValue)), "message": .string(error.message)]
    ]
    members["msg_id"] = message.map(JSONValue.integer)
    body = JSONValue.object(members).bytes
  }

  /// A change of JPush's devices.
  static let done = SimulatedReply(status: 200, text: "")

  /// The first words of a refusal in plain text.
  var refusal: String? {
    guard status >= 400, contentType.hasPrefix("text/plain") else { return nil }
    let line = String(decoding: body, as: UTF8.self).prefix { $0 != "\n" && $0 != ":" }
    return line.isEmpty ? nil : String(line.prefix(100))
  }

  /// All header fields, with names in lower case.
  package var fields: [(name: String, value: String)] {
    [("content-type", contentType)] + (retryAfter.map { [("retry-after", "\($0)")] } ?? []) + (limits?.fields ?? [])
  }
}
