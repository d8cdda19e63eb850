import Foundation
import JSON
import Model
import Mustache
import Store

/// `/activity`.
struct ActivityListView: PageView {
  static let template = "activity/index"
  static let section: Section? = .activity

  let filter: ActivityFilterView
  let entries: [ActivityRow]
  /// What a check of the log found; nil: none was asked for.
  let check: ActivityCheckView?
  /// The addresses of the exports, with the page's filters.
  let csv: String
  let json: String
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .view("filter") { $0.filter },
    .list("entries") { $0.entries },
    .flag("has_entries") { !$0.entries.isEmpty },
    .view("check") { $0.check },
    .view("shown") { CountView(count: $0.entries.count) },
    .text("csv") { $0.csv },
    .text("json") { $0.json },
    .view("pager") { $0.pager },
  ]
}

/// What a check of the log found.
struct ActivityCheckView: View {
  let report: AuditChain.Report
  let texts: Texts

  static let fields: [Field<Self>] = [
    .text("tone") { $0.report.faults.isEmpty ? "accent" : "red" },
    .text("icon") { $0.report.faults.isEmpty ? "check" : "error" },
    .text("heading") { $0.texts($0.report.faults.isEmpty ? "activity.intact" : "activity.broken") },
    .text("entries") { $0.texts("activity.checked", count: $0.report.entries) },
    .list("faults") { view in view.report.faults.map(view.text) },
  ]

  private func text(_ fault: AuditChain.Fault) -> String {
    switch fault {
    case .missing(let first, let last) where first == last: texts("activity.missing_one", ["id": "\(first)"])
    case .missing(let first, let last): texts("activity.missing", ["first": "\(first)", "last": "\(last)"])
    case .changed(let id): texts("activity.changed", ["id": "\(id)"])
    case .deleted(let count, let recorded):
      texts("activity.deleted", ["gone": "\(count)", "recorded": "\(recorded)"])
    }
  }
}

/// The filter form, filled in as submitted.
struct ActivityFilterView: View {
  let search: String
  let from: String
  let to: String
  let actors: [ChoiceView]
  let kinds: [ChoiceView]
  let isActive: Bool

  static let fields: [Field<Self>] = [
    .text("q") { $0.search },
    .text("from") { $0.from },
    .text("to") { $0.to },
    .view("who") { FieldView(choices: $0.actors) },
    .view("kind") { FieldView(choices: $0.kinds) },
    .flag("active") { $0.isActive },
  ]
}

struct ActivityRow: View {
  let entry: AuditEntry
  /// What numbered subjects are called today.
  let titles: [AuditSubject: String]
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("actor") { $0.actor.name($0.texts) },
    .text("initial") { String($0.actor.name($0.texts).prefix(1)).uppercased() },
    .text("did") { $0.did },
    // A full-width colon contains its blank.
    .text("gap") { $0.did.hasSuffix("：") ? "" : " " },
    .text("subject") { $0.title },
    .optional("href") { $0.subject.href },
    .optional("detail") { row in
      row.entry.entry.detail.map { ActivityDetail(json: $0, action: row.entry.entry.action, texts: row.texts).text }
    },
    .text("source") { $0.texts("activity.from.\($0.actor.source.rawValue)") },
    .optional("address") { $0.entry.entry.address },
    .view("at") { MomentView(date: $0.entry.at, now: $0.now) },
  ]

  private var actor: ActivityActor { ActivityActor(entry.entry.actor) }
  private var subject: AuditSubject { AuditSubject(entry.entry.subject) }

  /// What comes after the verb; empty where the verb says all.
  private var title: String {
    if isOwn || subject.noun == "settings" { return "" }
    if subject.noun == "simulator", let provider = ProviderKind(rawValue: subject.name) { return provider.name }
    let title = titles[subject] ?? subject.name
    return title.count > Self.longest ? title.prefix(Self.longest) + "…" : title
  }

  /// Longer titles of pushes are cut: their page has them whole.
  private static let longest = 60

  /// What is done to others as well: its words need the person's name.
  private static let named: Set = [
    "user.end_sessions", "user.link", "user.production", "user.reset_second_step", "user.unlink", "user.update",
  ]

  /// Whether people did it to themselves, such as signing in. The owner of a calendar address is always named.
  private var isOwn: Bool {
    [entry.entry.actor, "user " + entry.entry.actor].contains(entry.entry.subject)
      && !entry.entry.action.hasPrefix("calendar.") && !Self.named.contains(entry.entry.action)
  }

  /// An action that a newer version has written keeps its code.
  private var did: String {
    if isOwn, entry.entry.action == "user.password" { return texts("activity.own_password") }
    // They were signed in already, and had to prove again who they are.
    if isOwn, entry.entry.action == "session.refused" { return texts("activity.own_refused") }
    return texts.known("activity.did.\(entry.entry.action)") ?? entry.entry.action
  }
}

