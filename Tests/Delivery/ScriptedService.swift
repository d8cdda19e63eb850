import Delivery
import Foundation
import Providers
import Push
import Store
import Synchronization

/// A provider that answers as a test says.
final class ScriptedService: RouteFinder {
  /// What becomes of a device: nil keeps it until the next ``answer(_:)``, or until the push is cancelled.
  ///
  /// `attempt` is 1 for the first time that the device is sent to.
  typealias Script = @Sendable (_ member: AudienceMember, _ attempt: Int) -> SendResult?

  struct Sent: Sendable, Hashable {
    let push: Int64
    let device: Int64
    let seed: UInt64
    let at: Date
  }

  private struct Held {
    let push: RoutedPush
    let members: [AudienceMember]
    let report: @Sendable (SendReport) -> Void
  }

  private struct State {
    var script: Script = { _, _ in .outcome(.accepted) }
    var held: [Held] = []
    var sent: [Sent] = []
    var attempts: [Int64: Int] = [:]
    var mostHeld = 0
    var reconnects = 0
    var found = 0
    var provider = ProviderState.ready
    var health = ProviderHealth()
    var error: NoRoute?
  }

  private let credential: Int64
  private let clock: ManualClock
  private let state = Mutex(State())

  init(credential: Int64, clock: ManualClock) {
    self.credential = credential
    self.clock = clock
  }

  var sent: [Sent] { state.withLock { $0.sent } }
  /// Devices that anything was sent to, each time.
  var devices: [Int64] { sent.map(\.device) }
  var held: Int { state.withLock { $0.held.reduce(0) { $0 + $1.members.count } } }
  var mostHeld: Int { state.withLock { $0.mostHeld } }
  var reconnects: Int { state.withLock { $0.reconnects } }
  /// How many times a route was asked for.
  var found: Int { state.withLock { $0.found } }

  func stand(_ provider: ProviderState) { state.withLock { $0.provider = provider } }
  func stand(_ health: ProviderHealth) { state.withLock { $0.health = health } }
  func refuseRoutes(_ error: NoRoute?) { state.withLock { $0.error = error } }

  /// Answers like this from now on, and to what is held back.
  func answer(_ script: @escaping Script) {
    let held = state.withLock { state in
      state.script = script
      defer { state.held = [] }
      return state.held
    }
    for batch in held { take(batch) }
  }

  func route(
    app: Int64, environment: Push.Environment, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> any Route {
    let error = state.withLock { state in
      state.found += 1
      return state.error
    }
    if let error { throw error }
    return ScriptedRoute(credentialID: credential, service: self, report: report)
  }

  fileprivate func send(
    _ push: RoutedPush, _ members: [AudienceMember], _ report: @escaping @Sendable (SendReport) -> Void
  ) {
    let now = clock.now
    state.withLock { state in
      for member in members {
        state.sent.append(Sent(push: push.id, device: member.id, seed: push.seed, at: now))
        state.attempts[member.id, default: 0] += 1
      }
    }
    take(Held(push: push, members: members, report: report))
  }

  fileprivate func cancel(_ push: Int64) {
    let held = state.withLock { state in
      let mine = state.held.filter { $0.push.id == push }
      state.held.removeAll { $0.push.id == push }
      return mine
    }
    for batch in held {
      let word = OwnReason.cancelled.rawValue
      batch.report(SendReport(push: push, results: batch.members.map { ($0.id, .notSent(reason: word)) }))
    }
  }

  fileprivate func reconnect() { state.withLock { $0.reconnects += 1 } }
  fileprivate var health: ProviderHealth { state.withLock { $0.health } }
  fileprivate var provider: ProviderState { state.withLock { $0.provider } }

  private func take(_ batch: Held) {
    let results = state.withLock { state -> [(Int64, SendResult)] in
      var results: [(Int64, SendResult)] = []
      var rest: [AudienceMember] = []
      for member in batch.members {
        let result = state.script(member, state.attempts[member.id] ?? 0)
        if let result { results.append((member.id, result)) } else { rest.append(member) }
      }
      if !rest.isEmpty { state.held.append(Held(push: batch.push, members: rest, report: batch.report)) }
      state.mostHeld = max(state.mostHeld, state.held.reduce(0) { $0 + $1.members.count })
      return results
    }
    if !results.isEmpty {
      batch.report(SendReport(push: batch.push.id, results: results.map { (device: $0.0, result: $0.1) }))
    }
  }
}

private struct ScriptedRoute: Route {
  let credentialID: Int64
  let service: ScriptedService
  let report: @Sendable (SendReport) -> Void

  func send(_ push: RoutedPush, to members: [AudienceMember]) { service.send(push, members, report) }
  func cancel(push: Int64) { service.cancel(push) }
  func reconnect() { service.reconnect() }
  var state: ProviderState { service.provider }
  func health(at now: Date) -> ProviderHealth { service.health }
}
