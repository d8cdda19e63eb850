import HTTPServer
import Push
import SQLite
import Store

/// An error as RFC 9457 writes it, with `errors` for fields; `instance` is the id of the request in the log.
struct ProblemDetails: Sendable {
  var status: Status
  var title: String
  var detail: String
  var errors: [Problem] = []
  var request: String?

  init(_ failure: Failure) {
    let known = failure.error as? APIError ?? APIError(failure.error)
    status = known?.status ?? failure.status
    title = status.reason
    detail = known?.message ?? failure.message
    errors = known?.problems ?? []
    request = failure.requestID
    if status == .unprocessableContent { title = "The request has fields that cannot be taken" }
    if detail.isEmpty { detail = status.code >= 500 ? "The reason stands in the server's log." : title }
  }

  var json: JSONValue {
    var members: [String: JSONValue] = [
      "type": "about:blank", "title": .string(title), "status": .integer(Int64(status.code)), "detail": .string(detail),
    ]
    if let request { members["instance"] = .string(request) }
    if !errors.isEmpty {
      members["errors"] = .array(
        errors.map { ["field": .string($0.field), "code": .string($0.code), "message": .string($0.text)] })
    }
    return .object(members)
  }

  var response: Response {
    var response = Response.json(json.bytes, status: status, type: "application/problem+json")
    response.headers.append("Cache-Control", "no-store")
    return response
  }
}
