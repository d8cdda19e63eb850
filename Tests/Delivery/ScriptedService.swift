import Delivery
import Foundation
import Providers
import Model
import Store
import Synchronization
import TestSupport

/// A provider that answers as a test says.
final class ScriptedService: RouteFinder {
  /// What becomes of a device: nil keeps it until the next ``answer(_:)``, or until the push is cancelled.
  ///
  /// `attempt` is 1 for the first time that the device is sent to.
  typealias Script = @Sendable (_ member: ProviderDevice, _ attempt: Int) -> SendResult?

  struct Sent: Sendable, Hashable {
    let push: Int64
    let device: Int64
    let seed: UInt64
    let at: Date
  }

  private struct State {
    var sent: [Sent] = []
    var attempts: [Int64: Int] = [:]
    var firsts: [Date] = []
    var reconnects = 0
    var found = 0
    var provider = ProviderState.ready
    var health = ProviderHealth()
    var error: NoRoute?
  }

  private let credential: Int64
  private let clock: ManualClock
  private let state = Mutex(State())
  private let answers = ScriptedAnswers<ProviderDevice, SendResult> { _ in .outcome(.accepted) }

  init(credential: Int64, clock: ManualClock) {
    self.credential = credential
    self.clock = clock
  }

  var sent: [Sent] { state.withLock { $0.sent } }
  /// Devices that anything was sent to, each time.
  var devices: [Int64] { sent.map(\.device) }
  /// When each of them was first handed over, each time.
  var firsts: [Date] { state.withLock { $0.firsts } }
  var held: Int { answers.held }
  var mostHeld: Int { answers.mostHeld }
  var reconnects: Int { state.withLock { $0.reconnects } }
  /// How many times a route was asked for.
  var found: Int { state.withLock { $0.found } }

  func stand(_ provider: ProviderState) { state.withLock { $0.provider = provider } }
  func stand(_ health: ProviderHealth) { state.withLock { $0.health = health } }
  func refuseRoutes(_ error: NoRoute?) { state.withLock { $0.error = error } }

  /// Answers like this from now on, and to what is held back.
  func answer(_ script: @escaping Script) {
    // Weak: the answers belong to this very service.
    answers.answer { [weak self] member in script(member, self?.state.withLock { $0.attempts[member.id] } ?? 0) }
  }

  func route(
    app: Int64, environment: Model.Environment, provider: ProviderKind, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route {
    let error = state.withLock { state in
      state.found += 1
      return state.error
    }
    if let error { throw error }
    let provider = ProviderClosure(
      send: { push, devices in self.send(push, devices, report) }, cancel: { self.cancel($0) },
      reconnect: { self.state.withLock { $0.reconnects += 1 } },
      standing: { self.state.withLock { ($0.provider, $0.health) } })
    return Route(credentialID: credential, provider: provider)
  }

  private func send(
    _ push: ProviderPush, _ members: [ProviderDevice], _ report: @escaping @Sendable (SendReport) -> Void
  ) {
    let now = clock.now
    state.withLock { state in
      for member in members {
        state.sent.append(Sent(push: push.id, device: member.id, seed: push.seed, at: now))
        state.attempts[member.id, default: 0] += 1
        if let first = member.firstAt { state.firsts.append(first) }
      }
    }
    answers.take(
      .init(push: push.id, members) { results in
        report(SendReport(push: push.id, results: results.map { (device: $0.id, result: $1) }))
      })
  }

  private func cancel(_ push: Int64) {
    answers.cancel(push, with: .notSent(reason: OwnReason.cancelled.rawValue))
  }
}
