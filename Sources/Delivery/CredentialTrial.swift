import Foundation
import HTTP2
import Logging
import OpenSSL
import Providers
import Push
public import Store
import Synchronization

/// One request to a push service with a certificate or key that is not in use yet, to a device that does not exist:
/// who is taken for a sender hears that the device token is bad, everybody else that he is none.
public struct CredentialTrial: Sendable {
  /// Where and in which environment.
  public let credential: Credential
  /// The app's topic.
  public let topic: String
  /// What is tried.
  public let details: TrackedCertificate.Details
  /// Its private key. A secret.
  let material: [UInt8]

  /// Creates a trial.
  ///
  /// - Parameter bundleID: of the credential's app.
  public init(
    _ credential: Credential, bundleID: String, details: TrackedCertificate.Details, material: [UInt8]
  ) {
    self.credential = credential
    // A certificate for VoIP alone does not open the app's own topic.
    let isOwn = details.topics.isEmpty || details.topics.contains(bundleID)
    topic = isOwn ? bundleID : details.topics.first { $0.hasPrefix(bundleID + ".") } ?? bundleID
    self.details = details
    self.material = material
  }

  /// What the service thinks of it. The cases are words in JSON.
  public enum Verdict: Sendable, Hashable {
    /// It takes pushes of this sender; its answer was about the device.
    case taken(answer: String)
    /// It takes none.
    case refused(reason: String)
    /// Nobody can tell: out of reach, or busy.
    case undecided(reason: String)
  }

  /// Not stored for later, not seen by anybody, and for nobody.
  var request: APNsRequest {
    let type: PushType =
      topic.hasSuffix(".voip") ? .voip : topic.hasSuffix(".complication") ? .complication : .background
    return APNsRequest(
      headers: [
        ("apns-topic", topic), ("apns-push-type", type.rawValue), ("apns-priority", type == .voip ? "10" : "5"),
        ("apns-expiration", "0"),
      ], payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
  }

  /// All zeros: well-formed, and no device's.
  static let token = DeviceToken(bytes: [UInt8](repeating: 0, count: 32))

  /// What an answer says of the sender (docs/protocols.md §1.6); pure.
  static func verdict(_ result: SendResult) -> Verdict {
    switch result {
    case .outcome(.accepted): .taken(answer: "200")
    // The topic is the credential's business, the token the device's.
    case .outcome(.rejected(_, let reason, _)) where senderReasons.contains(reason): .refused(reason: reason)
    case .outcome(.rejected(403, let reason, _)): .refused(reason: reason)
    case .outcome(.rejected(let status, let reason, _)) where status == 400 || status == 410:
      .taken(answer: "\(status) \(reason)")
    case .outcome(.rejected(let status, let reason, _)): .undecided(reason: "\(status) \(reason)")
    case .outcome(.unknown(let reason)), .outcome(.skipped(let reason)): .undecided(reason: reason)
    case .retry(let cause): .undecided(reason: cause.reason)
    case .notSent(let reason): .undecided(reason: reason)
    }
  }

  private static let senderReasons: Set<String> = ["TopicDisallowed", "BadTopic", "MissingTopic"]
}

extension CredentialRoutes {
  /// How long a trial may take.
  private static let trialTime: Duration = .seconds(15)

  /// Opens a connection of its own, sends one request and closes it; never longer than 15 seconds.
  public func attempt(_ trial: CredentialTrial) async -> CredentialTrial.Verdict {
    let (verdicts, hand) = AsyncStream.makeStream(
      of: CredentialTrial.Verdict.self, bufferingPolicy: .bufferingOldest(1))
    let provider: APNsProvider
    do {
      provider = try APNsProvider(
        try Self.credentials(trial.details, material: trial.material), endpoint: try endpoint(trial.credential),
        loop: loop, resolver: resolver, configuration: connections, clock: clock,
        report: { report in
          for (_, result) in report.results { hand.yield(CredentialTrial.verdict(result)) }
        },
        stateChanged: { state in
          guard case .failing(let failure) = state else { return }
          hand.yield(
            failure.kind == .credential ? .refused(reason: failure.reason) : .undecided(reason: failure.reason))
        })
    } catch let error as NoRoute {
      return .undecided(reason: error.description)
    } catch {
      return .refused(reason: "\(error)")
    }
    defer { provider.stop() }
    var batch = APNsBatchBuilder(push: 0, request: trial.request, capacity: 1)
    batch.append(
      device: 0, token: CredentialTrial.token, id: APNsID(seed: UInt64.random(in: 0...UInt64.max), device: 0))
    provider.submit(batch.build())
    let timer = Task {
      do { try await Task.sleep(for: Self.trialTime) } catch { return }
      hand.yield(.undecided(reason: "no answer within 15 seconds"))
    }
    defer { timer.cancel() }
    return await verdicts.first { _ in true } ?? .undecided(reason: "no answer")
  }
}
