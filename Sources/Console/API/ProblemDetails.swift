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
    self.init(failure.error, status: failure.status, message: failure.message)
    request = failure.requestID
  }

  private init(_ error: any Error, status: Status, message: String) {
    self.status = status
    title = status.reason
    detail = message
    switch error {
    case let problems as Problems: refuse(problems.all)
    case let problem as Problem: refuse([problem])
    case let error as APIError: errors = error.problems
    case let error as StoreError: take(error)
    case let error as SQLiteError where error.isBusy:
      self.status = .serviceUnavailable
      title = "The database is busy"
      detail = "Another write kept the database too long. Nothing was changed; send the request again."
    default: if detail.isEmpty { detail = status.code >= 500 ? "The reason stands in the server's log." : title }
    }
    if self.status != status, title == status.reason { title = self.status.reason }
  }

  private mutating func refuse(_ problems: [Problem]) {
    status = .unprocessableContent
    title = "The request has fields that cannot be taken"
    detail = problems.map(\.description).joined(separator: "\n")
    errors = problems
  }

  private mutating func take(_ error: StoreError) {
    switch error {
    case .notFound: status = .notFound
    case .taken, .inUse: status = .conflict
    case .badCursor:
      return refuse([Problem("cursor", code: "cursor.bad", error.description)])
    case .unreadable, .outOfOrder: break
    }
    if status.code < 500 { detail = error.description }
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
