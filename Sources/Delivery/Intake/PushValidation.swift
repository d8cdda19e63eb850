import Foundation
package import JSON
package import Model
import Providers
import SQLite
import Store

/// What a push service says of a push that it is asked to check, not to send: JPush by `/v3/push/validate`, FCM by
/// `validate_only` (docs/protocols.md §3.1, §4.2). APNs has no such call.
package struct PushValidation: Sendable, Hashable {
  package enum Answer: String, Sendable, CaseIterable {
    case accepted, refused
    /// The service could not be asked, or has no time for it.
    case undecided
  }

  package let provider: ProviderKind
  /// The devices that it was asked about; 0 for a topic.
  package let devices: Int
  package let answer: Answer
  /// Nil for an acceptance.
  package let reason: Reason?

  /// Services that can be asked, and how many devices one question names.
  private static let services: [(kind: ProviderKind, devices: Int)] = [(.fcm, 1), (.jpush, JPushMessage.deviceLimit)]

  static func find(
    _ check: PushCheck, _ store: Store, _ routes: any RouteFinder, now: Date
  ) async throws -> [PushValidation] {
    let draft = check.draft
    let push = ProviderPush(
      id: 0, uid: NewPush.sampleID, signature: NewPush.sampleSignature, seed: 0, draft: draft, sentAt: now)
    var found: [PushValidation] = []
    for (kind, limit) in services {
      var query = AudienceQuery(app: check.app.id, draft)
      query.provider = kind
      let devices = try await store.read { [query] database in
        try query.page(database, after: 0, limit: limit).map {
          ProviderDevice(id: $0.id, token: $0.token, platform: $0.platform)
        }
      }
      let isTopic = kind == .fcm && draft.audience.topicTarget != nil
      guard isTopic || draft.audience.subscribers == nil && !devices.isEmpty else { continue }
      let (answer, reason): (Answer, String?)
      do {
        let result = try await routes.validate(
          push, isTopic ? [] : devices, app: check.app.id, environment: draft.environment, provider: kind)
        guard let result else { continue }
        (answer, reason) = Self.answer(result)
      } catch let problem where !(problem is SQLiteError || problem is CancellationError) {
        // The reason that the devices would get (`PushRunner`): for instance, trusted certificates cannot be read.
        (answer, reason) = (.undecided, ((problem as? NoRoute)?.reason ?? .credentialUnusable).rawValue)
      }
      found.append(
        PushValidation(
          provider: kind, devices: isTopic ? 0 : devices.count, answer: answer, reason: reason.map(Reason.of)))
    }
    return found
  }

  private static func answer(_ result: SendResult) -> (Answer, String?) {
    switch result {
    case .outcome(.accepted): (.accepted, nil)
    case .outcome(.rejected(_, let reason, _)): (.refused, reason)
    case .outcome(.unknown(let reason)), .outcome(.skipped(let reason)), .notSent(let reason): (.undecided, reason)
    case .retry(let cause): (.undecided, cause.reason)
    }
  }
}

extension PushValidation: JSONObject {
  /// The schema `ServiceAnswer`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("provider", provider.rawValue)
    json.member("devices", devices)
    json.member("answer", answer.rawValue)
    guard let reason else { return }
    json.member("reason", reason.code)
    json.member("cause", reason.cause)
    json.member("remedy", reason.remedy)
  }
}
