import Model
import Store

extension ChoiceView {
  static func list(_ choices: [(value: String, label: String)], chosen: String...) -> [ChoiceView] {
    choices.map { ChoiceView(value: $0.value, label: $0.label, isSelected: chosen.contains($0.value)) }
  }

  static func environments(_ texts: Texts, chosen: String) -> [ChoiceView] {
    Environment.allCases.map {
      ChoiceView(
        value: $0.rawValue, label: $0.word(texts), isSelected: $0.rawValue == chosen, isProduction: $0 == .production)
    }
  }

  static func platforms(_ texts: Texts, chosen: String) -> [ChoiceView] {
    list(Platform.allCases.map { ($0.rawValue, texts("platform.\($0.rawValue)")) }, chosen: chosen)
  }

  /// Apps by bundle ID, after an option for no app. A single app is preselected.
  static func apps(_ apps: [App], none: String, chosen: String) -> [ChoiceView] {
    list(
      [("", none)] + apps.map { ($0.bundleID, $0.name) }, chosen: apps.count == 1 ? apps[0].bundleID : chosen)
  }
}
