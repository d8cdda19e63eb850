import Reactor

/// An error that is to become a page.
package struct Failure: Sendable {
  /// The status of the answer.
  package let status: Status
  /// A sentence for the person who sent the request; may be empty.
  package let message: String
  /// Fields that the answer must have.
  package let headers: Headers
  /// The request; nil if it could not be read.
  package let request: Request?
  /// Names the request in log and answer.
  package let requestID: String
  /// What was thrown; not for strangers' eyes.
  package let error: any Error

  init(_ error: any Error, request: Request?, requestID: String) {
    let known = error as? any HTTPResponseError
    // Not the request's fault, and soon over: others give their descriptors back.
    let isShort = (error as? SystemError)?.isOutOfDescriptors ?? false
    status = known?.status ?? (isShort ? .serviceUnavailable : .internalServerError)
    message = known?.message ?? ""
    headers = known?.headers ?? (isShort ? ["Retry-After": ServerWarning.retryAfter] : Headers())
    self.request = request
    self.requestID = requestID
    self.error = error
  }

  /// The answer of a server without pages: one or two lines of text.
  package var plainResponse: Response {
    var response = Response.text("\(status)\n" + (message.isEmpty ? "" : message + "\n"), status: status)
    for field in headers.fields { response.headers.append(field.name, field.value) }
    return response
  }
}
