import Foundation
import JSON

/// One request as the simulated FCM sees it, free of I/O.
package struct FCMCall: Sendable {
  /// In upper case.
  package let method: String
  /// The path split at its slashes and then percent-decoded: a registration token has a colon in it.
  package let path: [String]
  /// The query's first value by name, decoded.
  package let query: [String: String]
  package let authorization: String?
  package let body: [UInt8]
  /// The length of the whole body, of which ``body`` may hold only the beginning.
  package let bodyByteCount: Int
  /// The number of the request on its connection, from 1.
  package let number: Int

  /// - Parameter target: path and query as sent.
  package init(
    method: String, target: String, authorization: String?, body: [UInt8], bodyByteCount: Int? = nil, number: Int = 1
  ) {
    self.method = method
    let parts = target.split(separator: "?", maxSplits: 1)
    path = (parts.first ?? "").split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    query = parts.count > 1 ? Self.pairs(parts[1]) : [:]
    self.authorization = authorization
    self.body = body
    self.bodyByteCount = bodyByteCount ?? body.count
    self.number = number
  }

  /// The body as a form, the first value by name.
  var form: [String: String] { Self.pairs(String(decoding: body, as: UTF8.self)[...]) }

  private static func pairs(_ text: Substring) -> [String: String] {
    let pairs = text.split(separator: "&").map { pair -> (String, String) in
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        let spaced = String($0.replacing("+", with: " "))
        return spaced.removingPercentEncoding ?? spaced
      }
      return (halves.first ?? "", halves.count > 1 ? halves[1] : "")
    }
    return Dictionary(pairs) { first, _ in first }
  }
}

/// An answer of the simulated FCM.
package struct FCMReply: Sendable, Hashable {
  package let status: Int
  /// JSON, or text where Google answers text.
  package let body: [UInt8]
  package var contentType = "application/json; charset=UTF-8"
  /// Seconds. Clients wait and send again for as long as the field comes, so only 429 and 503 have it
  /// (docs/protocols.md §7.4).
  package var retryAfter: Int?

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

  /// All header fields, with names in lower case.
  package var fields: [(name: String, value: String)] {
    [("content-type", contentType)] + (retryAfter.map { [("retry-after", "\($0)")] } ?? [])
  }
}
