import Delivery
import Foundation
import Providers
import Push
import Store
import Synchronization
import TestSupport

/// Routes for every credential of a store, whose provider answers as a test says: at first it takes everything.
final class ScriptedProvider: RouteFinder {
  /// What becomes of a device; nil: nothing yet, until the next ``answer(_:)`` or the push is cancelled.
  typealias Script = @Sendable (AudienceMember) -> SendResult?

  private struct State {
    var sent: [Int64] = []
    var verdict = CredentialTrial.Verdict.taken(answer: "400 BadDeviceToken")
    var tried: [String] = []
    var refreshed = 0
    var health: ProviderHealth?
  }

  private let store: Store
  private let state = Mutex(State())
  private let answers = ScriptedAnswers<AudienceMember, SendResult> { _ in .outcome(.accepted) }

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
  var waiting: Int { answers.held }

  /// Answers like this from now on, and to what is held back.
  func answer(_ script: @escaping Script) { answers.answer(script) }

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
    answers.take(
      .init(push: push, members) { results in
        report(SendReport(push: push, results: results.map { (device: $0.id, result: $1) }))
      })
  }

  /// What the provider holds back.
  func stand(_ health: ProviderHealth?) { state.withLock { $0.health = health } }

  func health(credential: Int64, at now: Date) -> ProviderHealth? { state.withLock { $0.health } }

  fileprivate func cancel(_ push: Int64) {
    answers.cancel(push, with: .notSent(reason: OwnReason.cancelled.rawValue))
  }
}

private struct ScriptedRoute: Route {
  let credentialID: Int64
  let provider: ScriptedProvider
  let report: @Sendable (SendReport) -> Void

  func send(_ push: RoutedPush, to members: [AudienceMember]) { provider.send(push.id, members, report) }

  func cancel(push: Int64) { provider.cancel(push) }
}
