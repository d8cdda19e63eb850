import Logging
import SQLite
import Store

/// The store for a push under way: what it refuses for a reason that passes (a full disk, another program's lock) is
/// tried again until it works.
///
/// An outcome that is dropped because it cannot be kept makes the device get the push once more at the next start, so
/// the push waits instead, with what it knows.
struct PatientStore: Sendable {
  let store: Store
  /// The push's public id is not known yet where it is read first: its row id.
  let push: Int64
  let log: Logger
  /// Waits between two attempts; throws when the process has no more time.
  let pause: @Sendable () async throws -> Void

  /// As `Store.write`.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await insist { try await store.write(body) } }

  /// As `Store.read`.
  func read<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await insist { try await store.read(body) } }

  private func insist<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
    var isTold = false
    while true {
      do {
        let result = try await body()
        if isTold { log.notice("the store works again; the push goes on", ["push": push]) }
        return result
      } catch let error as SQLiteError where error.mayPass {
        if !isTold { log.error("the push waits for the store", ["push": push, "error": "\(error)"]) }
        isTold = true
        try await pause()
      }
    }
  }
}
