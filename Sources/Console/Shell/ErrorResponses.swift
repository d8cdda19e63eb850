import HTTPServer
import JSON
import Logging
import Model
import SQLite
import Store
import Text

/// Turns errors into pages for people and problem details (RFC 9457) for programs.
struct ErrorResponses: Sendable {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func response(to failure: Failure) -> Response {
    if failure.error as? any HTTPResponseError == nil {
      // Unexpected errors may name devices: their text is masked, and only logged.
      console.log.error(
        "request failed",
        [
          "request": failure.requestID, "path": failure.request?.route ?? "",
          "error": Redaction.masking("\(failure.error)"),
        ])
    }
    // JPush's clients fail on any other form. The raw path, because one with an invalid escape has no segments.
    if let request = failure.request, let family = JPushFamily(path: request.path) {
      return JPushAPI.refusal(of: failure, request, family)
    }
    if let request = failure.request, isPlain(request), failure.status.code < 500 {
      var response = failure.plainResponse
      response.headers.append("Cache-Control", "no-store")
      return response
    }
    var response = wantsJSON(failure.request) ? ProblemDetails(failure).response : page(failure)
    for field in failure.headers.fields { response.headers.append(field.name, field.value) }
    return response
  }

  /// Whether a failed request is answered with a page.
  func isPage(_ request: Request) -> Bool {
    JPushFamily(path: request.path) == nil && !wantsJSON(request) && !isPlain(request)
  }

  /// Whether a refusal is a line of text: Prometheus, calendar apps, monitoring, and old servers read no pages.
  private func isPlain(_ request: Request) -> Bool {
    [MetricsRoute.path, CalendarPages.path, "/healthz", "/readyz", "/fcm/send", "/gcm/send"].contains(request.path)
      && !wantsJSON(request)
  }

  private func wantsJSON(_ request: Request?) -> Bool {
    guard let request else { return false }
    // Uses the raw path: a path with an invalid escape has no segments.
    return ["/api/", "/simulator/", "/receipts", "/notificationtokenupload"].contains { request.path.hasPrefix($0) }
      || request.header("Accept") == "application/json"
  }

  private func page(_ failure: Failure) -> Response {
    let texts = failure.request.map { ConsoleRouter.texts(console, $0, nil) } ?? console.locales[nil]
    let error = failure.error as? SQLiteError
    let isBusy = error?.isBusy ?? false
    let isSlow = error?.code == .interrupt
    let disk = error.flatMap(DiskWords.init(of:))
    let status = isBusy || isSlow ? Status.serviceUnavailable : disk?.status ?? failure.status
    let code =
      if isBusy { "busy" } else if isSlow { "slow" } else if disk != nil { "disk" } else if status == .notFound {
        "not_found"
      } else if status == .contentTooLarge { "too_large" } else { status.code >= 500 ? "failed" : "refused" }
    let problem =
      disk?.problem
      ?? (failure.message.isEmpty ? nil : Problem("", code: "http.\(failure.status.code)", failure.message))
    let happened = problem.map { texts.text($0) } ?? texts("errors.\(code).happened")
    return console.views.page(
      ErrorView(
        status: status.code, title: texts("errors.\(code).title"), happened: happened,
        kept: texts("errors.\(code).kept"), next: texts("errors.\(code).next"), request: failure.requestID),
      console.views.frame(texts), status: status)
  }
}

/// A disk error for the sender of a request, without the statement and the path.
struct DiskWords {
  private let error: SQLiteError

  init(_ error: SQLiteError) { self.error = error }

  /// Nil for other errors.
  init?(of error: SQLiteError) {
    guard error.isOfDisk else { return nil }
    self.error = error
  }

  var status: Status { error.code == .full ? .insufficientStorage : .serviceUnavailable }

  var text: String { problem.text }

  var problem: Problem {
    switch error.code {
    case _ where error.extendedCode == .moved:
      Problem(
        "", code: "disk.moved",
        "The database's files were replaced or removed while the server runs. Nothing is saved until it is restarted.")
    case .full: Problem("", code: "disk.full", "The database disk is full.")
    case .readOnly: Problem("", code: "disk.read_only", "The database file or its disk is not writable.")
    case .cannotOpen: Problem("", code: "disk.cannot_open", "The database or its folder cannot be opened.")
    case .corrupt, .notADatabase:
      Problem("", code: "disk.damaged", "The database cannot be read from disk, or the file is damaged.")
    default: Problem("", code: "disk.failing", "The database disk is failing.")
    }
  }
}
