import Logging
import SQLite
import Store

/// The store for a push under way: what it refuses for a reason that passes (a full disk, a disk that fails, another
/// program's lock) is tried again until it works.
///
/// An outcome that is dropped because it cannot be kept makes the device get the push once more at the next start, so
/// the push waits instead, with what it knows, and says so.
struct PatientStore: Sendable {
  let store: Store
  /// The push's public id is not known yet where it is read first: its row id.
  let push: Int64
  let log: Logger
  /// Waits between two attempts; throws when the process has no more time.
  let pause: @Sendable () async throws -> Void
  /// Hears why the push waits; nil: it goes on.
  let told: @Sendable (String?) -> Void

  /// A suspicion of damage that lasts for so many attempts is looked into. A disk that fails for a moment is well again
  /// by then, and is not read from end to end for it.
  private static let suspicion = 10

  /// As `Store.write`.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await insist { try await store.write(body) } }

  /// As `Store.read`.
  func read<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await insist { try await store.read(body) } }

  /// Does what reads or writes the store, again and again while that fails for a reason that passes.
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

  /// Says what a suspicion of damage comes to.
  private func lookForDamage() async {
    let words: String
    switch await store.pool.damage() {
    case .none: return
    case .unreadable(let reason): words = "The database cannot be read from disk: \(reason)"
    case .damaged(let faults):
      words = """
        The database is damaged: \(faults.joined(separator: "; ")). Stop the server, keep a copy of the file, then \
        restore a backup.
        """
    }
    log.error("push is waiting for the store", ["push": push, "error": words])
    told(words)
  }
}
