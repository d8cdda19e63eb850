import Mustache
import Store

struct RetentionView: PageView {
  static let template = "settings/retention"
  static let section: Section? = .settings

  let periods: [PeriodView]
  var problem: String?
  /// What is due for deletion, one line per kind.
  let due: [String]
  let last: TrimmedRows?
  let revision: String?

  static let fields: [Field<Self>] = [
    .optional("revision") { $0.revision },
    .list("periods") { $0.periods },
    .optional("problem") { $0.problem },
    .flag("has_due") { !$0.due.isEmpty },
    .list("due") { $0.due },
    .view("last") { $0.last },
    .written("events") { $1.write(DeviceEvent.limit) },
  ]
}

struct PeriodView: View {
  let name: String
  let label: String
  let hint: String
  let value: String
  let error: String
  /// The default in days.
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

/// Asks for confirmation before a change deletes data.
struct RetentionConfirmView: PageView {
  struct Period: View {
    let name: String
    let days: Int

    static let fields: [Field<Self>] = [.text("name") { $0.name }, .written("days") { $1.write($0.days) }]
  }

  static let template = "settings/retention_confirm"
  static let section: Section? = .settings

  let due: [String]
  /// The counts that the reader confirms.
  let confirmed: String
  let revision: String?
  let periods: [Period]
  let facts: [FactView]

  static let fields: [Field<Self>] = [
    .list("due") { $0.due },
    .text("confirmed") { $0.confirmed },
    .optional("revision") { $0.revision },
    .list("periods") { $0.periods },
    .list("facts") { $0.facts },
  ]
}
