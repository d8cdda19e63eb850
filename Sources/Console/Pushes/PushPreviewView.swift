import JSON
import Mustache
import Model
import Store

/// The preview beside the form and on the review page: a lock screen, the checks, and the exact request.
struct PushPreviewView: View {
  var sentence = ""
  /// The next runs of a repeating push, one per line.
  var times = ""
  var lockScreen = LockScreenView()
  var findings: [FindingView] = []
  /// Whether the push was checked: an unfinished one cannot be.
  var isChecked = true
  /// Whether the page names errors elsewhere, so that it is not said that there are none.
  var hasErrorsElsewhere = false
  var limit = 4096
  var bytes = 0
  var bytesText = ""
  var headers = ""
  var payload = ""
  var reachable = ""
  var unreachable = ""
  var dialects: [DialectView] = []
  var callbacks: [CallbackRow] = []
  var callbacksText = ""
  /// The texts to choose from, the default one first; none if there is one only.
  var languages: [ChoiceView] = []
  /// What the numbers beside the languages count.
  var languagesText = ""

  static let fields: [Field<Self>] = [
    .text("sentence") { $0.sentence },
    .text("times") { $0.times },
    .view("lock_screen") { $0.lockScreen },
    .list("findings") { $0.findings },
    .flag("none_found") { $0.findings.isEmpty && $0.isChecked && !$0.hasErrorsElsewhere },
    .flag("unchecked") { !$0.isChecked },
    .written("limit") { $1.write($0.limit) },
    .written("bytes") { $1.write($0.bytes) },
    .number("bytes_grouped") { $0.bytes },
    .text("bytes_text") { $0.bytesText },
    .text("headers") { $0.headers },
    .text("payload") { $0.payload },
    .text("reachable") { $0.reachable },
    .optional("unreachable") { $0.unreachable == "0" ? nil : $0.unreachable },
    .list("dialects") { $0.dialects },
    .list("callbacks") { $0.callbacks },
    .text("callbacks_text") { $0.callbacksText },
    .list("languages") { $0.languages },
    .flag("has_languages") { !$0.languages.isEmpty },
    .text("languages_text") { $0.languagesText },
  ]
}

extension PushPreviewView {
  /// The same values for the form's script, named like its elements.
  var json: [String: JSONValue] {
    let dialects: [String: JSONValue] = dialects.reduce(into: [:]) { all, one in all.merge(one.json) { $1 } }
    return [
      "sentence": .string(sentence), "times": .string(times), "initial": .string(lockScreen.initial),
      "app": .string(lockScreen.app), "title": .string(lockScreen.title), "subtitle": .string(lockScreen.subtitle),
      "body": .string(lockScreen.body), "android_title": .string(lockScreen.androidTitle),
      "android_body": .string(lockScreen.androidBody), "ios": .bool(lockScreen.platforms.contains(.ios)),
      "android": .bool(lockScreen.platforms.contains(.android)), "findings": .array(findings.map(\.json)),
      "limit": .integer(Int64(limit)),
      "bytes": .integer(Int64(bytes)), "bytes_text": .string(bytesText), "headers": .string(headers),
      "payload": .string(payload), "reachable": .string(reachable), "unreachable": .string(unreachable),
      "callbacks_text": .string(callbacksText), "languages_text": .string(languagesText),
      "languages": .array(languages.map { ["value": .string($0.value), "label": .string($0.label)] }),
    ].merging(dialects) { $1 }
  }
}

/// One finding of the checks.
struct FindingView: View {
  let severity: Lint.Severity
  let severityText: String
  let message: String
  /// The name of the form field.
  let field: String
  /// The field as the form calls it; nil: the message says enough.
  var label: String?
  /// Names the repair of ``SendPages``; nil: there is none.
  var fix: String?
  /// What the repair does, on its button.
  var fixText = ""
  /// A page that leads on; nil: there is none.
  var link: LinkView?

  static let fields: [Field<Self>] = [
    .flag("failed") { $0.severity == .error },
    .flag("warning") { $0.severity == .warning },
    .flag("remark") { $0.severity == .hint },
    .text("severity") { $0.severityText },
    .text("message") { $0.message },
    .text("field") { $0.field },
    .optional("label") { $0.label },
    .optional("fix") { $0.fix },
    .text("fix_text") { $0.fixText },
    .view("link") { $0.link },
  ]

  fileprivate var json: JSONValue {
    [
      "severity": .string(severity.rawValue), "severity_text": .string(severityText), "message": .string(message),
      "field": .string(field), "fix": .optional(fix), "fix_text": .string(fixText),
      "href": .optional(link?.href), "link": .optional(link?.label),
    ]
  }
}

extension PushPreviewView {
  /// - Parameter hasErrors: whether the page names the errors itself.
  /// - Returns: the errors, and the view without them.
  func split(errors hasErrors: Bool) -> (errors: [FindingView], rest: PushPreviewView) {
    var rest = self
    guard hasErrors else { return ([], rest) }
    rest.findings.removeAll { $0.severity == .error }
    rest.hasErrorsElsewhere = true
    return (findings.filter { $0.severity == .error }, rest)
  }
}

extension FindingView {
  init(_ finding: Lint.Finding, _ texts: Texts) {
    let field = SendForm.placed(finding.problem).field
    self.init(
      severity: finding.severity, severityText: texts("severity.\(finding.severity.rawValue)"),
      message: texts.text(finding.problem), field: field, label: texts.known("send.\(field)"),
      fix: finding.fix.map { _ in Self.fix(finding) })
  }

  /// A link to the credentials that are missing, or to the devices that keep the audience empty.
  mutating func lead(to app: App, _ draft: PushDraft, _ finding: Lint.Finding, _ texts: Texts) {
    if [LintMessage.noCredential.code, LintMessage.credentialRefused.code].contains(finding.problem.code) {
      link = LinkView(href: "/apps/\(app.id)#credentials", label: texts("push.open_credentials"))
      return
    }
    let codes: [String: DeviceState] = [
      DraftMessage.nobodyParked.code: .quarantined, DraftMessage.nobodyActive.code: .quarantined,
      DraftMessage.nobodyRetired.code: .dead,
    ]
    guard let state = codes[finding.problem.code] else { return }
    var query = "app=\(ConsoleRouter.escaped(app.bundleID))&environment=\(draft.environment.rawValue)"
    // One name can be searched for.
    if case .rule(let rule) = draft.audience, let name = rule.onlyName { query += "&q=\(ConsoleRouter.escaped(name))" }
    link = LinkView(
      href: "/devices?\(query)&state=\(state.name)",
      label: texts(state == .quarantined ? "send.show_parked" : "send.show_retired"))
  }

  /// As a form names the repair of a finding.
  static func fix(_ finding: Lint.Finding) -> String { "\(finding.problem.code) \(finding.problem.field)" }
}

extension Audience.Rule {
  /// The name if the rule consists of one.
  fileprivate var onlyName: String? {
    guard deviceToken.isEmpty, tagNot.isEmpty, segment.isEmpty else { return nil }
    let names = tag + tagAnd + alias + registrationID
    return names.count == 1 ? names[0] : nil
  }
}