/// An entry's details in a line, as “name: old → new, app: com.example.shop”. Lists of objects are in the export alone.
struct ActivityDetail {
  /// Longer values are cut: the export has them whole.
  private static let longest = 80

  let json: JSONValue
  let action: String
  let texts: Texts

  var text: String {
    guard let members = json.object else { return short(json, of: "") }
    let before = members["before"]?.object
    let after = members["after"]?.object
    var parts: [String] = []
    if before != nil || after != nil {
      for name in Set((before ?? [:]).keys).union((after ?? [:]).keys).sorted() where before?[name] != after?[name] {
        parts.append(labelled(name, "\(short(before?[name], of: name)) → \(short(after?[name], of: name))"))
      }
    }
    // An added value has no `before`, a removed one no `after`.
    let shown = before == nil && after == nil ? [] : ["before", "after"]
    for (name, value) in members.sorted(by: { $0.key < $1.key }) where !shown.contains(name) && !Self.isNested(value) {
      parts.append(labelled(name, short(value, of: name)))
    }
    return texts.clauses(parts)
  }

  /// A name that the language does not have stays as the export writes it. The same name may mean something else for
  /// another kind of subject: `from` is the sender of a mail, and the former value of a device.
  private func labelled(_ name: String, _ value: String) -> String {
    let noun = action.prefix { $0 != "." }
    let label = texts.known("activity.fields.\(noun)_\(name)") ?? texts.known("activity.fields.\(name)")
    return texts.labelled(label ?? name, value)
  }

  private static func isNested(_ value: JSONValue) -> Bool {
    value.object != nil || value.array?.contains { $0.object != nil || $0.array != nil } ?? false
  }

  private func short(_ value: JSONValue?, of name: String) -> String {
    guard let value, value != .null, value.string != "", value.array?.isEmpty != true else { return "–" }
    if let isTrue = value.bool { return texts(isTrue ? "words.yes" : "words.no") }
    let text =
      value.array.map { texts.list($0.map { $0.string.map { word($0, of: name) } ?? $0.text() }) }
      ?? value.string.map { word($0, of: name) } ?? value.text()
    return text.count > Self.longest ? text.prefix(Self.longest) + "…" : text
  }

  /// What the log keeps as a code or an RFC 3339 time, in the reader's words. The rest stays: names, values.
  private func word(_ text: String, of name: String) -> String {
    // As a reason, “production” is the right to send there.
    if name != "reason", let environment = Environment(rawValue: text) { return environment.word(texts) }
    if name == "provider", let provider = ProviderKind(rawValue: text) { return provider.name }
    let keys =
      switch name {
      case "kind": ["certificates.kinds.\(text.replacing(" ", with: "_"))"]
      case "role": ["roles.\(text)"]
      case "apps": ["tokens.reach.\(text)"]
      case "required": ["people.required_of.\(text)"]
      case "state": ["state.\(text)", "people.states.\(text)"]
      case "link", "step", "with": ["activity.values.\(text)"]
      case "reason": ["activity.values.\(text.replacing(" ", with: "_"))"]
      default: [String]()
      }
    return keys.lazy.compactMap(texts.known).first
      ?? (name == "reason" ? texts.recorded(text) : texts.localized(text))
  }
}
