package import Certificates
package import Model
package import Providers
import Store

extension CredentialRoutes {
  private static let trialTime: Duration = .seconds(15)

  /// Opens a separate connection, sends one request and closes the connection. Takes at most 15 seconds.
  package func attempt(_ trial: CredentialTrial) async -> ProviderVerdict {
    let (verdicts, hand) = AsyncStream.makeStream(of: ProviderVerdict.self, bufferingPolicy: .bufferingOldest(1))
    let provider: any Provider
    do {
      let maker = try maker(trial.credential.provider)
      provider = try maker.make(
        try account(trial.credential, trial.details, material: trial.material),
        try tools(
          trial.credential,
          report: { report in
            for (_, result) in report.results { hand.yield(maker.verdict(result)) }
          },
          stateChanged: { state in
            guard case .failing(let failure) = state else { return }
            hand.yield(
              failure.kind == .credential ? .refused(reason: failure.reason) : .undecided(reason: failure.reason))
          }))
    } catch let error as NoRoute {
      return .undecided(reason: error.description)
    } catch let error as ProviderProblem {
      return .undecided(reason: error.description)
    } catch {
      return .refused(reason: "\(error)")
    }
    defer { provider.stop() }
    provider.probe(topic: trial.topic)
    // Cancelled below.
    let timer = Task {
      do { try await Task.sleep(for: Self.trialTime) } catch { return }
      hand.yield(.undecided(reason: "no answer within 15 seconds"))
    }
    defer { timer.cancel() }
    return await verdicts.first { _ in true } ?? .undecided(reason: "no answer")
  }

  /// Uses a connection of its own; see ``RouteFinder``.
  package func validate(
    _ push: ProviderPush, _ devices: [ProviderDevice], app: Int64, environment: Environment, provider kind: ProviderKind
  ) async throws -> SendResult? {
    let credential = try await credential(kind, app: app, environment)
    let (results, hand) = AsyncStream.makeStream(of: SendResult.self)
    let provider = try maker(kind).make(
      try await account(credential),
      try tools(
        credential, report: { report in for (_, result) in report.results { hand.yield(result) } },
        stateChanged: { state in
          guard case .failing(let failure) = state else { return }
          hand.yield(.notSent(reason: failure.reason))
        }))
    defer { provider.stop() }
    let requests = provider.validate(push, devices)
    guard requests > 0 else { return nil }
    // Cancelled below.
    let timer = Task {
      do { try await Task.sleep(for: Self.trialTime) } catch { return }
      hand.yield(.notSent(reason: OwnReason.timedOut.rawValue))
    }
    defer { timer.cancel() }
    var accepted = 0
    for await result in results {
      guard case .outcome(.accepted) = result else { return result }
      accepted += 1
      if accepted == requests { return result }
    }
    return nil
  }
}
