import Foundation
import Model
import Store

/// A page that is found by its name, in every language.
struct NamedPage {
  let href: String
  /// The key of its name.
  let name: String
  /// The key of a sentence about it, which is searched too.
  var about: String?
  var role = User.Role.viewer

  /// Entries of the navigation, then what lies below them, then the settings.
  static let all: [NamedPage] =
    Section.allCases.map { section in
      switch section {
      case .overview: NamedPage(href: "/", name: "nav.overview")
      case .send: NamedPage(href: "/pushes/new", name: "send.page", role: .operator)
      case .account: NamedPage(href: "/account", name: "account.title", about: "account.about")
      case .settings: NamedPage(href: "/settings", name: "nav.settings", role: .admin)
      case .activity: NamedPage(href: "/activity", name: "nav.activity", about: "activity.lead", role: .operator)
      default: NamedPage(href: "/\(section.rawValue)", name: "nav.\(section.rawValue)")
      }
    } + below + settings

  private static let below = [
    NamedPage(href: "/schedules", name: "schedules.title"),
    NamedPage(href: "/smoke-tests", name: "smoketests.title", about: "smoketests.lead"),
    NamedPage(href: "/templates", name: "templates.title"),
    NamedPage(href: "/pushes/drafts", name: "drafts.title", role: .operator),
    NamedPage(href: "/devices/import", name: "devices.import", role: .operator),
    NamedPage(href: "/devices/new", name: "devices.register", role: .operator),
    NamedPage(href: "/audiences?kind=segments", name: "audiences.segments"),
    NamedPage(href: "/audiences?kind=tags", name: "audiences.tags"),
    NamedPage(href: "/audiences?kind=aliases", name: "audiences.aliases"),
    NamedPage(href: "/certificates/requests", name: "requests.title"),
    NamedPage(href: "/certificates/key", name: "sealing.title", role: .admin),
    NamedPage(href: "/phones/wall", name: "phones.wall"),
    NamedPage(href: PhoneRequests.path, name: "caught.title", about: "caught.lead"),
    NamedPage(href: "/docs/words", name: "glossary.title", about: "glossary.lead"),
    NamedPage(href: CallbacksPage.path, name: "callbacks.page.title", about: "callbacks.page.lead"),
    NamedPage(href: "/codes", name: "codes.title", about: "codes.lead"),
    NamedPage(href: "/account/second-step", name: "second_step.title"),
  ]

  private static let settings = SettingsPages.sections.map { section in
    NamedPage(
      href: section.path, name: "settings.sections.\(section.name)", about: "settings.sections.\(section.name)_text",
      role: .admin)
  }

  /// How well a text names it in one of the languages: 0 the whole name, 1 its beginning, 2 a part of it, 3 a word of the
  /// sentence about it; nil: not at all.
  func rank(of text: String, in locales: Locales) -> Int? {
    locales.texts.values.compactMap { rank(of: text, $0) }.min()
  }

  private func rank(of text: String, _ texts: Texts) -> Int? {
    let title = texts(name)
    if title.compare(text, options: .caseInsensitive) == .orderedSame { return 0 }
    if let found = title.range(of: text, options: .caseInsensitive) {
      return found.lowerBound == title.startIndex ? 1 : 2
    }
    guard let about else { return nil }
    return texts(about).range(of: text, options: .caseInsensitive) == nil ? nil : 3
  }
}
