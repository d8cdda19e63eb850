import Certificates
import Delivery
import Foundation
import HTTPServer
import Mustache
import Push
import Store

/// The old and the new side by side, what there is to know, and what the push service said.
struct RenewalPreview {
  let renewal: Renewal
  let report: CertificateSwitch.Report?
  let page: PageContext

  private var texts: Texts { page.texts }

  var members: [String: Value] {
    let attempts = report?.attempts ?? []
    return [
      "id": .integer(renewal.old.id), "uid": .string(page.request.parameters["uid"] ?? ""),
      "title": .string(renewal.old.details.name), "new_name": .string(renewal.details.name),
      "known": .bool(renewal.known != nil && !renewal.isRefill), "refill": .bool(renewal.isRefill),
      "rows": .list(rows), "findings": .list(renewal.findings.map(finding)),
      "any_moves": .bool(!renewal.uses.isEmpty), "moves": .list(renewal.uses.map(move)),
      "any_attempts": .bool(!attempts.isEmpty), "attempts": .list(attempts.map { Self.attempt($0, texts) }),
      "problem": .string(problem), "can_switch": .bool(!renewal.isStopped),
      "needs_tick": .bool(report?.outcome == .untried || page.form["untried"] == "yes"),
      "ticked": .bool(page.form["untried"] == "yes"),
      "any_trial": .bool(!renewal.uses.isEmpty && !renewal.isStopped),
    ]
  }

  private var problem: String {
    switch report?.outcome {
    case .refused: texts("renewal.was_refused")
    case .untried: texts("renewal.was_untried")
    case .stopped, .ready, nil: ""
    }
  }

  private var rows: [Value] {
    let (old, new) = (renewal.old.details, renewal.details)
    func words(_ environments: [Push.Environment]) -> String {
      environments.map { $0.word(texts) }.joined(separator: ", ")
    }
    func kind(_ kind: String) -> String { texts("certificates.kinds.\(kind)") }
    let rows: [(String, String?, String?)] = [
      ("certificates.name", old.name, new.name), ("certificates.kind", kind(old.kind), kind(new.kind)),
      ("certificates.topics", old.topics.joined(separator: ", "), new.topics.joined(separator: ", ")),
      ("certificates.environments", words(old.environments), words(new.environments)),
      ("certificates.team", old.teamID, new.teamID), ("certificates.key_id", old.keyID, new.keyID),
      ("certificates.serial", old.serial, new.serial),
      ("certificates.not_before", old.notBefore?.utcText, new.notBefore?.utcText),
      (
        "certificates.not_after", old.notAfter?.utcText ?? texts("certificates.never"),
        new.notAfter?.utcText ?? texts("certificates.never")
      ),
    ]
    return rows.filter { $0.1?.isEmpty == false || $0.2?.isEmpty == false }.map { label, old, new in
      let (before, after) = (old ?? "", new ?? "")
      return [
        "label": .string(texts(label)), "old": .string(before.isEmpty ? "–" : before),
        "new": .string(after.isEmpty ? "–" : after), "differs": .bool(before != after),
      ]
    }
  }

  private func finding(_ finding: RenewalFinding) -> Value {
    [
      "failed": .bool(finding.level == .stop), "soon": .bool(finding.level == .warn),
      "fine": .bool(finding.level == .fine), "label": .string(texts("renewal.level_\(finding.level.rawValue)")),
      "text": .string(texts.text(finding.problem)),
    ]
  }

  private func move(_ use: TrackedCertificate.Use) -> Value {
    [
      "href": .string("/apps/\(use.appID)"), "app": .string(use.bundleID),
      "production": .bool(use.environment == .production), "environment": .string(use.environment.word(texts)),
      "devices": .string(use.activeDevices.grouped),
    ]
  }

  /// What the push service said for one credential.
  static func attempt(_ attempt: CredentialAttempt, _ texts: Texts) -> Value {
    let (word, answer): (String, String) =
      switch attempt.verdict {
      case .taken(let answer): ("taken", answer)
      case .refused(let reason): ("refused", reason)
      case .undecided(let reason): ("undecided", reason)
      }
    let remedy = word == "refused" ? Reason.of(answer).remedy : ""
    return [
      "app": .string(attempt.bundleID), "production": .bool(attempt.credential.environment == .production),
      "environment": .string(attempt.credential.environment.word(texts)), "failed": .bool(word == "refused"),
      "soon": .bool(word == "undecided"), "fine": .bool(word == "taken"),
      "label": .string(texts("renewal.trial_\(word)")), "answer": .string(answer), "remedy": .string(remedy),
      "endpoint": .string(attempt.credential.endpoint),
    ]
  }
}
