/// An error that knows how it is answered. Thrown by a handler or a middleware it becomes that status;
/// every other error becomes 500 without its words.
public protocol HTTPResponseError: Error {
  /// The status of the answer.
  var status: Status { get }
  /// Fields that the answer must have, as `Allow` or `Retry-After`.
  var headers: Headers { get }
  /// A sentence for the person who sent the request; shown to strangers.
  var message: String { get }
}

extension HTTPResponseError {
  /// None.
  public var headers: Headers { Headers() }
}

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

/// The connection ended while a body was read or an answer written: nobody is left to answer.
public struct ClientGone: Error, Equatable, CustomStringConvertible {
  /// One sentence.
  public var description: String { "The client closed the connection before the exchange was over." }

  init() {}
}
