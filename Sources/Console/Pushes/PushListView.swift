import Mustache

/// `/pushes`: the push history with its filters.
struct PushListView: PageView {
  static let template = "pushes/index"
  static let section: Section? = .pushes

  let heading: String
  let filter: PushFilterView
  /// Devices that the search fits: their pages list every push to them, also those that named them by a tag.
  let devices: [LinkView]
  let pushes: [PushRow]
  /// As “1–50 of 120”; nil: not counted.
  let position: String?
  /// How far back the search went; nil if it reached the end of the history.
  let searchedTo: MomentView?
  let exports: ExportLinks
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .text("heading") { $0.heading },
    .view("filter") { $0.filter },
    .list("devices") { $0.devices },
    .flag("has_devices") { !$0.devices.isEmpty },
    .list("pushes") { $0.pushes },
    .flag("has_pushes") { !$0.pushes.isEmpty },
    .optional("position") { $0.position },
    .view("searched_to") { $0.searchedTo.map(SearchedToView.init) },
    .view("exports") { $0.pushes.isEmpty ? nil : $0.exports },
    .view("pager") { $0.pager },
  ]
}

/// The filter fields with their current values.
struct PushFilterView: View {
  let search: String
  let from: String
  let to: String
  let apps: [ChoiceView]
  let environments: [ChoiceView]
  let states: [ChoiceView]
  let outcomes: [ChoiceView]
  let sources: [ChoiceView]
  let pushTypes: [ChoiceView]
  let isActive: Bool

  static let fields: [Field<Self>] = [
    .text("q") { $0.search },
    .text("from") { $0.from },
    .text("to") { $0.to },
    .view("app") { FieldView(choices: $0.apps) },
    .view("environment") { FieldView(choices: $0.environments) },
    .view("state") { FieldView(choices: $0.states) },
    .view("outcome") { FieldView(choices: $0.outcomes) },
    .view("source") { FieldView(choices: $0.sources) },
    .view("push_type") { FieldView(choices: $0.pushTypes) },
    .flag("active") { $0.isActive },
  ]
}

/// The note that says how far back a search went.
struct SearchedToView: View {
  let date: MomentView

  static let fields: [Field<Self>] = [.written("date") { $1.write(utc: $0.date.date) }]
}
