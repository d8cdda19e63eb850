import Mustache
import Store

/// The entry of the navigation that a page belongs to.
enum Section: String, Sendable, CaseIterable {
  case overview, send, pushes, devices, apps, certificates, phones, settings, account
}

/// A page of the console: its template stands in the frame.
protocol PageView: TemplateView {
  static var section: Section? { get }
}

/// What the layout around every page shows. Templates of pages may name its members too.
struct PageFrame: View {
  /// Language tag.
  let language: String
  /// The token that forms send along, masked.
  var csrf = ""
  /// Where the language switch leads back to.
  var path = "/"
  var section: Section?
  var person: FramePerson?
  /// What the page before has left to say.
  var flash: FrameFlash?
  let version: String
  /// Where scripts, styles and pictures are.
  let assets: String
  /// The languages that the page is not in.
  let languages: [FrameLanguage]

  static let fields: [Field<PageFrame>] =
    sections + [
      .text("lang") { $0.language },
      .text("csrf") { $0.csrf },
      .text("path") { $0.path },
      .text("version") { $0.version },
      .text("assets") { $0.assets },
      // A section of its own: within `user` its members would hide those of the page.
      .flag("signed_in") { $0.person != nil },
      .view("user") { $0.person },
      .flag("may_send") { $0.person.map { $0.role >= .operator } ?? false },
      .flag("may_set_up") { $0.person?.role == .admin },
      .view("flash") { $0.flash },
      .list("languages") { $0.languages },
    ]

  /// As `in_pushes`: whether the page belongs to an entry.
  private static var sections: [Field<PageFrame>] {
    Section.allCases.map { section in .flag("in_\(section.rawValue)") { $0.section == section } }
  }
}

/// Who is signed in.
struct FramePerson: View {
  let name: String
  let role: User.Role
  /// The role's word.
  let roleText: String

  static let fields: [Field<Self>] = [.text("name") { $0.name }, .text("role") { $0.roleText }]
}

struct FrameFlash: View {
  let text: String

  static let fields: [Field<Self>] = [.text("text") { $0.text }]
}

struct FrameLanguage: View {
  let code: String
  let name: String

  static let fields: [Field<Self>] = [.text("code") { $0.code }, .text("name") { $0.name }]
}
