package import Foundation
import Synchronization

/// The answers to calls of the control API that carried an `Idempotency-Key`, in memory as the phones are. A call whose
/// answer was lost may come twice, and takes effect once.
package final class AnsweredCalls: Sendable {
  package struct Answer: Sendable, Hashable {
    package let status: Int
    package let body: [UInt8]
    package let location: String?

    package init(status: Int, body: [UInt8], location: String?) {
      (self.status, self.body, self.location) = (status, body, location)
    }
  }

  /// The same key was used for another request.
  package struct Mismatch: Error, Hashable {}

  private struct Known {
    let content: [UInt8]
    let answer: Answer
    let at: Date
  }

  /// Seconds.
  private static let lifetime: TimeInterval = 86_400
  /// Of more than these, the oldest are forgotten.
  private static let limit = 10_000

  private let known = Mutex<[String: Known]>([:])

  /// Answers from memory, or carries the call out and keeps its answer.
  ///
  /// - Parameters:
  ///   - key: with whose it is.
  ///   - content: what makes two calls the same.
  package func answer(
    _ key: String, content: [UInt8], now: Date, _ body: () throws -> Answer
  ) throws -> Answer {
    try known.withLock { known in
      if let first = known[key], now.timeIntervalSince(first.at) < Self.lifetime {
        guard first.content == content else { throw Mismatch() }
        return first.answer
      }
      let answer = try body()
      known[key] = Known(content: content, answer: answer, at: now)
      if known.count > Self.limit {
        let oldest = known.sorted { $0.value.at < $1.value.at }.prefix(Self.limit / 10)
        for (key, _) in oldest { known[key] = nil }
      }
      return answer
    }
  }
}
