/// A request that the server does not read further. The connection is closed after the answer: where the
/// next request begins is not certain any more.
struct RequestError: HTTPResponseError, Equatable, CustomStringConvertible {
  let status: Status
  let message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  /// Who is turned away because the server is full may come again soon.
  var headers: Headers { status == .serviceUnavailable ? ["Retry-After": ServerWarning.retryAfter] : Headers() }

  var description: String { "\(status): \(message)" }
}
