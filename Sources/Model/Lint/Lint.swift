package import Foundation
import JSON

/// Looks a draft over for the classic mistakes: what is wrong, why, and how to put it right.
package enum Lint {
  /// How grave a finding is.
  package enum Severity: String, Sendable, CaseIterable, Comparable {
    /// The provider refuses it, or nobody could want it: must not be sent.
    case error
    /// Probably not what is meant.
    case warning
    /// Worth knowing.
    case hint

    /// Graver first.
    package static func < (one: Severity, other: Severity) -> Bool { one.rank < other.rank }

    private var rank: Int { self == .error ? 0 : self == .warning ? 1 : 2 }
  }

  /// One thing found.
  package struct Finding: Sendable, Hashable {
    /// How grave.
    package let severity: Severity
    /// Where, which code, and the sentence with its arguments.
    package let problem: Problem
    /// The draft with the mistake put right, if that can be done without asking.
    package let fix: PushDraft?
    package init(severity: Severity, problem: Problem, fix: PushDraft? = nil) {
      self.severity = severity
      self.problem = problem
      self.fix = fix
    }
  }

  /// What is known besides the draft.
  package struct Context: Sendable {
    /// The app's rule for aliases and tags.
    package var aliasRule = AliasRule.none
    /// The time of asking; nil: what depends on it is not looked at.
    package var now: Date?
    /// The push's public id, or another of its length: it counts in the payload's size.
    package var uid: String?
    /// What the app's key or certificate for the draft's environment may send, and until when; nil: not known.
    package var credential: CredentialScope?
    package init(
      aliasRule: AliasRule = .none, now: Date? = nil, uid: String? = nil, credential: CredentialScope? = nil
    ) {
      self.credential = credential
      self.aliasRule = aliasRule
      self.now = now
      self.uid = uid
    }
  }

  /// Everything found in a draft: graver first, otherwise in the order of the fields.
  package static func findings(in draft: PushDraft, _ context: Context = Context()) -> [Finding] {
    let payload = APNsPayload(draft, uid: context.uid)
    var findings: [Finding] = []
    if draft.platforms.contains(.ios) {
      findings += payload.problems.map { refusal($0, draft) }
      findings += content(draft, payload) + keys(draft) + delivery(draft, payload) + size(payload)
      findings += credential(draft, payload, context)
    }
    findings += texts(draft) + audience(draft, context) + times(draft, context)
    // Stable: sorted() keeps no promise about equals, the offset does.
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

  /// A draft with one thing changed.
  static func changing(_ draft: PushDraft, _ change: (inout PushDraft) -> Void) -> PushDraft {
    var draft = draft
    change(&draft)
    return draft
  }

  /// What APNs would refuse; ``APNsPayload`` says it already.
  private static func refusal(_ problem: Problem, _ draft: PushDraft) -> Finding {
    let fix =
      problem.code == PayloadMessage.reservedKey.code
      ? changing(draft) { $0.notification.extras["aps"] = nil } : nil
    return Finding(severity: .error, problem: problem, fix: fix)
  }
}
