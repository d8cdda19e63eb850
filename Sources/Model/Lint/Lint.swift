package import Foundation
import JSON

/// Checks a draft for common mistakes: what is wrong, why, and the fix.
package enum Lint {
  package enum Severity: String, Sendable, CaseIterable, Comparable {
    /// The provider would refuse it, or it makes no sense: must not be sent.
    case error
    /// Probably not intended.
    case warning
    case hint

    package static func < (one: Severity, other: Severity) -> Bool { one.rank < other.rank }

    private var rank: Int { self == .error ? 0 : self == .warning ? 1 : 2 }
  }

  /// One thing found.
  package struct Finding: Sendable, Hashable {
    package let severity: Severity
    /// The field, the code, and the sentence with its arguments.
    package let problem: Problem
    /// The corrected draft, if the fix is unambiguous.
    package let fix: PushDraft?
    package init(severity: Severity, problem: Problem, fix: PushDraft? = nil) {
      (self.severity, self.problem, self.fix) = (severity, problem, fix)
    }
  }

  /// What is known besides the draft.
  package struct Context: Sendable {
    package var aliasRule = AliasRule.none
    /// The app's name on Android; nil: not known.
    package var packageName: String?
    /// The present time; nil: skips checks that depend on it.
    package var now: Date?
    /// The push's public ID, or another of its length: it counts towards the payload's size.
    package var uid: String?
    /// The push's signature, or another of its length; nil: as long as the ID.
    package var signature: String?
    /// The limits of the app's key or certificate for the draft's environment; nil: unknown.
    package var credential: CredentialScope?
    /// The services that the app has a credential for. Without FCM, drafts for every platform are not checked for it.
    package var services: Set<ProviderKind>
    /// The services that refused the app's credential at its last use, with their reasons.
    package var refusals: [ProviderKind: String] = [:]
    /// Tags of the draft that no device of the app has, each with the most similar one that a device has.
    package var missingTags: [String: String?] = [:]
    /// Segments of the draft that the app does not have, each with the most similar one that it has.
    package var missingSegments: [String: String?] = [:]
    /// Aliases of the draft that no device of the app has, likewise.
    package var missingAliases: [String: String?] = [:]
    /// The draft's broadcast channel; nil: it has none, or nobody looked.
    package var channel: KnownChannel?
    /// The platforms of the audience that JPush reaches. The draft is checked for JPush on these only.
    package var jpush: Set<Platform>
    /// The platforms of the audience that FCM reaches: iPhones, if they are registered with FCM.
    package var fcm: Set<Platform> = []
    package init(
      aliasRule: AliasRule = .none, now: Date? = nil, uid: String? = nil, signature: String? = nil,
      credential: CredentialScope? = nil, services: Set<ProviderKind> = Set(ProviderKind.allCases),
      jpush: Set<Platform> = []
    ) {
      (self.jpush, self.credential, self.services) = (jpush, credential, services)
      (self.aliasRule, self.now, self.uid) = (aliasRule, now, uid)
      self.signature = signature ?? uid
    }

    func checksAndroid(_ draft: PushDraft) -> Bool {
      if draft.audience.subscribers == .channel { return false }
      return draft.platforms == [.android] || (draft.platforms.contains(.android) && services.contains(.fcm))
    }

    /// The draft as far as JPush carries it; nil: it carries nothing.
    func jpushPart(_ draft: PushDraft) -> PushDraft? {
      let platforms = draft.platforms.intersection(jpush)
      return platforms.isEmpty ? nil : changing(draft) { $0.platforms = platforms }
    }
  }

  /// All findings: by severity, then in the order of the fields.
  package static func findings(in draft: PushDraft, _ context: Context = Context()) -> [Finding] {
    let payload = APNsPayload(draft, uid: context.uid, signature: context.signature)
    var findings: [Finding] = []
    if draft.platforms.contains(.ios) {
      findings += payload.problems.map { refusal($0, draft) }
      findings += content(draft, payload)
      // Each key's fix is a draft of its own: with the keys of a payload of any size they would fill the memory.
      if payload.size <= payload.limit { findings += keys(draft) + types(draft, payload) }
      findings += delivery(draft, payload) + size(payload) + appleByFCM(draft, payload, context)
      findings += credential(draft, payload, context) + ownTokens(draft, payload, context)
      findings += liveActivityTimes(draft, payload, context)
    }
    if context.checksAndroid(draft) {
      findings += android(draft, context)
    }
    if let draft = context.jpushPart(draft) { findings += jpush(draft, context) }
    findings += texts(draft) + localizations(draft, context) + audience(draft, context) + times(draft, context)
    // sorted() is not guaranteed to be stable, the offset is.
    return findings.enumerated()
      .sorted { ($0.element.severity, $0.offset) < ($1.element.severity, $1.offset) }
      .map(\.element)
  }

  static func finding(
    _ severity: Severity, _ field: String, _ message: LintMessage, _ arguments: [String: String] = [:],
    fix: PushDraft? = nil
  ) -> Finding {
    Finding(severity: severity, problem: Problem(field, message, arguments), fix: fix)
  }

  static func changing(_ draft: PushDraft, _ change: (inout PushDraft) -> Void) -> PushDraft {
    var draft = draft
    change(&draft)
    return draft
  }

  /// An error that ``APNsPayload`` found.
  private static func refusal(_ problem: Problem, _ draft: PushDraft) -> Finding {
    let fix =
      problem.code == PayloadMessage.reservedKey.code
      ? changing(draft) { $0.notification.extras["aps"] = nil } : nil
    return Finding(severity: .error, problem: problem, fix: fix)
  }
}
