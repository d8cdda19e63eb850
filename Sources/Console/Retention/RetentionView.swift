import Mustache
import Store

/// `/settings/retention`: how long what is kept.
struct RetentionView: PageView {
  static let template = "settings/retention"
  static let section: Section? = .settings

  let periods: [PeriodView]
  var problem: String?
  /// What is too old now, one line a kind.
  let due: [String]
  let last: TrimmedRows?

  static let fields: [Field<Self>] = [
    .list("periods") { $0.periods },
    .optional("problem") { $0.problem },
    .flag("has_due") { !$0.due.isEmpty },
    .list("due") { $0.due },
    .view("last") { $0.last },
  ]
}

/// One of the times that can be set.
struct PeriodView: View {
  let name: String
  let label: String
  let hint: String
  let value: String
  let error: String
  /// Days, if nobody has set it.
  let usual: Int

  static let fields: [Field<Self>] = [
    .text("name") { $0.name },
    .text("label") { $0.label },
    .text("hint") { $0.hint },
    .text("value") { $0.value },
    .text("error") { $0.error },
    .number("count") { $0.usual },
  ]
}

/// The question before a change removes something.
struct RetentionConfirmView: PageView {
  struct Period: View {
    let name: String
    let days: Int

    static let fields: [Field<Self>] = [.text("name") { $0.name }, .written("days") { $1.write($0.days) }]
  }

  static let template = "settings/retention_confirm"
  static let section: Section? = .settings

  let due: [String]
  /// What whoever confirms has seen.
  let confirmed: String
  let periods: [Period]
  let facts: [FactView]

  static let fields: [Field<Self>] = [
    .list("due") { $0.due },
    .text("confirmed") { $0.confirmed },
    .list("periods") { $0.periods },
    .list("facts") { $0.facts },
  ]
}
