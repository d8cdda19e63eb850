import Delivery
import HTTPServer
import Model
import SQLite
import Store

/// An API error with its status, so that the server does not log it as an internal error.
struct APIError: HTTPResponseError {
  let status: Status
  let message: String
  let problems: [Problem]
  let headers: Headers

  init(_ status: Status, _ message: String, problems: [Problem] = [], headers: Headers = Headers()) {
    self.status = status
    self.message = message
    self.problems = problems
    self.headers = headers
  }

  init(_ status: Status, _ problem: Problem) {
    self.init(status, problem.text, problems: problem.field.isEmpty ? [] : [problem])
  }

  /// Converts errors of lower modules; nil for unexpected ones.
  init?(_ error: any Error) {
    switch error {
    case let error as Problems: self.init(refusing: error.all)
    case let error as Problem: self.init(refusing: [error])
    case StoreError.badCursor:
      self.init(refusing: [Problem("cursor", code: "cursor.bad", "Invalid cursor for this list. Start without one.")])
    case let error as StoreError:
      guard let status = error.status else { return nil }
      self.init(status, error.description)
    case is Idempotency.Mismatch:
      self.init(
        .conflict,
        Problem(
          "Idempotency-Key", code: "idempotency.mismatch",
          "This Idempotency-Key was used for a different request. Use a new key."))
    case let error as PushIntake.NoApp: self.init(.notFound, error.problem)
    case let error as SealingMismatch: self.init(.conflict, error.description)
    case is PasswordsBusy:
      self.init(
        .serviceUnavailable, "Too many requests are waiting for this. Nothing was changed. Try again.",
        headers: ["Retry-After": String(PasswordsBusy.pause)])
    case let error as SQLiteError where error.isBusy:
      self.init(
        .serviceUnavailable,
        "Another operation kept the database busy for too long. Nothing was changed. Try again.",
        headers: ["Retry-After": "1"])
    case let error as SQLiteError where error.code == .interrupt:
      self.init(
        .serviceUnavailable, "Reading this much data took too long and was stopped. Nothing was changed.",
        headers: ["Retry-After": "60"])
    case let error as BrokenImport:
      let disk = DiskWords(of: error.cause)
      let cause = disk?.text ?? "Another operation kept the database busy for too long."
      self.init(
        disk?.status ?? .serviceUnavailable, "\(cause) \(error.left.text)",
        headers: ["Retry-After": disk == nil ? "1" : "30"])
    case let error as SQLiteError:
      guard let words = DiskWords(of: error) else { return nil }
      self.init(
        words.status,
        "\(words.text) Nothing was changed. Try again once the disk is fixed.",
        headers: ["Retry-After": "30"])
    default: return nil
    }
  }

  /// Runs a handler and converts errors of lower modules.
  static func telling(_ handler: () async throws -> Response) async throws -> Response {
    do {
      return try await handler()
    } catch let error as any HTTPResponseError {
      throw error
    } catch {
      throw APIError(error) ?? error
    }
  }

  private init(refusing problems: [Problem]) {
    let approval = problems.lazy.compactMap { ApprovalMessage(rawValue: $0.code) }.first
    self.init(
      approval.map { $0.isConflict ? .conflict : .forbidden } ?? .unprocessableContent,
      problems.map(\.description).joined(separator: "\n"), problems: problems)
  }

  /// The token's owner may not send to production.
  static var notPermitted: APIError { APIError(refusing: [Problem("", ApprovalMessage.notPermitted)]) }

  /// The body names an unknown app.
  static func noApp(_ bundleID: String) -> APIError {
    APIError(.notFound, Problem("app", DraftMessage.noApp, ["app": bundleID]))
  }
}

extension StoreError {
  /// The status for a request that caused this error; nil: the error is internal.
  var status: Status? {
    switch self {
    case .notFound: .notFound
    case .taken, .inUse, .detailsRemoved: .conflict
    case .badCursor: .unprocessableContent
    case .unreadable, .outOfOrder: nil
    }
  }
}
