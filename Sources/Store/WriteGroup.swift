package import SQLite
internal import Synchronization

/// Writes what many callers bring at the same time in one transaction: each commit waits for the disk, so a hundred small
/// ones would cost a hundred times as much and hold up other writers.
package final class WriteGroup<Input: Sendable, Output: Sendable>: Sendable {
  package typealias Write = @Sendable (Database, [Input]) throws -> [Output]

  private struct Waiting: Sendable {
    let input: Input
    let continuation: CheckedContinuation<Output, any Error>
  }

  private struct State {
    var waiting: [Waiting] = []
    var isRunning = false
  }

  private let store: Store
  private let most: Int
  private let pause: Duration
  private let body: Write
  private let state = Mutex(State())

  /// - Parameters:
  ///   - most: inputs of one transaction.
  ///   - pause: before each transaction, to collect more.
  ///   - write: returns an output for each input, in order. If it throws, nothing is written, and all callers get its
  ///     error.
  package init(_ store: Store, most: Int, pause: Duration = .zero, write: @escaping Write) {
    (self.store, self.most, self.pause, body) = (store, most, pause, write)
  }

  /// Returns once the input is committed.
  ///
  /// - Throws: the store's error; ``WriteGroupFull``.
  package func write(_ input: Input) async throws -> Output {
    try await withCheckedThrowingContinuation { continuation in
      let (isTaken, starts) = state.withLock { state -> (Bool, Bool) in
        guard state.waiting.count < 100 * most else { return (false, false) }
        state.waiting.append(Waiting(input: input, continuation: continuation))
        defer { state.isRunning = true }
        return (true, !state.isRunning)
      }
      guard isTaken else { return continuation.resume(throwing: WriteGroupFull()) }
      // Ends when nobody waits; each of those who wait hears of an error.
      if starts { Task { await run() } }
    }
  }

  /// Writes until nobody waits.
  private func run() async {
    while true {
      // A cancelled sleep ends at once, which only makes the transaction smaller.
      if pause > .zero { try? await Task.sleep(for: pause) }
      let batch = state.withLock { state -> [Waiting] in
        let batch = Array(state.waiting.prefix(most))
        state.waiting.removeFirst(batch.count)
        state.isRunning = !batch.isEmpty
        return batch
      }
      if batch.isEmpty { return }
      let (inputs, body) = (batch.map(\.input), body)
      do {
        let outputs = try await store.write { try body($0, inputs) }
        for (waiting, output) in zip(batch, outputs) { waiting.continuation.resume(returning: output) }
      } catch {
        for waiting in batch { waiting.continuation.resume(throwing: error) }
      }
    }
  }
}

/// So many callers wait that a further one would wait too long.
package struct WriteGroupFull: Error, Sendable, Hashable {}
