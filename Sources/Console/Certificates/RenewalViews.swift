import Certificates
import Delivery
import Foundation
import Mustache
import Model
import Providers
import Store

/// `/certificates/:id/successor/:uid`: compares the old and the new file before anything is switched.
struct SuccessorView: PageView {
  static let template = "certificates/successor"
  static let section: Section? = .certificates

  let renewal: Renewal
  /// The ID of the held file.
  let uid: String
  let outcome: CertificateSwitch.Outcome?
  let rows: [ComparedRow]
  let findings: [FindingRow]
  let moves: [MovedCredentialRow]
  let attempts: [AttemptRow]
  /// Whether the person chose to switch without a trial.
  let isTicked: Bool

  static let fields: [Field<SuccessorView>] = [
    .written("id") { $1.write(Int($0.renewal.old.id)) },
    .text("uid") { $0.uid },
    .text("title") { $0.renewal.old.details.name },
    .text("new_name") { $0.renewal.details.name },
    .flag("known") { $0.renewal.known != nil && !$0.renewal.isRefill },
    .flag("refill") { $0.renewal.isRefill },
    .list("rows") { $0.rows },
    .list("findings") { $0.findings },
    .list("moves") { $0.moves },
    .flag("has_moves") { !$0.moves.isEmpty },
    .list("attempts") { $0.attempts },
    .flag("has_attempts") { !$0.attempts.isEmpty },
    .flag("was_refused") { $0.outcome == .refused },
    .flag("was_untried") { $0.outcome == .untried },
    .flag("can_switch") { !$0.renewal.isStopped },
    .flag("has_trial") { !$0.moves.isEmpty && !$0.renewal.isStopped },
    .flag("needs_tick") { $0.outcome == .untried || $0.isTicked },
    .view("untried") { FieldView(isChecked: $0.isTicked) },
  ]
}

/// One fact about the old and the new file.
struct ComparedRow: View {
  let label: String
  let old: String
  let new: String

  static let fields: [Field<Self>] = [
    .text("label") { $0.label },
    .text("old") { $0.old },
    .text("new") { $0.new },
    .flag("differs") { $0.old != $0.new },
  ]
}

/// A finding before a switch, for `certificates/_verdict`.
struct FindingRow: View {
  let level: RenewalFinding.Level
  let label: String
  let text: String

  static let fields: [Field<Self>] = [
    .flag("failed") { $0.level == .stop },
    .flag("soon") { $0.level == .warn },
    .flag("fine") { $0.level == .fine },
    .text("label") { $0.label },
    .text("text") { $0.text },
  ]
}

/// A credential that moves to the new file.
struct MovedCredentialRow: View {
  let use: TrackedCertificate.Use

  static let fields: [Field<Self>] = [
    .written("app_id") { $1.write(Int($0.use.appID)) },
    .text("app") { $0.use.bundleID },
    .flag("production") { $0.use.environment == .production },
    .number("devices") { $0.use.activeDevices },
  ]
}

/// The push service's answer for one credential, for `certificates/_attempts`.
struct AttemptRow: View {
  let attempt: CredentialAttempt
  let label: String
  let remedy: String

  init(_ attempt: CredentialAttempt, _ texts: Texts) {
    self.attempt = attempt
    remedy = if case .refused(let reason) = attempt.verdict { texts.remedy(Reason.of(reason)) } else { "" }
    let word =
      switch attempt.verdict {
      case .taken: "taken"
      case .refused: "refused"
      case .undecided: "undecided"
      }
    label = texts("renewal.trial_\(word)")
  }

  static let fields: [Field<AttemptRow>] = [
    .text("app") { $0.attempt.bundleID },
    .flag("production") { $0.attempt.credential.environment == .production },
    .flag("failed") { if case .refused = $0.attempt.verdict { true } else { false } },
    .flag("soon") { if case .undecided = $0.attempt.verdict { true } else { false } },
    .flag("fine") { if case .taken = $0.attempt.verdict { true } else { false } },
    .text("label") { $0.label },
    .text("answer") { $0.answer },
    .text("remedy") { $0.remedy },
    .text("address") { $0.attempt.credential.endpoint },
  ]

  private var answer: String {
    switch attempt.verdict {
    case .taken(let answer): answer
    case .refused(let reason), .undecided(let reason): reason
    }
  }
}

/// `/certificates/:id/undo`: asks before the old file is put back.
struct RenewalUndoView: PageView {
  static let template = "certificates/undo"
  static let section: Section? = .certificates

  let old: TrackedCertificate
  let successor: TrackedCertificate
  let texts: Texts
  let isExpired: Bool
  let outcome: CertificateSwitch.Outcome?
  let attempts: [AttemptRow]
  /// Whether credentials move back, so that the push service is asked first.
  let hasTrial: Bool
  /// Whether the person chose to go back without a trial.
  let isTicked: Bool

  static let fields: [Field<RenewalUndoView>] = [
    .written("id") { $1.write(Int($0.old.id)) },
    .text("title") { $0.old.details.name },
    .text("old") { $0.name($0.old) },
    .text("new") { $0.name($0.successor) },
    .view("expired") { view in
      view.isExpired ? view.old.details.notAfter.map { EndDay(date: $0) } : nil
    },
    .flag("was_refused") { $0.outcome == .refused },
    .flag("was_untried") { $0.outcome != nil && $0.outcome != .refused },
    .list("attempts") { $0.attempts },
    .flag("has_attempts") { !$0.attempts.isEmpty },
    .flag("has_trial") { $0.hasTrial },
    .flag("needs_tick") { $0.outcome == .untried || $0.isTicked },
    .view("untried") { FieldView(isChecked: $0.isTicked) },
  ]

  /// Both usually have the same name; the last day tells them apart, or else the serial number.
  private func name(_ certificate: TrackedCertificate) -> String {
    let both = [old, successor]
    let days = both.map { $0.details.notAfter.map(texts.day) }
    let notes = [
      certificate.details.notAfter.map(texts.day),
      days[0] == days[1] ? certificate.mark(among: both, texts) : nil,
    ].compactMap { $0 }
    return notes.isEmpty ? certificate.details.name : texts.noted(certificate.details.name, texts.clauses(notes))
  }
}

/// A date in a text.
struct EndDay: View {
  let date: Date

  static let fields: [Field<Self>] = [.written("date") { $1.write(day: $0.date) }]
}
