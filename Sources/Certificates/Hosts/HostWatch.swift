package import Foundation
package import Reactor
package import Store

/// Checks watched hosts and stores the results.
package struct HostWatch: Sendable {
  /// Checks one host, without a time limit of its own. Throws if the check did not take place.
  package typealias Look = @Sendable (HostAddress) async throws -> HostOutcome

  /// Hosts checked at the same time.
  static let width = 8

  private let store: Store
  private let look: Look
  private let clock: @Sendable () -> Date

  package init(_ store: Store, clock: @escaping @Sendable () -> Date, look: @escaping Look) {
    (self.store, self.clock, self.look) = (store, clock, look)
  }

  /// Checks with a ``HostProbe`` on threads that may block. Throws `CancellationError` if the pool was stopped.
  package static func look(_ probe: HostProbe, on pool: BlockingPool) -> Look {
    { address in try await pool.run { probe.look(at: address) } }
  }

  /// - Throws: `StoreError.notFound`; the error of a check that did not take place, which is not recorded.
  @discardableResult
  package func look(at id: Int64) async throws -> WatchedHost {
    let host = try await store.read { try WatchedHost.get($0, id: id) }
    try await note([(host, try await look(host.address))])
    return try await store.read { try WatchedHost.get($0, id: id) }
  }

  /// Checks the hosts that `choose` picks, several at a time.
  ///
  /// - Returns: the number of checked hosts.
  @discardableResult
  package func look(at choose: @Sendable ([WatchedHost], Date) -> [WatchedHost]) async throws -> Int {
    // Asked again after a commit only; the clock alone makes hosts due.
    let all: [WatchedHost] = try await store.read(keptAs: "watched hosts", bytes: { $0.count * 1000 }) {
      try WatchedHost.all($0)
    }
    let hosts = choose(all, clock())
    guard !hosts.isEmpty else { return 0 }
    try await withThrowingTaskGroup(of: (WatchedHost, HostOutcome).self) { group in
      var waiting = hosts.makeIterator()
      let look = look
      func start() {
        guard !Task.isCancelled, let host = waiting.next() else { return }
        group.addTask { (host, try await look(host.address)) }
      }
      for _ in 0..<Self.width { start() }
      for try await result in group {
        try await note([result])
        start()
      }
    }
    return hosts.count
  }

  /// Checks each host when it is due, until the task is cancelled.
  ///
  /// - Parameters:
  ///   - pause: waits before hosts are chosen again.
  ///   - report: receives errors; the watch continues.
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

/// When hosts are checked.
package enum HostSchedule {
  /// Seconds between two checks.
  package static let interval: TimeInterval = 6 * 3600
  /// Seconds between checks of a failing host, so that a repair shows soon.
  package static let retryInterval: TimeInterval = 3600

  /// The next check: the interval plus or minus up to 10 %, so that hosts added together spread out. Deterministic for
  /// the same host and time.
  package static func next(_ host: WatchedHost) -> Date {
    guard let probedAt = host.probedAt else { return host.createdAt }
    let base = host.failure == nil ? interval : retryInterval
    var mixed = UInt64(bitPattern: host.id) &+ UInt64(bitPattern: Int64(probedAt.timeIntervalSince1970))
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    let share = Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
    return probedAt.addingTimeInterval(base * (0.9 + 0.2 * share))
  }

  /// Hosts that are due, the longest waiting first. A clock that was set back does not delay them.
  package static func due(_ hosts: [WatchedHost], now: Date) -> [WatchedHost] {
    hosts.filter { next($0) <= now || ($0.probedAt ?? now) > now.addingTimeInterval(60) }
      .sorted { ($0.probedAt ?? .distantPast, $0.id) < ($1.probedAt ?? .distantPast, $1.id) }
  }

  package static func olderThan(_ age: TimeInterval, _ hosts: [WatchedHost], now: Date) -> [WatchedHost] {
    hosts.filter { host in host.probedAt.map { abs(now.timeIntervalSince($0)) > age } ?? true }
  }
}
