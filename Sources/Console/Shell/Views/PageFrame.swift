import Mustache
import Store

/// An entry of the navigation.
enum Section: String, Sendable, CaseIterable {
  case overview, incidents, send, pushes, devices, audiences, apps, certificates, phones, settings, activity, docs
  case account
}

/// A page of the console; the layout surrounds its template.
protocol PageView: TemplateView {
  static var section: Section? { get }
}

/// The content of the layout. Page templates can use its members too.
struct PageFrame: View {
  let language: String
  /// The masked form token.
  var csrf = ""
  /// The page to return to after a language change, with its query.
  var path = "/"
  /// The form that a language change posts, see ``LanguageSwitch``; nil: it leads to ``path``.
  var languageForm: String?
  /// Where that form is posted to.
  var languageAction = ""
  var section: Section?
  /// Of a page of the settings: all of them, for its tabs.
  var settings: [SettingsSection] = []
  /// Whether what needs a fresh proof of the person can be changed at once.
  var isProven = false
  /// Nil also for a person who must show a second step first: the navigation would lead nowhere.
  var person: FramePerson?
  /// Whether that is so.
  var isGated = false
  /// Seconds until the session ends if it is not used; nil without a session.
  var sessionSeconds: Int?
  /// The message of the previous page.
  var flash: FrameFlash?
  /// How many incidents are open.
  var openIncidents = 0
  /// When certificates were last checked; nil: never.
  var lastCheck: MomentView?
  var isCheckLate = false
  /// Whether the built-in simulator runs: only then is a simulated phone offered.
  var hasSimulator = false
  let version: String
  /// The path of scripts, styles and images.
  let assets: String
  /// The languages to switch to; none if the page cannot be shown once more.
  var languages: [FrameLanguage]

  static let fields: [Field<PageFrame>] =
    sections + [
      .text("lang") { $0.language },
      .text("csrf") { $0.csrf },
      .text("path") { $0.path },
      .text("version") { $0.version },
      .text("assets") { $0.assets },
      // A separate flag: inside the section `user`, its members would hide those of the page.
      .flag("signed_in") { $0.person != nil },
      .flag("gated") { $0.isGated },
      .optional("session") { $0.sessionSeconds.map(String.init) },
      .view("user") { $0.person },
      .flag("may_send") { $0.person.map { $0.role >= .operator } ?? false },
      .flag("may_see_activity") { $0.person.map { $0.role >= .operator } ?? false },
      .flag("proven") { $0.isProven },
      .flag("may_set_up") { $0.person?.role == .admin },
      .view("flash") { $0.flash },
      .number("open_incidents") { $0.openIncidents },
      .flag("has_incidents") { $0.openIncidents > 0 },
      .view("last_check") { $0.lastCheck },
      .flag("check_late") { $0.isCheckLate },
      .flag("has_simulator") { $0.hasSimulator },
      .list("languages") { $0.languages },
      .list("settings_sections") { $0.settings },
      .optional("language_form") { $0.languageForm },
      .text("language_action") { $0.languageAction },
    ]

  /// `in_pushes` and so on: whether the page belongs to that entry.
  private static var sections: [Field<PageFrame>] {
    Section.allCases.map { section in .flag("in_\(section.rawValue)") { $0.section == section } }
  }
}

/// The signed-in person.
struct FramePerson: View {
  let name: String
  let role: User.Role
  let roleText: String

  static let fields: [Field<Self>] = [.text("name") { $0.name }, .text("role") { $0.roleText }]
}

struct FrameFlash: View {
  let text: String

  /// A message of the page itself.
  init(flash key: String, _ texts: Texts) { text = texts("flash.\(key)") }

  /// - Parameter cookie: what ``PageContext/redirect(to:flash:count:)`` wrote, or what somebody made up.
  init?(cookie: String, _ texts: Texts) {
    let parts = cookie.split(separator: ":", maxSplits: 1)
    guard let key = parts.first.map({ "flash.\($0)" }) else { return nil }
    if parts.count == 1, let text = texts.known(key) {
      self.text = text
    } else if parts.count == 2, let count = Int(parts[1]), texts.known(key + ".other") != nil {
      text = texts(key, count: count)
    } else {
      return nil
    }
  }

  static let fields: [Field<Self>] = [.text("text") { $0.text }]
}

struct FrameLanguage: View {
  let code: String
  let name: String

  static let fields: [Field<Self>] = [.text("code") { $0.code }, .text("name") { $0.name }]
}
