/// A request that is answered with an error status.
public struct HTTPError: HTTPResponseError, CustomStringConvertible {
  /// The status of the answer.
  public let status: Status
  /// A sentence for the person who sent the request; shown to strangers.
  public let message: String
  /// Fields that the answer must have.
  public let headers: Headers

  /// Creates an error; without a message the status' phrase must do.
  public init(_ status: Status, _ message: String = "", headers: Headers = Headers()) {
    self.status = status
    self.message = message
    self.headers = headers
  }

  /// As `404 Not Found: There is no device 7.`
  public var description: String { message.isEmpty ? "\(status)" : "\(status): \(message)" }
}
