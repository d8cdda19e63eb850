import HTTPServer
import Push

/// An error with a status of its own that names fields nevertheless.
struct APIError: HTTPResponseError {
  let status: Status
  let message: String
  let problems: [Problem]

  init(_ status: Status, _ problem: Problem) {
    self.status = status
    message = problem.text
    problems = problem.field.isEmpty ? [] : [problem]
  }

  /// The body names an app that is not there.
  static func noApp(_ bundleID: String) -> APIError { APIError(.notFound, PushPreview.noApp(bundleID)) }
}
