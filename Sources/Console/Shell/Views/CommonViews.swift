import Foundation
import Model
import Mustache
import Store

/// A link with its label.
struct LinkView: View {
  let href: String
  let label: String

  static let fields: [Field<Self>] = [.text("href") { $0.href }, .text("label") { $0.label }]
}

/// Links to the previous and next page of a list, for `components/pager`.
struct PagerView: View {
  let newer: String?
  let older: String?

  init(_ pager: Pager, next: String?) {
    newer = pager.previous
    older = pager.next(next)
  }

  static let fields: [Field<Self>] = [.optional("newer") { $0.newer }, .optional("older") { $0.older }]
}

/// An option, for `components/select`, `radios` and `checkboxes`.
struct ChoiceView: View {
  let value: String
  let label: String
  var isSelected = false
  /// Marks the option as one that affects production.
  var isProduction = false
  /// It cannot be chosen; the page says why.
  var isDisabled = false
  /// The first of a group that came back with an error: the focus goes there.
  var isFocused = false
  /// Its label is its value: an `option` then needs no other.
  var isPlain = false

  static let fields: [Field<Self>] = [
    .text("value") { $0.value },
    .text("label") { $0.label },
    .flag("plain") { $0.isPlain },
    .flag("selected") { $0.isSelected },
    .flag("production") { $0.isProduction },
    .flag("disabled") { $0.isDisabled },
    .flag("focused") { $0.isFocused },
  ]
}

/// A form field with its content and error, for `components/field` and similar.
struct FieldView: View {
  var value = ""
  var error = ""
  var choices: [ChoiceView] = []
  /// For checkboxes.
  var isChecked = false

  private var shown: [ChoiceView] {
    guard !error.isEmpty, !choices.isEmpty else { return choices }
    var choices = choices
    choices[choices.firstIndex { $0.isSelected } ?? 0].isFocused = true
    return choices
  }

  static let fields: [Field<Self>] = [
    .text("value") { $0.value },
    .text("error") { $0.error },
    .list("choices") { $0.shown },
    .flag("checked") { $0.isChecked },
  ]
}

/// A label and its value, for `components/details`.
struct FactView: View {
  let label: String
  let value: String
  var href: String?
  /// Whether it is a number or a name for machines.
  var isMono = false
  /// Whether it names methods of an app.
  var isMethods = false
  /// Of a fact that is a moment; then there is no value.
  var time: MomentView?

  static let fields: [Field<Self>] = [
    .text("label") { $0.label },
    .written("value") { fact, output in
      if fact.isMethods { output.write(methods: fact.value) } else { output.write(fact.value) }
    },
    .optional("href") { $0.href },
    .flag("mono") { $0.isMono },
    .view("time") { $0.time },
  ]
}

/// Facts of their own, where a page shows several lists of them.
struct FactListView: View {
  let facts: [FactView]

  static let fields: [Field<Self>] = [.list("facts") { $0.facts }]
}

extension FactView {
  /// Nil if there is nothing to say.
  init?(_ label: String, _ value: String?, href: String? = nil, isMono: Bool = false, isMethods: Bool = false) {
    guard let value, !value.isEmpty else { return nil }
    self.init(label: label, value: value, href: href, isMono: isMono, isMethods: isMethods)
  }

  /// Nil without a date.
  ///
  /// - Parameter now: of the request: the date is shown relative to it; nil: as a date.
  init?(_ label: String, at date: Date?, now: Date? = nil) {
    guard let date else { return nil }
    self.init(label: label, value: "", time: MomentView(date: date, now: now))
  }
}

/// Selects a text's plural form.
struct CountView: View {
  let count: Int

  static let fields: [Field<Self>] = [.number("count") { $0.count }]
}

extension ChoiceView {
  static func list(_ choices: [(value: String, label: String)], chosen: String...) -> [ChoiceView] {
    choices.map { ChoiceView(value: $0.value, label: $0.label, isSelected: chosen.contains($0.value)) }
  }

  static func environments(_ texts: Texts, chosen: String) -> [ChoiceView] {
    Environment.allCases.map {
      ChoiceView(
        value: $0.rawValue, label: $0.word(texts).capitalizedFirst, isSelected: $0.rawValue == chosen,
        isProduction: $0 == .production)
    }
  }

  static func platforms(_ texts: Texts, chosen: String) -> [ChoiceView] {
    list(Platform.allCases.map { ($0.rawValue, texts("platform.\($0.rawValue)")) }, chosen: chosen)
  }

  /// Apps by bundle ID, after an option for no app. A single app is preselected.
  static func apps(_ apps: [App], none: String, chosen: String) -> [ChoiceView] {
    list([("", none)] + apps.map { ($0.bundleID, $0.name) }, chosen: apps.count == 1 ? apps[0].bundleID : chosen)
  }
}
