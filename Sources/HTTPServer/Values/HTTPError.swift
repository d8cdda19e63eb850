/// A request that is answered with an error status.
package struct HTTPError: HTTPResponseError, CustomStringConvertible {
  /// The status of the answer.
  package let status: Status
  /// A sentence for the person who sent the request; shown to strangers.
  package let message: String
  /// Fields that the answer must have.
  package let headers: Headers

  /// Creates an error; without a message the status' phrase must do.
  package init(_ status: Status, _ message: String = "", headers: Headers = Headers()) {
    self.status = status
    self.message = message
    self.headers = headers
  }

  /// As `404 Not Found: There is no device 7.`
  package var description: String { message.isEmpty ? "\(status)" : "\(status): \(message)" }
}
