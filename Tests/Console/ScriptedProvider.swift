import Delivery
import Foundation
import Providers
import Push
import Store
import Synchronization

/// Routes for every credential of a store, whose provider answers as a test says: at first it takes everything.
final class ScriptedProvider: RouteFinder {
  /// What becomes of a device; nil: nothing yet, until the next ``answer(_:)`` or the push is cancelled.
  typealias Script = @Sendable (AudienceMember) -> SendResult?

  private struct Held {
    let push: Int64
    let members: [AudienceMember]
    let report: @Sendable (SendReport) -> Void
  }

  private struct State {
    var script: Script = { _ in .outcome(.accepted) }
    var held: [Held] = []
    var sent: [Int64] = []
    var verdict = CredentialTrial.Verdict.taken(answer: "400 BadDeviceToken")
    var tried: [String] = []
    var refreshed = 0
    var health: ProviderHealth?
  }

  private let store: Store
  private let state = Mutex(State())

  init(store: Store) { self.store = store }

  /// The ids of the devices that anything was sent to, in order.
  var sent: [Int64] { state.withLock { $0.sent } }

  /// Answers trials like this from now on.
  func answerTrials(_ verdict: CredentialTrial.Verdict) { state.withLock { $0.verdict = verdict } }

  /// The topics and environments that something was tried for.
  var tried: [String] { state.withLock { $0.tried } }

  /// How often it was told that credentials were changed.
  var refreshed: Int { state.withLock { $0.refreshed } }

  func attempt(_ trial: CredentialTrial) async -> CredentialTrial.Verdict {
    state.withLock { state in
      state.tried.append("\(trial.topic) \(trial.credential.environment.rawValue)")
      return state.verdict
    }
  }

  func refresh() async throws { state.withLock { $0.refreshed += 1 } }

  /// How many devices wait for an answer.
  var waiting: Int { state.withLock { $0.held.reduce(0) { $0 + $1.members.count } } }

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
    let found = try await store.read {
      try Credential.find($0, app: app, provider: .apns, environment: environment)
    }
    guard let found else { throw NoRoute("The app has no key or certificate for \(environment.rawValue).") }
    return ScriptedRoute(credentialID: found.id, provider: self, report: report)
  }

  fileprivate func send(
    _ push: Int64, _ members: [AudienceMember], _ report: @escaping @Sendable (SendReport) -> Void
  ) {
    state.withLock { $0.sent += members.map(\.id) }
    take(Held(push: push, members: members, report: report))
  }

  /// What the provider holds back.
  func stand(_ health: ProviderHealth?) { state.withLock { $0.health = health } }

  func health(credential: Int64, at now: Date) -> ProviderHealth? { state.withLock { $0.health } }

  fileprivate func cancel(_ push: Int64) {
    let held = state.withLock { state in
      let mine = state.held.filter { $0.push == push }
      state.held.removeAll { $0.push == push }
      return mine
    }
    for batch in held {
      let word = OwnReason.cancelled.rawValue
      batch.report(SendReport(push: push, results: batch.members.map { ($0.id, .notSent(reason: word)) }))
    }
  }

  private func take(_ batch: Held) {
    let results = state.withLock { state -> [(Int64, SendResult)] in
      var results: [(Int64, SendResult)] = []
      var rest: [AudienceMember] = []
      for member in batch.members {
        if let result = state.script(member) { results.append((member.id, result)) } else { rest.append(member) }
      }
      if !rest.isEmpty { state.held.append(Held(push: batch.push, members: rest, report: batch.report)) }
      return results
    }
    if !results.isEmpty {
      batch.report(SendReport(push: batch.push, results: results.map { (device: $0.0, result: $0.1) }))
    }
  }
}

private struct ScriptedRoute: Route {
  let credentialID: Int64
  let provider: ScriptedProvider
  let report: @Sendable (SendReport) -> Void

  func send(_ push: RoutedPush, to members: [AudienceMember]) { provider.send(push.id, members, report) }

  func cancel(push: Int64) { provider.cancel(push) }
}
