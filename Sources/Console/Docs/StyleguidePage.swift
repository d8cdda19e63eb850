import Foundation
import HTTPServer
import Model
import Mustache
import QRCode
import Store

/// `/styleguide`: every component in every state, for who changes the design; only in the demo.
enum StyleguidePage {
  static let views: [any PageView.Type] = [StyleguideView.self]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/styleguide", role: .operator) { page in
      guard page.console.simulator != nil else { throw HTTPError(.notFound) }
      let scheme = page.filled("scheme").flatMap(StyleScheme.init(rawValue:))
      return page.answer(StyleguideView(texts: page.texts, scheme: scheme, now: page.now))
    }
  }
}

struct StyleguideView: PageView {
  static let template = "docs/styleguide"
  static let section: Section? = .docs

  static let address = "/styleguide"

  let texts: Texts
  /// Nil: that of the system.
  let scheme: StyleScheme?
  let now: Date

  static let fields: [Field<Self>] = basics + parts

  private static let basics: [Field<Self>] = [
    .optional("scheme") { $0.scheme?.rawValue },
    .text("revision") { _ in "1" },
    .list("schemes") { view in
      let texts = view.texts
      return [
        StyleSchemeLink(scheme: nil, label: texts("styleguide.system"), isHere: view.scheme == nil),
        StyleSchemeLink(scheme: .light, label: texts("styleguide.light"), isHere: view.scheme == .light),
        StyleSchemeLink(scheme: .dark, label: texts("styleguide.dark"), isHere: view.scheme == .dark),
      ]
    },
    .list("buttons") { _ in ["primary", "prod", "", "quiet", "danger", "danger final", "small"] },
    .view("filled") { FieldView(value: $0.name, choices: $0.choices(chosen: .development), isChecked: true) },
    .view("wrong") { FieldView(error: $0.texts("styleguide.wrong"), choices: $0.choices(chosen: .production)) },
    .list("tones") { _ in ["", "amber", "red", "dead", "none"] },
    .list("tag_tones") { _ in ["", "accent", "amber", "red"] },
    .list("environments") { view in [false, true].map { StyleEnvironment(app: view.name, isProduction: $0) } },
    .list("bars") { view in
      let all = OutcomeCounts(accepted: 50, failed: 20, deadToken: 10, skipped: 10, unknown: 5)
      return [OutcomeCounts(accepted: 100), all].map { counts in
        let label = view.texts("pushes.accepted_of", ["accepted": "\(counts.accepted)", "target": "100"])
        return StyleBar(label: label, counts: counts)
      }
    },
    .list("moments") { view in
      [-5, -300, -7200, -200_000, 45, 600, 20_000, 900_000].map {
        MomentView(date: view.now.addingTimeInterval($0), now: view.now)
      }
    },
    .list("facts") { view in
      [
        FactView(view.texts("details.name"), view.name), FactView(view.texts("details.id"), "0123abcd", isMono: true),
        FactView(view.texts("nav.devices"), view.name, href: "/devices"),
        FactView(view.texts("details.created"), at: view.now, now: view.now),
      ].compactMap { $0 }
    },
    .list("callouts") { _ in ["accent", "amber", "red"] },
    .text("csv") { _ in "#lists" },
    .text("json") { _ in "#lists" },
    .text("q") { _ in "" },
    .view("shown") { _ in CountView(count: 8) },
    .view("pager") { _ in StylePager() },
    .text("command") { _ in "signalbox send --help" },
    .text("path") { _ in Self.address },
    .view("qr") { _ in QRSymbol("https://signalbox.example").map { QRView(symbol: $0) } },
  ]

  var name: String { "Shop" }

  private func choices(chosen: Environment) -> [ChoiceView] {
    Environment.allCases.map {
      ChoiceView(value: $0.rawValue, label: $0.word(texts), isSelected: $0 == chosen, isProduction: $0 == .production)
    }
  }
}

/// A color scheme that the page shows whatever the system has.
enum StyleScheme: String, Sendable {
  case light, dark
}

struct StyleSchemeLink: View {
  let scheme: StyleScheme?
  let label: String
  let isHere: Bool

  static let fields: [Field<Self>] = [
    .text("href") { $0.scheme.map { "\(StyleguideView.address)?scheme=\($0.rawValue)" } ?? StyleguideView.address },
    .text("label") { $0.label },
    .flag("here") { $0.isHere },
  ]
}

struct StyleEnvironment: View {
  let app: String
  let isProduction: Bool

  static let fields: [Field<Self>] = [.text("app") { $0.app }, .flag("production") { $0.isProduction }]
}

struct StyleBar: View {
  let label: String
  let counts: OutcomeCounts

  static let fields: [Field<Self>] = [
    .text("label") { $0.label }, .view("bar") { OutcomeBar($0.counts, target: 100) },
  ]
}

/// A page between two others.
struct StylePager: View {
  static let fields: [Field<Self>] = [.text("newer") { _ in "#lists" }, .text("older") { _ in "#lists" }]
}
