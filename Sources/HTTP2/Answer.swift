/// What became of one request.
package struct Answer: Sendable {
  /// The batch that the request came in.
  package let batch: RequestBatch
  /// Its place in the batch.
  package let index: Int
  /// What became of it.
  package let result: Result

  /// The id that the request was given.
  package var id: Int64 { batch.id(index) }

  /// The kinds of endings.
  package enum Result: Sendable {
    /// The peer answered.
    case answered(status: Int, detail: Detail?)
    /// The peer has certainly not acted on it: safe to send again.
    case notProcessed
    /// No answer, and the peer may or may not have acted on it.
    case unknown(Cause)
  }

  /// Why there is no answer.
  package enum Cause: Sendable, Equatable {
    /// None came in time.
    case timeout
    /// The peer ended the stream without one.
    case reset(ErrorCode)
    /// The connection ended first.
    case connection(HTTP2Error)
    /// The answer was longer than we take.
    case tooLong
  }

  /// Fields and body of an answer, where they are kept.
  package final class Detail: Sendable {
    /// All but `:status`.
    package let fields: HeaderList
    /// The whole body.
    package let body: [UInt8]

    init(fields: HeaderList, body: [UInt8]) {
      self.fields = fields
      self.body = body
    }
  }
}
