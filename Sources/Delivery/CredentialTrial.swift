import Foundation
import Logging
import OpenSSL
import Model
package import Providers
package import Store
import Synchronization

/// One request to a push service with a certificate or key that is not in use yet, to a device that does not exist:
/// who is taken for a sender hears that the device token is bad, everybody else that he is none.
package struct CredentialTrial: Sendable {
  /// Where and in which environment.
  package let credential: Credential
  /// The app's topic.
  package let topic: String
  /// What is tried.
  package let details: TrackedCertificate.Details
  /// Its private key. A secret.
  let material: [UInt8]

  /// Creates a trial.
  ///
  /// - Parameter bundleID: of the credential's app.
  package init(
    _ credential: Credential, bundleID: String, details: TrackedCertificate.Details, material: [UInt8]
  ) {
    self.credential = credential
    // A certificate for VoIP alone does not open the app's own topic.
    let isOwn = details.topics.isEmpty || details.topics.contains(bundleID)
    topic = isOwn ? bundleID : details.topics.first { $0.hasPrefix(bundleID + ".") } ?? bundleID
    self.details = details
    self.material = material
  }

  /// What the service thinks of it.
  package typealias Verdict = ProviderVerdict
}

extension CredentialRoutes {
  /// How long a trial may take.
  private static let trialTime: Duration = .seconds(15)

  /// Opens a connection of its own, sends one request and closes it; never longer than 15 seconds.
  package func attempt(_ trial: CredentialTrial) async -> CredentialTrial.Verdict {
    let (verdicts, hand) = AsyncStream.makeStream(
      of: CredentialTrial.Verdict.self, bufferingPolicy: .bufferingOldest(1))
    let provider: any Provider
    do {
      let maker = try maker(trial.credential.provider)
      provider = try maker.make(
        try account(trial.credential, trial.details, material: trial.material),
        tools(
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
    let timer = Task {
      do { try await Task.sleep(for: Self.trialTime) } catch { return }
      hand.yield(.undecided(reason: "no answer within 15 seconds"))
    }
    defer { timer.cancel() }
    return await verdicts.first { _ in true } ?? .undecided(reason: "no answer")
  }
}
