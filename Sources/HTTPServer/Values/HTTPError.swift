import Reactor

/// An error answer to a request.
package struct HTTPError: HTTPResponseError, CustomStringConvertible {
  package let status: Status
  /// A sentence that is shown to the client.
  package let message: String
  /// Fields that the answer must have.
  package let headers: Headers

  /// Without a message the status' phrase is shown.
  package init(_ status: Status, _ message: String = "", headers: Headers = Headers()) {
    self.status = status
    self.message = message
    self.headers = headers
  }

  /// As `404 Not Found: There is no device 7.`
  package var description: String { message.isEmpty ? "\(status)" : "\(status): \(message)" }
}

/// An error with an HTTP status. Thrown by a handler or middleware it becomes that answer; every other error becomes
/// 500 without its message.
package protocol HTTPResponseError: Error {
  var status: Status { get }
  /// Fields that the answer must have, such as `Allow` or `Retry-After`.
  var headers: Headers { get }
  /// A sentence that is shown to the client.
  var message: String { get }
}

extension HTTPResponseError {
  package var headers: Headers { Headers() }
}

/// A request that cannot be read further. The connection is closed after the answer, because the position of the next
/// request is unknown.
struct RequestError: HTTPResponseError, Equatable, CustomStringConvertible {
  let status: Status
  let message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  /// A client refused because the server is full may retry soon.
  var headers: Headers { status == .serviceUnavailable ? ["Retry-After": ServerWarning.retryAfter] : Headers() }

  var description: String { "\(status): \(message)" }
}

/// The connection ended while a body was read or an answer written.
package struct ClientGone: Error, Equatable, CustomStringConvertible {
  package var description: String { "The client closed the connection before the exchange was over." }

  init() {}

  /// Whether a handler ended with this error because its client has gone: its task is cancelled then, which is no
  /// failure to log.
  static func explains(_ error: any Error) -> Bool {
    error is ClientGone || (error is CancellationError && Task.isCancelled)
  }
}

/// An error that becomes an error page.
package struct Failure: Sendable {
  package let status: Status
  /// A sentence for the client; may be empty.
  package let message: String
  /// Fields that the answer must have.
  package let headers: Headers
  /// Nil if the request could not be read.
  package let request: Request?
  package let requestID: String
  /// The thrown error; never shown to clients.
  package let error: any Error

  init(_ error: any Error, request: Request?, requestID: String) {
    let known = error as? any HTTPResponseError
    // A shortage of descriptors is temporary and not the request's fault.
    let isShort = (error as? SystemError)?.isOutOfDescriptors ?? false
    status = known?.status ?? (isShort ? .serviceUnavailable : .internalServerError)
    message = known?.message ?? ""
    headers = known?.headers ?? (isShort ? ["Retry-After": ServerWarning.retryAfter] : Headers())
    self.request = request
    self.requestID = requestID
    self.error = error
  }

  /// The answer of a server without error pages: one or two lines of text.
  package var plainResponse: Response {
    var response = Response.text("\(status)\n" + (message.isEmpty ? "" : message + "\n"), status: status)
    for field in headers.fields { response.headers.append(field.name, field.value) }
    return response
  }
}
