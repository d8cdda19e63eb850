import Logging
import SQLite
import Store

/// The store for an active push: retries operations that fail for a temporary reason (a full disk, a failing disk,
/// another program's lock) until they work.
///
/// If an outcome were dropped because it cannot be stored, the device would get the push again at the next start. So
/// the push waits with its results, and reports why.
struct PatientStore: Sendable {
  let store: Store
  /// The push's row ID; its public ID is not known before the first read.
  let push: Int64
  let log: Logger
  /// Waits between two attempts; throws when the process is out of time.
  let pause: @Sendable () async throws -> Void
  /// Receives why the push waits; nil once it continues.
  let told: @Sendable (String?) -> Void

  /// The attempt on which suspected damage is examined. A disk that fails only briefly has recovered by then and needs
  /// no full scan.
  private static let suspicion = 10

  /// Like `Store.write`.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await insist { try await store.write(body) } }

  /// Like `Store.read`.
  func read<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await insist { try await store.read(body) } }

  /// Runs an operation on the store, retrying while it fails for a temporary reason.
  func insist<Result>(_ body: () async throws -> Result) async throws -> Result {
    var attempts = 0
    while true {
      do {
        let result = try await body()
        if attempts > 0 {
          log.notice("store available again; push continues", ["push": push])
          told(nil)
        }
        return result
      } catch let error as SQLiteError where error.mayPass {
        attempts += 1
        if attempts == 1 {
          log.error("push is waiting for the store", ["push": push, "error": "\(error)"])
          told("The database is unavailable: \(error.cause)")
        }
        if error.suspectsDamage, attempts == Self.suspicion { await lookForDamage() }
        try await pause()
      }
    }
  }

  /// Checks the database for damage and reports what it finds.
  private func lookForDamage() async {
    guard let words = await store.pool.damage().text else { return }
    log.error("push is waiting for the store", ["push": push, "error": words])
    told(words)
  }
}
