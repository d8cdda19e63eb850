import Foundation
import Mustache
import Store

/// `/settings/people`.
struct PeopleView: PageView {
  static let template = "people/index"
  static let section: Section? = .settings

  let people: [PersonRow]
  /// Who must have a second step.
  let rule: SecondStepRule
  let exports: ExportLinks
  let hasProvider: Bool
  let texts: Texts
  let name: FieldView
  let role: FieldView

  static let fields: [Field<Self>] = [
    .list("people") { $0.people },
    .view("exports") { $0.exports },
    .view("required") { view in
      FieldView(
        choices: ChoiceView.list(
          SecondStepRule.Reach.allCases.map { ($0.rawValue, view.texts("people.required_of.\($0.rawValue)")) },
          chosen: view.rule.reach.rawValue))
    },
    .view("provider") { $0.hasProvider ? FieldView(isChecked: $0.rule.trustsProvider) : nil },
    .view("name") { $0.name },
    .view("role") { $0.role },
  ]
}

struct PersonRow: View {
  let person: Person
  let texts: Texts
  /// Whether it is the person of this request.
  let isOwn: Bool
  let now: Date

  static let fields: [Field<Self>] = [
    .text("href") { "/settings/people/\($0.person.id)" },
    .text("name") { $0.person.user.name },
    .flag("own") { $0.isOwn },
    .text("role") { $0.texts("roles.\($0.person.user.role.rawValue)") },
    .view("signed_in") { row in row.person.user.signedInAt.map { MomentView(date: $0, now: row.now) } },
    .text("second_step") { $0.person.words($0.texts) },
    .text("tone") { $0.person.user.state.tone },
    .text("state") { $0.texts("people.states.\($0.person.user.state.rawValue)") },
  ]
}

/// `/settings/people/:id`.
struct PersonView: PageView {
  static let template = "people/person"
  static let section: Section? = .settings

  let person: Person
  let texts: Texts
  let isOwn: Bool
  /// Why the last change was refused.
  let problem: String?
  /// A one-time link, shown only once.
  let link: String?
  let facts: [FactView]
  let roles: [ChoiceView]
  let sessions: [SessionRow]

  static let fields: [Field<Self>] = [
    .text("href") { "/settings/people/\($0.person.id)" },
    .text("name") { $0.person.user.name },
    .text("tone") { $0.person.user.state.tone },
    .text("state") { $0.texts("people.states.\($0.person.user.state.rawValue)") },
    .optional("problem") { $0.problem },
    .optional("link") { $0.link },
    .list("facts") { $0.facts },
    .view("role") { FieldView(choices: $0.roles) },
    .flag("own") { $0.isOwn },
    .flag("disabled") { $0.person.user.state == .disabled },
    .flag("invited") { $0.person.user.state == .invited },
    .flag("second_step") { $0.person.hasSecondStep },
    .flag("linked") { $0.person.user.isLinked },
    // Not "may_send": the navigation asks whether the reader may.
    .flag("sender") { $0.person.user.role >= .operator },
    .flag("may_produce") { $0.person.user.sendsToProduction },
    .flag("has_sessions") { !$0.sessions.isEmpty },
    .flag("may_sign_out") { !$0.isOwn && !$0.sessions.isEmpty },
    .list("sessions") { $0.sessions },
  ]
}

/// `/settings/people/:id/remove`: asks before a person is deleted.
struct PersonRemoveView: PageView {
  static let template = "people/remove"
  static let section: Section? = .settings

  let name: String
  let href: String

  static let fields: [Field<Self>] = [.text("name") { $0.name }, .text("href") { $0.href }]
}

extension User.State {
  fileprivate var tone: String {
    switch self {
    case .active: ""
    case .invited, .disabled: "none"
    }
  }
}

extension Person {
  /// What protects the account beside the password.
  func words(_ texts: Texts) -> String {
    let parts = [
      hasAuthenticator ? texts("people.authenticator") : nil,
      passkeys > 0 ? texts("people.passkeys", count: passkeys) : nil,
    ].compactMap { $0 }
    return parts.isEmpty ? texts("people.no_second_step") : parts.joined(separator: texts("between.words"))
  }
}

extension ChoiceView {
  /// The roles, the least powerful first.
  static func roles(_ texts: Texts, chosen: String) -> [ChoiceView] {
    list(User.Role.allCases.reversed().map { ($0.rawValue, texts("account.roles.\($0.rawValue)")) }, chosen: chosen)
  }
}
