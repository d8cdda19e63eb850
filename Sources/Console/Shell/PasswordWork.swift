import HTTPServer
import Reactor

/// Too many password checks are waiting.
struct PasswordsBusy: Error {
  /// Seconds until a retry makes sense.
  static let pause = 5
}

extension PageContext {
  /// Queued checks of unknown browsers. Each takes half a second on one of two threads.
  private static let strangersLimit = 8
  /// Queued checks in all: unknown browsers cannot fill the queue.
  private static let limit = 16

  /// Hashes or checks a password on a blocking thread. Skipped if the client disconnects before its turn.
  ///
  /// - Parameter isKnown: whether the person is signed in or the browser is known.
  /// - Throws: ``PasswordsBusy``; errors of `body`.
  func hashing<Value: Sendable>(
    isKnown: Bool, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    do {
      return try await console.pools.hashes.run(waiting: isKnown ? Self.limit : Self.strangersLimit, body)
    } catch is BlockingPoolFull {
      throw PasswordsBusy()
    } catch is CancellationError {
      // Nobody receives this answer; it keeps the disconnect from being logged as an internal error.
      throw HTTPError(499, "The client disconnected.")
    }
  }
}
