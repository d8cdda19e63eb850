package import Foundation
package import Reactor
package import Store

/// Looks at watched hosts and keeps what is seen.
package struct HostWatch: Sendable {
  /// Looks at one host; takes as long as it takes.
  package typealias Look = @Sendable (HostAddress) async -> HostOutcome

  /// So many are looked at at a time.
  static let width = 8

  private let store: Store
  private let look: Look
  private let clock: @Sendable () -> Date

  /// Watches over a store.
  package init(_ store: Store, clock: @escaping @Sendable () -> Date, look: @escaping Look) {
    self.store = store
    self.clock = clock
    self.look = look
  }

  /// The usual way to look: with a ``HostProbe``, on threads that may wait.
  package static func look(_ probe: HostProbe, on pool: BlockingPool) -> Look {
    { address in
      do {
        return try await pool.run { probe.look(at: address) }
      } catch { return .failure(HostFailure(.unreachable, detail: "the program is stopping")) }
    }
  }

  /// Looks at one host now.
  ///
  /// - Throws: `StoreError.notFound`.
  @discardableResult
  package func look(at id: Int64) async throws -> WatchedHost {
    let host = try await store.read { try WatchedHost.get($0, id: id) }
    try await note([(host, await look(host.address))])
    return try await store.read { try WatchedHost.get($0, id: id) }
  }

  /// Looks at those that `choose` picks, several at a time.
  ///
  /// - Returns: at how many.
  @discardableResult
  package func look(at choose: @Sendable ([WatchedHost], Date) -> [WatchedHost]) async throws -> Int {
    let hosts = choose(try await store.read { try WatchedHost.all($0) }, clock())
    guard !hosts.isEmpty else { return 0 }
    try await withThrowingTaskGroup(of: (WatchedHost, HostOutcome).self) { group in
      var waiting = hosts.makeIterator()
      let look = look
      func start() {
        guard let host = waiting.next() else { return }
        group.addTask { (host, await look(host.address)) }
      }
      for _ in 0..<Self.width { start() }
      for try await result in group {
        try await note([result])
        start()
      }
    }
    return hosts.count
  }

  /// Looks at each host when its time has come, until the task is cancelled.
  ///
  /// - Parameters:
  ///   - pause: waits before it is looked again who is due.
  ///   - report: is told what went wrong; the watch goes on.
  package func run(
    pause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(30)) },
    report: @Sendable (any Error) -> Void
  ) async {
    while !Task.isCancelled {
      do {
        try await look(at: HostSchedule.due)
      } catch { if !Task.isCancelled { report(error) } }
      do { try await pause() } catch { return }
    }
  }

  private func note(_ results: [(WatchedHost, HostOutcome)]) async throws {
    let now = clock()
    try await store.write { database in
      for (host, outcome) in results {
        try WatchedHost.note(database, id: host.id, at: host.address, outcome, now: now)
      }
    }
  }
}
