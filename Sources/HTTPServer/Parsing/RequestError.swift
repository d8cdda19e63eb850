/// A request that the server does not read further. The connection is closed after the answer: where the
/// next request begins is not certain any more.
struct RequestError: HTTPResponseError, Equatable, CustomStringConvertible {
  let status: Status
  let message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  var description: String { "\(status): \(message)" }
}
