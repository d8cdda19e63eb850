import Certificates
import Foundation
import Mustache
import Model
import Store

/// `/certificates/:id`: a stored file, what depends on it, and how to renew it.
struct CertificateView: PageView {
  static let template = "certificates/show"
  static let section: Section? = .certificates

  let certificate: TrackedCertificate
  let heading: ExpiryHeading
  let details: FileDetailsView
  let uses: [CertificateUseRow]
  let reminders: RemindersView
  let forecast: ForecastView
  let renewal: RenewalView
  let guide: RenewalGuide?
  /// Nil if the certificate is not renewed with a signing request.
  let requests: SigningRequestsView?
  /// Who uploaded the file, and people's notes.
  let upload: [FactView]
  let mayChange: Bool
  let form: Form
  let errors: FieldErrors
  let apps: [ChoiceView]

  static let fields: [Field<CertificateView>] =
    ["name", "made_by", "note"].map { name in
      .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
    } + [
      .written("id") { $1.write(Int($0.certificate.id)) },
      .text("title") { $0.certificate.details.name },
      .view("heading") { $0.heading },
      .view("expires") { $0.certificate.details.notAfter.map { MomentView(date: $0) } },
      .view("details") { $0.details },
      .list("uses") { $0.uses },
      .flag("has_uses") { !$0.uses.isEmpty },
      .flag("may_be_used") { $0.details.canSend || !$0.uses.isEmpty },
      .flag("is_over") { $0.heading.band == .expired },
      .view("depending") { $0.uses.isEmpty ? nil : CountView(count: $0.uses.reduce(0) { $0 + $1.use.activeDevices }) },
      .view("reminders") { $0.reminders },
      .view("forecast") { $0.forecast },
      .view("renewal") { $0.renewal },
      .view("guide") { $0.guide },
      .view("requests") { $0.requests },
      .view("upload") { FactListView(facts: $0.upload) },
      .flag("may_change") { $0.mayChange },
      .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    ]
}

/// How long an item is valid, as the heading of its page, for `certificates/_heading`.
struct ExpiryHeading: View {
  let band: Expiry.Band
  /// Nil without an expiry date.
  let days: Int?
  /// Whether it was replaced and nothing sends with it.
  var isReplaced = false
  /// Whether nothing is known about it.
  var isUnknown = false

  static let fields: [Field<ExpiryHeading>] = [
    .flag("replaced") { $0.isReplaced },
    .flag("unknown") { $0.isUnknown },
    .flag("expired") { $0.isPlain && $0.band == .expired },
    .flag("not_yet_valid") { $0.isPlain && $0.band == .notYetValid },
    .flag("never") { $0.isPlain && $0.band == .neverExpires },
    .flag("last_day") { $0.isPlain && $0.isRunning && $0.days == 0 },
    .view("left") { heading in
      heading.isPlain && heading.isRunning ? heading.days.flatMap { $0 > 0 ? CountView(count: $0) : nil } : nil
    },
  ]

  private var isPlain: Bool { !isReplaced && !isUnknown }
  private var isRunning: Bool { [.fine, .soon, .urgent].contains(band) }
}

/// An app and environment that a certificate sends for.
struct CertificateUseRow: View {
  let use: TrackedCertificate.Use
  let app: String
  let environment: String
  /// For example “2 scheduled, 1 repeating”.
  let planned: String
  let now: Date

  static let fields: [Field<Self>] = [
    .written("app_id") { $1.write(Int($0.use.appID)) },
    .text("app") { $0.app },
    .text("environment") { $0.environment },
    .flag("production") { $0.use.environment == .production },
    .view("last_accepted") { row in row.use.lastAcceptedAt.map { MomentView(date: $0, now: row.now) } },
    .text("planned") { $0.planned },
    .number("devices") { $0.use.activeDevices },
  ]
}

/// `/certificates/:id/remove`: asks before a certificate is deleted, or says what still sends with it.
struct CertificateRemovalView: PageView {
  static let template = "certificates/remove"
  static let section: Section? = .certificates

  let certificate: TrackedCertificate
  let uses: [CertificateUseRow]
  /// The names of the certificates that it replaced; they raise alarms again.
  let wakes: String
  /// Whether it was replaced, which can be undone until then.
  let endsUndo: Bool

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.certificate.id)) },
    .text("name") { $0.certificate.details.name },
    .list("uses") { $0.uses },
    .flag("has_uses") { !$0.uses.isEmpty },
    .text("names") { $0.wakes },
    .flag("ends_undo") { $0.endsUndo },
  ]
}
