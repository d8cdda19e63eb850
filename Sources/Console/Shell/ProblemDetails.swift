import HTTPServer
import JSON
import Model
import SQLite
import Store

/// An error in the form of RFC 9457, with `errors` for fields; `instance` is the request ID in the log.
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
    if status == .unprocessableContent, !errors.isEmpty { title = "The request has invalid fields" }
    if detail.isEmpty { detail = status.code >= 500 ? "See the server's log for the cause." : title }
  }

  var response: Response {
    var response = Response.json(JSONWriter.bytes(of: self), status: status, type: "application/problem+json")
    response.headers.append("Cache-Control", "no-store")
    return response
  }
}

extension ProblemDetails: JSONObject {
  func writeMembers(to json: inout JSONWriter) {
    json.member("type", "about:blank")
    json.member("title", title)
    json.member("status", status.code)
    json.member("detail", detail)
    if let request { json.member("instance", request) }
    guard !errors.isEmpty else { return }
    json.objects("errors", errors) { json, error in
      json.member("field", error.field)
      json.member("code", error.code)
      json.member("message", error.text)
    }
  }
}
