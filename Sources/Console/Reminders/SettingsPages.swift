import HTTPServer
import JSON
import Mustache
import Store

/// `/settings`: links to the settings pages.
enum SettingsPages {
  static let views: [any PageView.Type] =
    [
      SettingsView.self, MailSettingsView.self, ReceiverListView.self, ReceiverView.self, ReminderSettingsView.self,
      SendingSettingsView.self, RetentionView.self, RetentionConfirmView.self, AboutView.self,
    ] + WebhookPages.views + TokenPages.views + PeoplePages.views + OIDCSettingsPage.views

  /// The settings pages in display order: key of the texts, and path. A new page needs a line here and texts under
  /// `settings.sections`.
  static let sections = [
    (name: "people", path: "/settings/people"), (name: "oidc", path: "/settings/oidc"),
    (name: "sending", path: "/settings/sending"), (name: "receivers", path: "/settings/receivers"),
    (name: "mail", path: "/settings/mail"),
    (name: "reminders", path: "/settings/reminders"), (name: "webhooks", path: "/settings/webhooks"),
    (name: "tokens", path: "/settings/tokens"), (name: "retention", path: "/settings/retention"),
    (name: "about", path: "/settings/about"),
  ]

  /// The settings pages as the page at a path lists them.
  static func listed(at path: String, _ texts: Texts) -> [SettingsSection] {
    sections.map { section in
      SettingsSection(
        href: section.path, title: texts("settings.sections.\(section.name)"),
        text: texts("settings.sections.\(section.name)_text"),
        current: path == section.path ? "page" : path.hasPrefix(section.path + "/") ? "true" : nil)
    }
  }

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings", role: .admin) { page in page.answer(SettingsView()) }
    SendingSettingsPage.add(to: &routes)
    MailSettingsPage.add(to: &routes)
    ReceiverPages.add(to: &routes)
    ReminderSettingsPage.add(to: &routes)
    WebhookPages.add(to: &routes)
    TokenPages.add(to: &routes)
    PeoplePages.add(to: &routes)
    OIDCSettingsPage.add(to: &routes)
  }
}
