import Foundation
import Testing

/// Holding what the browser shows against the audit.
extension BrowserScene {
  /// Wide and narrow, light and dark; more would show nothing new.
  private static let looks = [(1280, false), (1280, true), (400, false), (400, true)]

  /// Looks at the page, or at what another audit says, in every look.
  func audit(_ name: String, _ script: String = PageAudit.page) async throws {
    let language = isAudited ? try await browser.run(script: "return document.documentElement.lang") as? String : nil
    for (width, dark) in Self.looks {
      try await browser.pretend(width: width, dark: dark)
      let found = try await browser.run(script: script) as? [String]
      #expect(found == [], "\(name), \(width) px, \(dark ? "dark" : "light")")
      if script == PageAudit.page { try await axe(name, .init(language: language ?? "", width: width, dark: dark)) }
    }
    let complaints = try await browser.complaints()
    #expect(complaints == [], "\(name)")
    try await browser.pretend(width: 1280, dark: false)
  }

  private func axe(_ name: String, _ look: AuditTable.Look) async throws {
    guard isAudited else { return }
    let found = try await browser.run(script: look.dark ? Axe.colors : Axe.script) as? [String]
    table.note(name, look, violations: found?.count ?? 1)
    #expect(found == [], "\(name), \(look.name)")
  }

  /// Whether the tables that a selector finds are no wider than their place at 1280 px; false if it finds none.
  func fits(_ selector: String) async throws -> Bool {
    try await browser.pretend(width: 1280, dark: false)
    let script = """
      const tables = [...document.querySelectorAll(arguments[0])];
      return tables.length > 0 && tables.every((one) => one.offsetWidth <= one.parentElement.clientWidth);
      """
    return try await browser.run(script: script, selector) as? Bool == true
  }

  /// Shows a mail as a program for mails would, and looks at it; also without the style sheet, which some take out.
  ///
  /// What the browser shows afterwards is the mail whole.
  func auditMail(_ html: String, _ name: String) async throws {
    let style = try Regex("<style>.*?</style>").dotMatchesNewlines()
    let whole = folder.appendingPathComponent("mail.html")
    let bare = folder.appendingPathComponent("bare.html")
    try Data(html.utf8).write(to: whole)
    try Data(html.replacing(style, with: "").utf8).write(to: bare)
    try await browser.open(bare.absoluteString)
    try await audit("\(name), without its styles", PageAudit.mail)
    try await browser.open(whole.absoluteString)
    try await audit(name, PageAudit.mail)
  }
}
