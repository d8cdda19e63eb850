/// The outcome of one request.
package struct Answer: Sendable {
  package let batch: RequestBatch
  package let index: Int
  package let result: Result

  package var id: Int64 { batch.id(index) }
  /// Whether it is one of the first of its batch, whose answers are kept whole.
  package var isKept: Bool { index < batch.storage.keptAnswers }

  package enum Result: Sendable {
    case answered(status: Int, detail: Detail?)
    /// The peer has certainly not acted on it: safe to send again.
    case notProcessed
    /// No answer, and the peer may or may not have acted on it.
    case unknown(Cause)
  }

  package enum Cause: Sendable, Equatable {
    /// No answer came in time.
    case timeout
    /// The peer reset the stream.
    case reset(ErrorCode)
    /// The connection ended first.
    case connection(HTTP2Error)
    /// The answer was longer than ``ClientConfiguration/maximumAnswerBytes``.
    case tooLong
  }

  /// Fields and body of an answer, kept only where they are needed.
  package final class Detail: Sendable {
    /// All but `:status`.
    package let fields: HeaderList
    package let body: [UInt8]

    init(fields: HeaderList, body: [UInt8]) {
      self.fields = fields
      self.body = body
    }
  }
}
