import HTTPServer
import Reactor

/// More passwords wait to be checked than a person would wait for.
struct PasswordsBusy: Error {
  /// Seconds after which it is worth another try.
  static let pause = 5
}

extension PageContext {
  /// So much may wait from browsers that nobody has signed in with before. Each takes half a second on one of two threads.
  private static let strangersLimit = 8
  /// So much in all: strangers cannot take every place in the queue.
  private static let limit = 16

  /// Hashes or checks a password, off the event loop. The work of a client that hangs up before its turn is not done.
  ///
  /// - Parameter isKnown: whether it is for somebody who is signed in, or whose browser is known.
  /// - Throws: ``PasswordsBusy``; what `body` throws.
  func hashing<Value: Sendable>(
    isKnown: Bool, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    do {
      return try await console.pools.hashes.run(waiting: isKnown ? Self.limit : Self.strangersLimit, body)
    } catch is BlockingPoolFull {
      throw PasswordsBusy()
    } catch is CancellationError {
      // Nobody reads it; it keeps a client that has gone from looking like a failure of ours.
      throw HTTPError(499, "The client disconnected.")
    }
  }
}
