/// An error that knows how it is answered. Thrown by a handler or a middleware it becomes that status;
/// every other error becomes 500 without its words.
package protocol HTTPResponseError: Error {
  /// The status of the answer.
  var status: Status { get }
  /// Fields that the answer must have, as `Allow` or `Retry-After`.
  var headers: Headers { get }
  /// A sentence for the person who sent the request; shown to strangers.
  var message: String { get }
}

extension HTTPResponseError {
  /// None.
  package var headers: Headers { Headers() }
}
